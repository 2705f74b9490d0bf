"""State of an incremental assignor between rounds (Kafka: ``IncrementalCooperativeAssignor``)."""

from __future__ import annotations

import attrs

__all__ = ["NO_GENERATION", "NO_SETS", "IncrementalHistory", "JobSets", "Waiting"]

JobSets = tuple[frozenset[int], frozenset[int]]

NO_GENERATION = -1
NO_SETS: JobSets = (frozenset(), frozenset())


@attrs.frozen
class Waiting:
    """The wait for lost workers, and the pauses between rounds that revoke surplus.

    Args:
        candidates: Ids of members seen without jobs while jobs were lost, in the order of sight.
        delay: Delay of the last answer, ms.
        deadline: End of the wait on the leader's clock; 0 or less: no wait.
        revoked_in_previous: The previous round revoked surplus.
        successive: Number of rounds in a row that found surplus.
        is_pause: The wait is a pause between revocations, not one for a lost worker.
    """

    candidates: tuple[str, ...] = ()
    delay: int = 0
    deadline: int = 0
    revoked_in_previous: bool = False
    successive: int = 0
    is_pause: bool = False

    def ended(self) -> Waiting:
        return attrs.evolve(self, candidates=(), delay=0, deadline=0, is_pause=False)


@attrs.frozen
class IncrementalHistory:
    """State kept between rounds.

    Args:
        previous: Jobs that were placed after the last round, and those that were lost then.
        members: Ids of the members of the last round; ``None``: unknown.
        static: Jobs that a member listed in the last round.
        destinations: Target of each static job that was revoked to balance static workers: per kind, job to member id.
    """

    previous: JobSets = NO_SETS
    revoked: JobSets = NO_SETS
    generation: int = NO_GENERATION
    members: frozenset[str] | None = frozenset()
    waiting: Waiting = Waiting()
    static: JobSets = NO_SETS
    destinations: tuple[dict[int, str], dict[int, str]] = attrs.field(factory=lambda: ({}, {}))
