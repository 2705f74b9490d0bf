"""Trace of the sticky assignors of applications: the rule that places each task, as a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from builtin_assignors._steps_taken import StepsTaken
from builtin_assignors._sticky_steps.choosing import choose_previous
from builtin_assignors._sticky_steps.placement import StickyPlacement
from builtin_assignors._sticky_steps.previous import PreviousOwners

__all__ = ["StickySteps"]


class StickySteps:
    """The steps of one decision."""

    def __init__(self, taken: StepsTaken) -> None:
        self.taken = taken
        self._went_back: list[bool] = []

    def kept(
        self,
        previous: PreviousOwners,
        placement: StickyPlacement,
        quotas: Sequence[int] | None,
        share: str = "an even share for each thread, rounded down",
    ) -> None:
        """Record who kept a task; ``share`` is the rule of the quotas in words."""
        for task, owner in previous.active.items():
            if task >= len(placement.owner):
                continue
            if placement.owner[task] == owner:
                reason = (
                    "regardless of its load" if quotas is None else f"within its share of {quotas[owner]} ({share})"
                )
                self.taken.add("st-keep", task, f"{{0}} ran it, and keeps it, {reason}", owner)
            elif quotas is not None and self._is_placed_later(task, placement):
                text = f"{{0}} ran it, but has its share of {quotas[owner]} already ({share})"
                self.taken.add("st-full", task, text, owner)
        self._settle(placement)

    def promoted(self, placement: StickyPlacement) -> None:
        self.taken.placed("st-promote", placement.actives, "{0} had a copy of it, and room in its share")

    def choosing(
        self, owner: int | None, standbys: Sequence[int], placement: StickyPlacement, unpaired: int
    ) -> int | None:
        """As :func:`~builtin_assignors._sticky_steps.choosing.choose_previous`; records whether it found a client."""
        chosen = choose_previous(owner, standbys, placement, unpaired)
        self._went_back.append(chosen is not None)
        return chosen

    def placed_rest(self, placement: StickyPlacement, chosen: Sequence[int], previous: PreviousOwners) -> None:
        """Record the rest, on previous or least loaded clients.

        Args:
            chosen: Tasks that more than one client could get, in the order of their placement.
        """
        remembered = [task for task in chosen if task in previous.active or previous.has_standby(task)]
        returned = {task for task, went_back in zip(remembered, self._went_back, strict=True) if went_back}
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

    def moved_by_racks(self, placement: StickyPlacement) -> None:
        text = "rack-aware assignment takes it from {0} to {1}"
        self.taken.placed("st-racks", placement.actives, text, text)

    def got_standbys(self, placement: StickyPlacement) -> None:
        text = "a standby goes to {0}: of the clients without it one that had it and has room, or the least loaded"
        self.taken.copied("st-standby", placement.standbys, text)

    def standbys_moved_by_racks(self, placement: StickyPlacement) -> None:
        text = "rack-aware assignment takes a standby from {0} to {1}"
        self.taken.copied("st-standby-racks", placement.standbys, "rack-aware assignment gives {0} a standby", text)

    def _is_placed_later(self, task: int, placement: StickyPlacement) -> bool:
        return task in self.taken.existing and placement.owner[task] < 0

    def _settle(self, placement: StickyPlacement) -> None:
        self.taken.settled(placement.actives, placement.standbys)
