"""What a scenario of kind ``connect`` holds, as values of the SPI."""

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
        spoken = protocol or self.protocol
        completed = NO_GENERATION
        for generation, each in enumerate(self.rounds):
            # Everything was synced, unless the round says that the one before was not.
            if not each.generation_gap and generation > 0:
                completed = generation - 1
            yield (
                each,
                Rebalance(
                    configured=each.configured,
                    workers=_without_reports(each.workers) if spoken is ConnectProtocol.EAGER else each.workers,
                    protocol=spoken,
                    time_ms=each.time_ms,
                    generation=generation,
                    last_completed_generation=completed,
                    previous_protocol=spoken if generation > 0 else None,
                ),
            )


def _without_reports(workers: tuple[Worker, ...]) -> tuple[Worker, ...]:
    return tuple(attrs.evolve(worker, owned=NO_JOBS) for worker in workers)
