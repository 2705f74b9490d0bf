"""Histories of kind ``connect``, as values of the SPI."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from assignment_api.connect import NO_GENERATION, NO_JOBS, ConfiguredJobs, ConnectProtocol, Rebalance, Worker

__all__ = ["MEMBER_IDS_UNKNOWN", "ConnectHistory", "ConnectRound"]

#: Assumption of a history whose workers have other names than member ids.
MEMBER_IDS_UNKNOWN = (
    "member ids are not in the logs: workers have the names of their logs, and Kafka's assignors break ties by member "
    "id"
)


@attrs.frozen(eq=False)
class ConnectRound:
    """One rebalance of a history.

    Args:
        workers: The members, in the order of the document.
        new_leader: Another worker leads; its assignor has no state of earlier rounds.
        generation_gap: The leader never completed the round before.
    """

    time_ms: int
    configured: ConfiguredJobs
    workers: tuple[Worker, ...]
    new_leader: bool = False
    generation_gap: bool = False


@attrs.frozen(eq=False)
class ConnectHistory:
    """A Connect group over several rebalances, with the workers' real jobs in each.

    Args:
        protocol: The members' common protocol.
        max_delay_ms: ``scheduled.rebalance.max.delay.ms`` of every leader.
    """

    protocol: ConnectProtocol
    max_delay_ms: int
    rounds: tuple[ConnectRound, ...]

    def rebalances(self, protocol: ConnectProtocol | None = None) -> Iterator[tuple[ConnectRound, Rebalance]]:
        for generation, each in enumerate(self.rounds):
            yield each, self.rebalance(generation, protocol)

    def rebalance(self, generation: int, protocol: ConnectProtocol | None = None) -> Rebalance:
        spoken, each = protocol or self.protocol, self.rounds[generation]
        # Every round was synced, unless the next one records that it was not.
        completed = generation - 1
        while completed >= 0 and self.rounds[completed + 1].generation_gap:
            completed -= 1
        return Rebalance(
            configured=each.configured,
            workers=_without_reports(each.workers) if spoken is ConnectProtocol.EAGER else each.workers,
            protocol=spoken,
            time_ms=each.time_ms,
            generation=generation,
            last_completed_generation=completed if completed >= 0 else NO_GENERATION,
            previous_protocol=spoken if generation > 0 else None,
        )


def _without_reports(workers: tuple[Worker, ...]) -> tuple[Worker, ...]:
    return tuple(attrs.evolve(worker, owned=NO_JOBS) for worker in workers)
