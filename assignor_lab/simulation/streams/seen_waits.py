"""Waits of a classic group's members that its logs show. A play of its past draws from them."""

from __future__ import annotations

import random

import attrs

__all__ = ["NO_WAITS", "SeenWaits"]


@attrs.frozen
class SeenWaits:
    """Measured waits, in ms. Without a measurement, a wait follows from the timings.

    Args:
        assign: From the leader's JoinGroup response to its decision.
        read: From a decision until a thread with tasks reads its part of it: the thread processes records first.
        miss: From a decision that a thread with tasks did not read until the next one.
        revoke: From reading until a thread has given up its tasks, and rejoins.
    """

    assign: tuple[int, ...] = ()
    read: tuple[int, ...] = ()
    miss: tuple[int, ...] = ()
    revoke: tuple[int, ...] = ()

    def shuffled(self, drawn: random.Random) -> SeenWaits:
        """The same waits in a drawn order."""
        return SeenWaits(*(tuple(drawn.sample(each, len(each))) for each in attrs.astuple(self)))


#: Of a recording without such lines.
NO_WAITS = SeenWaits()
