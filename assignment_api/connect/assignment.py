"""Answers of an assignor of a Connect group."""

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
        assigned: Jobs to start. Under an incremental protocol only new jobs, in the order in which the worker will
            report them, before the kept ones. Under ``eager`` all jobs of the worker.
        revoked: Jobs to stop now. Empty under ``eager``: a worker has stopped all jobs before it joined.
    """

    assigned: Jobs = NO_JOBS
    revoked: Jobs = NO_JOBS


def _workers(workers: Mapping[str, WorkerAssignment]) -> Mapping[str, WorkerAssignment]:
    return workers if isinstance(workers, MappingProxyType) else MappingProxyType(dict(workers))


@attrs.frozen
class ConnectAssignment:
    """The answer to one rebalance.

    Args:
        workers: Member id to its assignment; every member of the rebalance, in its order.
        delay_ms: Time until all members rejoin, in ms from each member's receipt of the answer; 0: no such rebalance is
            planned. If any job is revoked, a rebalance follows at once, regardless of this value.
        rejoin: The leader must request another rebalance at once although no job is revoked (KIP-415's downgrade;
            Kafka's code never does).
        remarks: Sentences for people about surprising results, such as jobs that no worker may run.
    """

    workers: Mapping[str, WorkerAssignment] = attrs.field(converter=_workers)
    delay_ms: int = 0
    rejoin: bool = False
    remarks: tuple[str, ...] = ()

    @property
    def has_revocations(self) -> bool:
        """True if any worker must stop a job, so that a rebalance follows at once."""
        return any(len(worker.revoked) > 0 for worker in self.workers.values())

    def owned_after(self, rebalance: Rebalance) -> dict[str, Jobs]:
        """Member id to all its jobs after it has carried out its assignment (Kafka's ``LeaderState``).

        New jobs come first, then kept ones. A worker reports them in this order, except for the grouping by connector
        on the wire (Kafka: ``ExtendedAssignment``).
        """
        return {
            worker.member_id: self.workers[worker.member_id].assigned.plus(
                worker.owned.minus(self.workers[worker.member_id].revoked)
            )
            for worker in rebalance.workers
        }

    def _repr_html_(self) -> str:
        """A table for notebooks: a row for each worker, in order."""
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
