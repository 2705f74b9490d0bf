"""The rules of the sticky assignors of applications in sentences, as they place each task."""

from __future__ import annotations

from collections.abc import Sequence

from builtin_assignors._steps_taken import StepsTaken
from builtin_assignors._sticky_steps.choosing import choose_previous
from builtin_assignors._sticky_steps.placement import Placement
from builtin_assignors._sticky_steps.previous import PreviousOwners

__all__ = ["StickySteps"]


class StickySteps:
    """The steps of one decision.

    Args:
        taken: Takes them.
    """

    def __init__(self, taken: StepsTaken) -> None:
        self.taken = taken
        self._went_back: list[bool] = []

    def kept(self, previous: PreviousOwners, placement: Placement, quotas: Sequence[int] | None) -> None:
        """Tasks stayed with the clients that ran them, as far as these had room."""
        for task, owner in previous.active.items():
            if task >= len(placement.owner):
                continue
            if placement.owner[task] == owner:
                reason = (
                    "whatever else it has"
                    if quotas is None
                    else f"within its share of {quotas[owner]} (an even share for each thread, rounded down)"
                )
                self.taken.add("st-keep", task, f"{{0}} ran it, and keeps it, {reason}", owner)
            elif quotas is not None and self._is_placed_later(task, placement):
                text = f"{{0}} ran it, but has its share of {quotas[owner]} already (an even share, rounded down)"
                self.taken.add("st-full", task, text, owner)
        self._settle(placement)

    def promoted(self, placement: Placement) -> None:
        """Tasks went to clients that had a copy."""
        self.taken.placed("st-promote", placement.actives, "{0} had a copy of it, and room in its share")

    def choosing(self, owner: int | None, standbys: Sequence[int], placement: Placement, unpaired: int) -> int | None:
        """As :func:`~builtin_assignors._sticky_steps.choosing.choose_previous`, and remembers whether there was one."""
        chosen = choose_previous(owner, standbys, placement, unpaired)
        self._went_back.append(chosen is not None)
        return chosen

    def placed_rest(self, placement: Placement, asked: Sequence[int]) -> None:
        """The rest went back to who had it, or to the least loaded.

        Args:
            placement: Who has what now.
            asked: The tasks for which :meth:`choosing` was asked, in this order.
        """
        returned = {task for task, went_back in zip(asked, self._went_back, strict=True) if went_back}
        for task, owner in enumerate(placement.owner):
            if owner < 0 or task in self.taken.owned:
                continue
            if task in returned:
                text = "it goes back to {0}, which ran it or had a copy, and is not overloaded"
                self.taken.add("st-return", task, text, owner)
            else:
                pairs = "where possible one that brings it together with tasks it was not together with"
                self.taken.add("st-fill", task, f"it goes to {{0}}, the least loaded client, {pairs}", owner)
        self._settle(placement)

    def moved_by_racks(self, placement: Placement) -> None:
        """The rack-aware optimisation moved actives."""
        text = "rack-aware assignment takes it from {0} to {1}"
        self.taken.placed("st-racks", placement.actives, text, text)

    def got_standbys(self, placement: Placement) -> None:
        """Standbys were placed."""
        text = "a standby goes to {0}: of the clients without it one that had it and has room, or the least loaded"
        self.taken.copied("st-standby", placement.standbys, text)

    def standbys_moved_by_racks(self, placement: Placement) -> None:
        """The rack-aware optimisation moved standbys."""
        text = "rack-aware assignment takes a standby from {0} to {1}"
        self.taken.copied("st-standby-racks", placement.standbys, "rack-aware assignment gives {0} a standby", text)

    def _is_placed_later(self, task: int, placement: Placement) -> bool:
        return task in self.taken.existing and placement.owner[task] < 0

    def _settle(self, placement: Placement) -> None:
        self.taken.settled(placement.actives, placement.standbys)
