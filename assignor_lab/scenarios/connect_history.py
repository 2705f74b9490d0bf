"""Histories of kind ``connect``, as values of the SPI."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import attrs

from assignment_api.connect import NO_GENERATION, NO_JOBS, ConfiguredJobs, ConnectProtocol, Jobs, Rebalance, Worker
from assignor_lab.documents.errors import Place

__all__ = ["MEMBER_IDS_UNKNOWN", "ConnectHistory", "ConnectRound", "RecordedAnswer", "RecordedDecision"]

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
class RecordedAnswer:
    """The real leader's answer, by member id."""

    delay_ms: int
    assigned: Mapping[str, Jobs]
    revoked: Mapping[str, Jobs]


@attrs.frozen(eq=False)
class RecordedDecision:
    """The recording of a round; an unknown answer and generation are ``None``."""

    answer: RecordedAnswer | None
    reason: str
    generation: int | None


@attrs.frozen(eq=False)
class ConnectHistory:
    """A Connect group over several rebalances, with the workers' real jobs in each.

    Args:
        protocol: The members' common protocol.
        max_delay_ms: ``scheduled.rebalance.max.delay.ms`` of every leader.
        recorded: Of the first rounds; empty without a recording.
        place: Of the recording.
    """

    protocol: ConnectProtocol
    max_delay_ms: int
    rounds: tuple[ConnectRound, ...]
    recorded: tuple[RecordedDecision, ...]
    place: Place

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
