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
    """What one worker is told.

    Args:
        assigned: Jobs to start. Under an incremental protocol only what is new, in the order in which the worker will
            report it, before what it keeps; under ``eager`` everything that it is to run.
        revoked: Jobs to stop, now. Empty under ``eager``: a worker has stopped everything before it joined.
    """

    assigned: Jobs = NO_JOBS
    revoked: Jobs = NO_JOBS


def _workers(workers: Mapping[str, WorkerAssignment]) -> Mapping[str, WorkerAssignment]:
    return workers if isinstance(workers, MappingProxyType) else MappingProxyType(dict(workers))


@attrs.frozen
class ConnectAssignment:
    """The answer to one rebalance.

    Args:
        workers: Member id to what it is told; every member of the rebalance, in its order.
        delay_ms: When all members are to join again, counted from the moment in which each receives the answer;
            0 = no such rebalance is planned. A rebalance follows at once where anything is revoked, whatever this says.
        rejoin: The leader is to ask for a further rebalance at once though nothing is revoked (KIP-415's downgrade;
            Kafka's code never does).
        remarks: Sentences for people about what they may not expect, such as jobs that nobody may run.
    """

    workers: Mapping[str, WorkerAssignment] = attrs.field(converter=_workers)
    delay_ms: int = 0
    rejoin: bool = False
    remarks: tuple[str, ...] = ()

    @property
    def has_revocations(self) -> bool:
        """Whether any worker has to stop anything, so that a rebalance follows at once."""
        return any(len(worker.revoked) > 0 for worker in self.workers.values())

    def owned_after(self, rebalance: Rebalance) -> dict[str, Jobs]:
        """Member id to everything that it owns once it has done what it was told (Kafka's ``LeaderState``).

        What is new comes first, then what is kept, which is the order in which a worker reports it, but for the
        grouping by connector on the wire (Kafka: ``ExtendedAssignment``).
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
                *(names_text((*jobs.connectors, *jobs.tasks), len(jobs)) for jobs in (told.assigned, told.revoked)),
            ]
            for worker, told in self.workers.items()
        )
        again = f", and join again after {self.delay_ms} ms" if self.delay_ms else ""
        workers = table(
            f"Answer: what each worker is told{again}", ["worker", "start", "stop"], rows, len(self.workers)
        )
        return f"<div>{workers}{''.join(paragraph(remark) for remark in self.remarks[:5])}</div>"
