"""A rebalance from the view of a Connect group's leader."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from assignment_api.connect.errors import InvalidConnectGroupError
from assignment_api.connect.jobs import ConfiguredJobs
from assignment_api.connect.protocol import ConnectProtocol
from assignment_api.connect.workers import Worker

__all__ = ["NO_GENERATION", "Rebalance"]

#: Of a worker before its first complete rebalance.
NO_GENERATION = -1


def _tuple(workers: Iterable[Worker]) -> tuple[Worker, ...]:
    return tuple(workers)


@attrs.frozen
class Rebalance:
    """Immutable input of an assignor.

    The leader has read the config topic at least as far as every member; otherwise the rebalance ends with a config
    mismatch (Kafka: ``WorkerCoordinator``).

    Args:
        workers: All members, in the leader's order, which decides where Java's hash order does not.
        protocol: As negotiated.
        time_ms: The leader's clock, epoch milliseconds.
        generation: The one being formed.
        last_completed_generation: The last one whose assignment the *leading worker* applied, or ``NO_GENERATION``. If
            it is not this assignor's last one, another worker has led since, or that assignment was lost.
        previous_protocol: Of the last generation; ``None``: unknown or none.

    Raises:
        InvalidConnectGroupError: if there is no worker, two have one id, or the clock is negative.
    """

    configured: ConfiguredJobs
    workers: tuple[Worker, ...] = attrs.field(converter=_tuple)
    protocol: ConnectProtocol = ConnectProtocol.SESSIONED
    time_ms: int = 0
    generation: int = 0
    last_completed_generation: int = NO_GENERATION
    previous_protocol: ConnectProtocol | None = None

    def __attrs_post_init__(self) -> None:
        if not self.workers:
            raise InvalidConnectGroupError("a rebalance has no worker: the leader itself is always a member")
        if self.time_ms < 0:
            raise InvalidConnectGroupError(f"the clock shows {self.time_ms} ms: give epoch milliseconds")
        seen: set[str] = set()
        for worker in self.workers:
            if worker.member_id in seen:
                raise InvalidConnectGroupError(f"member id {worker.member_id!r:.120} occurs twice in one rebalance")
            seen.add(worker.member_id)

    def _repr_html_(self) -> str:
        from assignment_api.notebook import names_text, table

        rows = (
            [
                worker.member_id,
                len(worker.owned),
                names_text((*worker.owned.connectors, *worker.owned.tasks), len(worker.owned)),
                "yes" if worker.static.is_set else "no",
            ]
            for worker in self.workers
        )
        caption = f"Rebalance of generation {self.generation}: {len(self.configured)} jobs"
        return f"<div>{table(caption, ['worker', 'runs', 'jobs', 'static'], rows, len(self.workers))}</div>"
