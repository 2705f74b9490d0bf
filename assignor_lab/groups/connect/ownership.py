"""Holding of Connect groups: the worker of each job, which is a connector instance or a task."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from assignment_api.connect import ConnectAssignment, ConnectorTaskId, Jobs, WorkerAssignment
from assignor_lab.groups.connect.rounds import RebalanceAnswer, RoundState, decided_by
from assignor_lab.groups.ownership.ownership import ACTIVE, Ownership, PossibleOwner, held
from assignor_lab.scenarios import Scenario

__all__ = ["HOLDING"]


_UUID = re.compile(r"-[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")


class _Ownership:
    noun = "job"
    default_assignor = "connect_incremental"

    def clients(self, state: RoundState) -> tuple[PossibleOwner, ...]:
        # Kafka's member ids are the worker's client id, followed by a UUID; people know the worker by its client id.
        return tuple(
            PossibleOwner(worker.member_id, host=_UUID.sub("", worker.member_id) or worker.member_id)
            for worker in state.round.workers
        )

    def tasks(self, state: RoundState) -> tuple[str, ...]:
        configured = state.round.configured
        return (*configured.connectors(), *map(str, configured.tasks()))

    def before(self, state: RoundState) -> Ownership:
        known = frozenset(self.tasks(state))
        owned = ((worker.member_id, worker.owned) for worker in state.round.workers)
        return held(entry for entry in _entries(owned) if entry[2] in known)

    def after(self, state: RoundState, answer: RebalanceAnswer) -> Ownership:
        return held(_entries(answer.decision.after.items()))

    def answer(
        self, scenario: Scenario, number: int, state: RoundState, line: Mapping[str, Any]
    ) -> RebalanceAnswer | None:
        round_ = line["rounds"][number]
        if round_ is None:
            return None
        assignment = ConnectAssignment(
            {
                worker.member_id: WorkerAssignment(
                    _jobs(round_["assigned"].get(worker.member_id)), _jobs(round_["revoked"].get(worker.member_id))
                )
                for worker in state.round.workers
            },
            round_["delay_ms"],
        )
        return decided_by(state, state.history.protocol, assignment)


def _entries(held_by: Iterable[tuple[str, Jobs]]) -> Iterable[tuple[str, str, str]]:
    return ((member, ACTIVE, str(job)) for member, jobs in held_by for job in (*jobs.connectors, *jobs.tasks))


def _jobs(document: Mapping[str, Any] | None) -> Jobs:
    if document is None:
        return Jobs()
    return Jobs(document["connectors"], [ConnectorTaskId.parse(task) for task in document["tasks"]])


HOLDING = _Ownership()
