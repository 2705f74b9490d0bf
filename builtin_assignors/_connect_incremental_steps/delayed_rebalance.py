"""Lost jobs and the delay: whether they wait, and for which members.

Kafka: ``IncrementalCooperativeAssignor.handleLostAssignments``.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence

import attrs

from builtin_assignors._connect_incremental_steps.history import Waiting

__all__ = ["Fate", "Scene", "fate_of_lost"]


class Fate(enum.Enum):
    """Treatment of lost jobs in a round."""

    #: They stay lost for now. Also used without lost jobs.
    WAIT = enum.auto()
    #: They are placed like new ones.
    PLACE = enum.auto()
    #: The wait is over, and the candidates share them.
    DEAL = enum.auto()


@attrs.frozen
class Scene:
    """Members and clock of a round.

    Args:
        nobody_left: Whether all members of the last round are still present.
    """

    now: int
    max_delay: int
    has_lost: bool
    nobody_left: bool
    takers: frozenset[str]
    idle: Callable[[], Sequence[str]]


def fate_of_lost(scene: Scene, waiting: Waiting) -> tuple[Fate, Waiting, list[str]]:
    """Decide on lost jobs and update the wait.

    A pause between revocations uses the same clock, and passes through here without lost jobs.

    Returns:
        Their treatment, the wait from now on, and for ``DEAL`` the ids of the candidates.
    """
    if not scene.has_lost and not waiting.revoked_in_previous:
        return Fate.WAIT, waiting.ended(), []
    if waiting.deadline <= 0 and scene.nobody_left:
        # An assignment did not arrive. Without lost jobs: the round after a revocation.
        return Fate.PLACE, waiting, []
    if scene.max_delay == 0:
        return Fate.PLACE, waiting, []
    if 0 < waiting.deadline <= scene.now:
        candidates = [member for member in waiting.candidates if member in scene.takers]
        over = attrs.evolve(waiting.ended(), revoked_in_previous=False)
        return (Fate.DEAL if candidates else Fate.PLACE), over, candidates
    idle = [member for member in scene.idle() if member not in waiting.candidates]
    left = waiting.deadline - scene.now
    delay = min(left, scene.max_delay) if left > 0 else scene.max_delay
    return (
        Fate.WAIT,
        attrs.evolve(waiting, candidates=(*waiting.candidates, *idle), delay=delay, deadline=scene.now + delay),
        [],
    )
