"""One rebalance from the view of a Connect group's leader."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from assignment_api.connect.errors import InvalidConnectGroupError
from assignment_api.connect.jobs import ConfiguredJobs
from assignment_api.connect.protocol import ConnectProtocol
from assignment_api.connect.workers import Worker

__all__ = ["NO_GENERATION", "Rebalance"]

#: Generation of a worker that has not completed a rebalance yet.
NO_GENERATION = -1


def _tuple(workers: Iterable[Worker]) -> tuple[Worker, ...]:
    return tuple(workers)


@attrs.frozen
class Rebalance:
    """Immutable input of an assignor: the leader's knowledge in one rebalance.

    The leader has read the config topic at least as far as every member. Otherwise the rebalance ends with a config
    mismatch and never reaches an assignor (Kafka: ``WorkerCoordinator``).

    Args:
        configured: All jobs of the group.
        workers: All members, the leader included, in the leader's order. The order affects the answer where Java's hash
            order does not decide.
        protocol: The negotiated protocol.
        time_ms: The leader's clock, epoch milliseconds. An assignor never reads a clock of its own.
        generation: Number of the generation that is being formed.
        last_completed_generation: Number of the last generation whose assignment the *leading worker* received and
            applied; ``NO_GENERATION`` if there was none. If it differs from the last generation of this assignor,
            another worker has led since, or that assignment did not arrive.
        previous_protocol: Protocol of the last generation, or ``None``: unknown, or there was none.

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
        """A table for notebooks: a row for each worker, in order, with its jobs."""
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
