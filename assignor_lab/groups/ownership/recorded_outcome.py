"""The recorded course of an episode, beside the contenders' plays of it."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from assignor_lab.model.pictures import SnapshotAnswer

__all__ = ["ActionRow", "RecordedOutcome"]


@attrs.frozen
class ActionRow:
    """An action on a group and its consequences.

    Args:
        led_to: For each play, then for the recording if there is one: rebalances until the next action, and
            milliseconds until the last assignment of those or ``None``. ``None``: there is no such play.
    """

    at_ms: int
    action: str
    who: str
    led_to: tuple[tuple[int, int | None] | None, ...]


@attrs.frozen(eq=False)
class RecordedOutcome:
    """The actions in a played episode, and the recorded facts about it.

    Args:
        picture: The known holders of tasks, as an answer of the picture; ``None``: nothing was recorded.
        figures: Column of a metric to its recorded value.
    """

    actions: tuple[ActionRow, ...]
    picture: SnapshotAnswer | None
    figures: Mapping[str, float]
