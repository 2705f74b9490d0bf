"""Calls of assignors for Connect: made, timed, checked. Nothing that a plugin does gets out as an exception."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from assignment_api.connect import (
    ConnectAssignment,
    ConnectAssignor,
    ConnectorTaskId,
    Jobs,
    Rebalance,
    WorkerAssignment,
)
from assignment_api.plugins import FoundConnectAssignor
from assignor_lab.runtime.invocation import (
    TRUSTED_DISTRIBUTION,
    CallOutcome,
    InvalidAnswerError,
    check_value,
    outcome_of,
    prints_to_stderr,
)

__all__ = ["ConnectOutcome", "LeadingAssignor", "checked_connect_answer"]

#: What came of one round.
ConnectOutcome = CallOutcome[ConnectAssignment]


class LeadingAssignor:
    """The assignor of one worker, made at its first rebalance, for as long as that worker leads or may lead again.

    Args:
        found: Entry of a registry.
        configs: Effective configuration of the worker.
    """

    def __init__(self, found: FoundConnectAssignor, configs: Mapping[str, Any]) -> None:
        self._found = found
        self._configs = configs
        self._watched = found.distribution != TRUSTED_DISTRIBUTION
        self._instance: ConnectAssignor | None = None

    def assign(self, rebalance: Rebalance) -> ConnectOutcome:
        """Lets the assignor place the jobs of a group.

        Returns:
            The outcome. Whatever the plugin raises, ``SystemExit`` included, is in it; only ``KeyboardInterrupt``
            passes.
        """

        def made() -> Callable[[], object]:
            return partial(self._created().assign, rebalance)

        def checked(answer: object) -> ConnectAssignment:
            return checked_connect_answer(self._found.name, answer, rebalance, is_trusted=not self._watched)

        return outcome_of(self._found, rebalance, made, checked)

    def copied(self) -> LeadingAssignor:
        """Another one with the same past, to see what would follow. What copying the plugin's object raises passes."""
        other = LeadingAssignor(self._found, self._configs)
        with prints_to_stderr():
            other._instance = copy.deepcopy(self._instance)
        return other

    def _created(self) -> ConnectAssignor:
        if self._instance is None:
            made = self._found.create()
            made.configure(self._configs)
            self._instance = made
        return self._instance


def checked_connect_answer(
    name: str, answer: object, rebalance: Rebalance, *, is_trusted: bool = False
) -> ConnectAssignment:
    """``answer`` once it has the types that the SPI says, and nobody gets what another one has or gets.

    Args:
        name: Who answered.
        answer: What came.
        rebalance: What was asked.
        is_trusted: Types are not looked at.

    Raises:
        InvalidAnswerError: naming the first fault.
    """
    if not isinstance(answer, ConnectAssignment):
        raise InvalidAnswerError(f"assignor {name} returned {type(answer).__name__}, expected ConnectAssignment")
    if not is_trusted:
        _check_types(name, answer)
    members = {worker.member_id for worker in rebalance.workers}
    unknown = next((member for member in answer.workers if member not in members), None)
    if unknown is not None:
        raise InvalidAnswerError(f"assignor {name}: there is no member {unknown!r:.80} in the group")
    if type(answer.delay_ms) is not int or answer.delay_ms < 0:
        raise InvalidAnswerError(f"assignor {name}: delay_ms is {answer.delay_ms!r:.80}, expected 0 or more")
    _check_jobs(name, answer, rebalance, lambda jobs: jobs.connectors, "connector instance")
    _check_jobs(name, answer, rebalance, lambda jobs: jobs.tasks, "task")
    return answer


def _check_jobs(
    name: str,
    answer: ConnectAssignment,
    rebalance: Rebalance,
    jobs_of: Callable[[Jobs], tuple[Any, ...]],
    noun: str,
) -> None:
    """Every job that is assigned is configured, is nobody's, and goes to one member."""
    # Under eager everything stops before the round, whatever a worker reports.
    stopped = not rebalance.protocol.is_incremental
    taken = set() if stopped else {job for worker in rebalance.workers for job in jobs_of(worker.owned)}
    for member, told in answer.workers.items():
        for job in jobs_of(told.assigned):
            if job not in rebalance.configured:
                raise InvalidAnswerError(
                    f"assignor {name}: {noun} {str(job)!r:.80} of {member!r:.80} is not configured"
                )
            if job in taken:
                raise InvalidAnswerError(
                    f"assignor {name}: {noun} {str(job)!r:.80} is given to {member!r:.80}, and another worker, or that "
                    "one itself, has it"
                )
            taken.add(job)


def _check_types(name: str, answer: ConnectAssignment) -> None:
    check_value(name, "workers", answer.workers, Mapping[str, WorkerAssignment])
    check_value(name, "remarks", answer.remarks, tuple[str, ...])
    for member, told in answer.workers.items():
        for field in ("assigned", "revoked"):
            jobs = getattr(told, field)
            place = f"workers[{member!r:.80}].{field}"
            check_value(name, place, jobs, Jobs)
            check_value(name, f"{place}.connectors", jobs.connectors, tuple[str, ...])
            check_value(name, f"{place}.tasks", jobs.tasks, tuple[ConnectorTaskId, ...])
