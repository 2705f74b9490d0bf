"""The error of plays: differences that are no larger say nothing about contenders.

Two contenders of a past differ in a figure only if the 90 % band of their differences, draw by draw, is on one side of
zero, and the median difference is larger than the error of the group's own assignor's play against the recording.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from statistics import median
from typing import Any

import attrs

from assignor_lab.model.bands import band

__all__ = ["COLUMN", "NO_ERROR", "PlayError", "play_error"]

#: The figure that the recording shows, too: its error is known.
_RECORDED = "unavailable"
#: Column of a row with the figures of each play.
COLUMN = "figures_of_plays"


@attrs.frozen
class PlayError:
    """The plays of one figure.

    Args:
        error: Error of the own assignor's play, as a share of the recorded value; ``None``: unknown.
        plays: Contender to its figure in each play, in the order of the draws.
    """

    error: float | None = None
    plays: Mapping[str, tuple[float, ...]] = attrs.field(factory=dict)

    def is_within(self, one: str, other: str) -> bool:
        """True if the difference of two contenders is no larger than the error."""
        ours, theirs = self.plays.get(one), self.plays.get(other)
        if ours is None or theirs is None or len(ours) != len(theirs):
            return False
        differences = [a - b for a, b in zip(ours, theirs, strict=True)]
        low, high = band(differences)
        size = max(abs(median(ours)), abs(median(theirs)))
        return low <= 0 <= high or abs(median(differences)) <= (self.error or 0.0) * size

    def band_of(self, name: str) -> tuple[float, float] | None:
        values = self.plays.get(name)
        return None if not values or len(values) < 2 else band(values)


NO_ERROR = PlayError()


def play_error(figure: str, metric: str | None, texts: Mapping[str, str | None]) -> PlayError:
    """The error of a figure of one past.

    Args:
        figure: Name of the figure of the headline.
        metric: The metric that measures it; ``None``: it is counted.
        texts: Contender to its row's column :data:`COLUMN`.
    """
    if metric is None:
        return NO_ERROR
    plays: dict[str, tuple[float, ...]] = {}
    error: float | None = None
    for name, text in texts.items():
        found: dict[str, Any] = {} if text is None else json.loads(text)
        values = found.get("plays", {}).get(metric)
        if values and None not in values:
            plays[name] = tuple(values)
            error = found.get("error") if figure == _RECORDED else None
    return PlayError(error, plays)
