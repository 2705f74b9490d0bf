"""Assignors for Connect with bad behaviour, and a correct one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assignment_api.connect import (
    ConnectAssignment,
    ConnectAssignor,
    ConnectConfigError,
    ConnectorTaskId,
    Jobs,
    Rebalance,
    WorkerAssignment,
)
from assignment_api.plugins import ConnectAssignorPlugin


class AllToTheFirst(ConnectAssignor):
    def __init__(self) -> None:
        self._rounds = 0

    def configure(self, configs: Mapping[str, Any]) -> None:
        if configs["scheduled.rebalance.max.delay.ms"] == 13:
            raise ConnectConfigError("13 brings bad luck")

    def assign(self, rebalance: Rebalance) -> ConnectAssignment:
        self._rounds += 1
        jobs = rebalance.configured.jobs()
        for worker in rebalance.workers:
            jobs = jobs.minus(worker.owned)
        first = rebalance.workers[0].member_id
        return ConnectAssignment({first: WorkerAssignment(jobs)}, delay_ms=self._rounds)


class Answering(ConnectAssignor):
    """Returns its constructor's argument."""

    def __init__(self, answer: Any) -> None:
        self._answer = answer

    def assign(self, rebalance: Rebalance) -> ConnectAssignment:
        if isinstance(self._answer, BaseException):
            raise self._answer
        return self._answer  # type: ignore[no-any-return]


def gives(member: str, jobs: Any) -> ConnectAssignor:
    return Answering(ConnectAssignment({member: WorkerAssignment(jobs)}))


FIRST = ConnectAssignorPlugin("first", AllToTheFirst)


def no_assignor() -> Any:
    return "nothing"


def exits() -> ConnectAssignor:
    return Answering(SystemExit(3))


def returns_text() -> ConnectAssignor:
    return Answering("w1")


def unknown_member() -> ConnectAssignor:
    return gives("w9", Jobs())


def unknown_job() -> ConnectAssignor:
    return gives("w1", Jobs(["gone"]))


def owned_job() -> ConnectAssignor:
    return gives("w1", Jobs((), [ConnectorTaskId("files", 1)]))


def wrong_item() -> ConnectAssignor:
    return gives("w1", Jobs((), ["files-0"]))  # type: ignore[list-item]


def negative_delay() -> ConnectAssignor:
    return Answering(ConnectAssignment({}, delay_ms=-1))
