"""The memory of an incremental assignor from round to round (Kafka: ``IncrementalCooperativeAssignor``)."""

from __future__ import annotations

import attrs

__all__ = ["NO_GENERATION", "NO_SETS", "History", "JobSets", "Waiting"]

#: Connectors and tasks, as numbers.
JobSets = tuple[frozenset[int], frozenset[int]]

NO_GENERATION = -1
NO_SETS: JobSets = (frozenset(), frozenset())


@attrs.frozen
class Waiting:
    """The wait for lost workers, and the pauses between rounds that revoke to even out loads.

    Args:
        candidates: Ids of members that were seen without any job while jobs were lost, in the order of sight.
        delay: What was sent last, ms.
        deadline: Leader's clock at which the wait ends; 0 or less: there is none.
        revoked_in_previous: The round before revoked to even out loads.
        successive: Number of rounds in a row that wanted to.
        is_pause: The wait is a pause between revocations, not one for a lost worker.
    """

    candidates: tuple[str, ...] = ()
    delay: int = 0
    deadline: int = 0
    revoked_in_previous: bool = False
    successive: int = 0
    is_pause: bool = False

    def ended(self) -> Waiting:
        """Nothing is waited for any more."""
        return attrs.evolve(self, candidates=(), delay=0, deadline=0, is_pause=False)


@attrs.frozen
class History:
    """Everything that is kept between rounds.

    Args:
        previous: Jobs that were placed after the last round, and those that were lost then.
        revoked: Jobs that the last round revoked.
        generation: Generation of the last round.
        members: Ids of the members of the last round; ``None``: unknown.
        waiting: See there.
        static: Jobs that a member listed in the last round.
        destinations: Where static jobs that were revoked to even out static workers are to go: per kind, job to
            member id.
    """

    previous: JobSets = NO_SETS
    revoked: JobSets = NO_SETS
    generation: int = NO_GENERATION
    members: frozenset[str] | None = frozenset()
    waiting: Waiting = Waiting()
    static: JobSets = NO_SETS
    destinations: tuple[dict[int, str], dict[int, str]] = attrs.field(factory=lambda: ({}, {}))
