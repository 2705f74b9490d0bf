"""Answers of a Connect assignor."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import attrs

from assignment_api.connect.jobs import NO_JOBS, Jobs
from assignment_api.connect.rebalance import Rebalance

__all__ = ["ConnectAssignment", "WorkerAssignment"]


@attrs.frozen
class WorkerAssignment:
    """Assignment of one worker.

    Args:
        assigned: Jobs to start. Incremental: new jobs only, in the order of the worker's report, before kept ones.
            ``eager``: all its jobs.
        revoked: Jobs to stop now. ``eager``: empty, since workers stop all jobs before they join.
    """

    assigned: Jobs = NO_JOBS
    revoked: Jobs = NO_JOBS


def _workers(workers: Mapping[str, WorkerAssignment]) -> Mapping[str, WorkerAssignment]:
    return workers if isinstance(workers, MappingProxyType) else MappingProxyType(dict(workers))


@attrs.frozen
class ConnectAssignment:
    """The answer to one rebalance.

    Args:
        workers: Every member id to its assignment, in the rebalance's order.
        delay_ms: Time until all rejoin, ms from each member's receipt; 0: no such rebalance. After a revocation one
            follows at once, regardless.
        rejoin: The leader requests another rebalance at once without revocations (KIP-415's downgrade; Kafka's code
            never does).
        remarks: Sentences for people, such as jobs that no worker may run.
    """

    workers: Mapping[str, WorkerAssignment] = attrs.field(converter=_workers)
    delay_ms: int = 0
    rejoin: bool = False
    remarks: tuple[str, ...] = ()

    @property
    def has_revocations(self) -> bool:
        """True if a revocation makes a rebalance follow at once."""
        return any(len(worker.revoked) > 0 for worker in self.workers.values())

    def owned_after(self, rebalance: Rebalance) -> dict[str, Jobs]:
        """Member id to all its jobs afterwards (Kafka's ``LeaderState``).

        New jobs first, then kept ones: the order of a worker's report, except for the grouping by connector on the wire
        (Kafka: ``ExtendedAssignment``).
        """
        return {
            worker.member_id: self.workers[worker.member_id].assigned.plus(
                worker.owned.minus(self.workers[worker.member_id].revoked)
            )
            for worker in rebalance.workers
        }

    def _repr_html_(self) -> str:
        from assignment_api.notebook import names_text, paragraph, table

        rows = (
            [
                worker,
                *(
                    names_text((*jobs.connectors, *jobs.tasks), len(jobs))
                    for jobs in (assignment.assigned, assignment.revoked)
                ),
            ]
            for worker, assignment in self.workers.items()
        )
        again = f", and join again after {self.delay_ms} ms" if self.delay_ms else ""
        workers = table(f"Answer: jobs of each worker{again}", ["worker", "start", "stop"], rows, len(self.workers))
        return f"<div>{workers}{''.join(paragraph(remark) for remark in self.remarks[:5])}</div>"
