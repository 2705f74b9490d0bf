"""``connect_eager``: Kafka's ``EagerAssignor`` behind the SPI."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain, repeat
from typing import Any

from assignment_api.connect import (
    ConfiguredJobs,
    ConnectAssignment,
    ConnectAssignor,
    ConnectConfigError,
    ConnectorTaskId,
    ConnectProtocol,
    Jobs,
    Rebalance,
    UnsupportedConnectProtocolError,
    WorkerAssignment,
)
from assignment_api.streams.ids import utf16_key
from assignment_api.tracing import RuleStep, Traced
from builtin_assignors._rule_texts import RULE_TEXTS
from builtin_assignors.connect_eager.algorithm import deal

__all__ = ["EagerAssignor"]

_DOWNGRADE = "assignor.connect_eager.downgrade"


class EagerAssignor(ConnectAssignor):
    """Kafka's ``EagerAssignor`` of 4.3.1, with identical answers.

    Connectors in the order of their names, then tasks, are dealt in turn to the members in the order of their ids. The
    round robin does not restart between the two. The assignor keeps no state. Jobs stay on their workers only by
    coincidence: a member that returns under a new id moves the jobs of all members.

    Each worker receives all of its jobs, and nothing is revoked: under ``eager`` a worker stops all jobs before it
    joins, and reports none.

    Settings:
        ``assignor.connect_eager.downgrade``: ``kafka`` (default) or ``kip415``. With ``kip415`` the first eager round
        after an incremental one returns empty assignments and requests another rebalance, so that workers stop their
        jobs. KIP-415 requires this, and Kafka's code does not do it (KAFKA-13816).
    """

    def __init__(self) -> None:
        self._empties_after_downgrade = False
        #: Ids of the tasks of each connector of the last round: most of them recur in the next one.
        self._known: dict[str, tuple[ConnectorTaskId, ...]] = {}

    def configure(self, configs: Mapping[str, Any]) -> None:
        """Read the settings.

        Raises:
            ConnectConfigError: if a value is none of those above.
        """
        value = configs.get(_DOWNGRADE, "kafka")
        if value not in ("kafka", "kip415"):
            raise ConnectConfigError(
                f"Invalid value {value!s:.80} for configuration {_DOWNGRADE}: String must be one of: kafka, kip415"
            )
        self._empties_after_downgrade = value == "kip415"

    def assign(self, rebalance: Rebalance) -> ConnectAssignment:
        """Deal every job; workers come in the order of the rebalance, their jobs in the order of dealing.

        Raises:
            UnsupportedConnectProtocolError: under an incremental protocol, in which workers keep their jobs.
        """
        if rebalance.protocol.is_incremental:
            raise UnsupportedConnectProtocolError(
                f"connect_eager cannot lead a group that speaks {rebalance.protocol.value}, where workers keep what "
                "they run: use connect_incremental, or protocol eager"
            )
        if self._empties_after_downgrade and _is_downgrade(rebalance):
            return ConnectAssignment(
                {worker.member_id: WorkerAssignment() for worker in rebalance.workers},
                rejoin=True,
                remarks=("the group went back to protocol eager: everything stops, and the next rebalance assigns",),
            )
        ids = sorted((worker.member_id for worker in rebalance.workers), key=utf16_key)
        connectors = rebalance.configured.connectors()
        tasks = self._tasks(connectors, rebalance.configured)
        shares = dict(zip(ids, deal(len(connectors), len(tasks), len(ids)), strict=True))
        return ConnectAssignment(
            {
                worker.member_id: WorkerAssignment(_jobs(connectors, tasks, *shares[worker.member_id]))
                for worker in rebalance.workers
            }
        )

    def traced(self, rebalance: Rebalance) -> Traced[ConnectAssignment]:
        answer = self.assign(rebalance)
        text = (
            f"connectors, then tasks, are dealt in turn to the {len(rebalance.workers)} workers in the order of their "
            "ids, regardless of previous owners: it falls to {0}"
        )
        return Traced(
            answer,
            [
                RuleStep("ce-deal", str(job), text, (member,))
                for member, assignment in answer.workers.items()
                for job in (*assignment.assigned.connectors, *assignment.assigned.tasks)
            ],
            RULE_TEXTS,
        )

    def _tasks(self, connectors: tuple[str, ...], configured: ConfiguredJobs) -> tuple[ConnectorTaskId, ...]:
        known = self._known
        self._known = {}
        for name in connectors:
            count = configured.task_counts[name]
            ids = known.get(name, ())
            self._known[name] = ids if len(ids) == count else tuple(map(ConnectorTaskId, repeat(name), range(count)))
        return tuple(chain.from_iterable(self._known.values()))


def _is_downgrade(rebalance: Rebalance) -> bool:
    before = rebalance.previous_protocol
    return rebalance.protocol is ConnectProtocol.EAGER and before is not None and before.is_incremental


def _jobs(
    connectors: tuple[str, ...], tasks: tuple[ConnectorTaskId, ...], own_connectors: range, own_tasks: range
) -> Jobs:
    return Jobs([connectors[number] for number in own_connectors], [tasks[number] for number in own_tasks])
