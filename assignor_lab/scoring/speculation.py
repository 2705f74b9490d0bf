"""Speculation on exclusion: who is left out of an item before anybody can know whether the run has excluded somebody.

Whoever scores a heap of items knows what was lost in the items that the driver has seen, and in its own. Where that
does not decide about an item it guesses, and says so beside the item's rows; the driver takes those rows only if the
guess was right (:mod:`assignor_lab.scoring.settling`). So a wrong guess costs time, and shows in no result.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from assignor_lab.groups.work import WorkItem
from assignor_lab.scoring.losses import MAX_POINTS, Losses

__all__ = ["MARK", "Speculation", "Speculator"]

#: Column beside the rows: who was left out of the item, where that is not what was sent.
MARK = "left_out"
#: How much more the own losses of a heap weigh than the share that it is of all: waiting for one that hangs costs a
#: deadline, working on an item once more costs milliseconds.
_CAUTION = 2


@attrs.frozen
class Speculation:
    """What whoever scores a heap needs to guess; it travels.

    Args:
        losses: Who can lose anything, and how that shows.
        seen: All items before this one have been seen by the driver.
        points: Who had lost how much in them.
        heaps: Heaps that are worked on side by side.
    """

    losses: Losses
    seen: int
    points: Mapping[str, int]
    heaps: int


class Speculator:
    """Guesses for the items of one heap, in ascending order of their numbers.

    Args:
        speculation: What is known of the items elsewhere.
    """

    def __init__(self, speculation: Speculation) -> None:
        self._known = speculation
        self._own: dict[str, int] = {}

    def marked(self, item: WorkItem) -> WorkItem:
        """The item with those who are left out of it: as it was sent, if the driver knew enough; else a guess."""
        if item.settled_before <= self._known.seen:
            return item
        guessed = tuple(name for name in self._own if name not in item.excluded and self._is_likely_lost(name))
        if not guessed:
            return item
        names = {*item.excluded, *guessed}
        return attrs.evolve(item, excluded=tuple(name for name in self._known.losses.names if name in names))

    def note(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Takes notice of the rows of an item."""
        for (_, name), weight in self._known.losses.weights(rows).items():
            self._own[name] = self._own.get(name, 0) + weight

    def _is_likely_lost(self, name: str) -> bool:
        expected = self._known.points.get(name, 0) + self._own[name] * self._known.heaps * _CAUTION
        return expected >= MAX_POINTS
