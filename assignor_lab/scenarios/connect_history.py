"""Histories of kind ``connect``, as values of the SPI."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from assignment_api.connect import NO_GENERATION, NO_JOBS, ConfiguredJobs, ConnectProtocol, Rebalance, Worker

__all__ = ["ConnectHistory", "ConnectRound"]


@attrs.frozen(eq=False)
class ConnectRound:
    """One rebalance of a history.

    Args:
        time_ms: Leader's clock, epoch milliseconds.
        configured: All jobs of the group.
        workers: The members, in the order of the document.
        new_leader: Another worker leads, whose assignor knows nothing of the rounds before.
        generation_gap: The leader never completed the round before.
    """

    time_ms: int
    configured: ConfiguredJobs
    workers: tuple[Worker, ...]
    new_leader: bool = False
    generation_gap: bool = False


@attrs.frozen(eq=False)
class ConnectHistory:
    """A Connect group over several rebalances, with what its workers really owned in each.

    Args:
        protocol: What the members agreed on.
        max_delay_ms: ``scheduled.rebalance.max.delay.ms`` of every leader.
        rounds: The rebalances; the number of a round is its generation.
    """

    protocol: ConnectProtocol
    max_delay_ms: int
    rounds: tuple[ConnectRound, ...]

    def rebalances(self, protocol: ConnectProtocol | None = None) -> Iterator[tuple[ConnectRound, Rebalance]]:
        """Each round, and what its leader knows.

        Args:
            protocol: In place of the history's own. Under ``eager`` nobody reports what it owns, whatever the history
                says.
        """
        for generation, each in enumerate(self.rounds):
            yield each, self.rebalance(generation, protocol)

    def rebalance(self, generation: int, protocol: ConnectProtocol | None = None) -> Rebalance:
        """What the leader knows in one round.

        Args:
            generation: The round, from 0.
            protocol: As for ``rebalances``.
        """
        spoken, each = protocol or self.protocol, self.rounds[generation]
        # Everything was synced, unless a round says that the one before it was not.
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
