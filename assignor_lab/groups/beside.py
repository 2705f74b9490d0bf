"""What really happened in an episode that was recorded, beside how competitors play it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

__all__ = ["ActionRow", "Beside"]


@attrs.frozen
class ActionRow:
    """Something that was done to a group, and what it led to.

    Args:
        at_ms: When, since the first event.
        action: What was done.
        who: To whom.
        led_to: For each play, and for the recording last where there is one: rebalances until the next action, and
            milliseconds until the last assignment of those or ``None``; ``None``: there is no such play.
    """

    at_ms: int
    action: str
    who: str
    led_to: tuple[tuple[int, int | None] | None, ...]


@attrs.frozen(eq=False)
class Beside:
    """What was done in a played episode, and what a recording tells of it.

    Args:
        actions: What was done, by time.
        picture: What is known of who ran what, in the form of an answer of the picture; ``None``: nothing was recorded.
        figures: Column of a metric to what was recorded of it.
    """

    actions: tuple[ActionRow, ...]
    picture: Mapping[str, Any] | None
    figures: Mapping[str, float]
