"""The record of past predictions, and the intervals that follow from it.

Split conformal prediction over the ratios *measured / predicted* of a group's own past changes.
``docs/explanation/intervals.md`` states the rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

import attrs

from assignor_lab.documents.wording import plural
from assignor_lab.planning.predicted import Range

__all__ = [
    "LEAST_OF_ROUND",
    "RecordedBounds",
    "PastRecord",
    "PredictedAway",
    "PredictedChange",
    "RecordedAway",
    "change_document",
    "record_document",
    "record_sentences",
]

#: The most recent changes that count.
_MOST_RECENT = 40
#: With so many changes the greatest and least ratio hold 80 % of new changes: (n - 1) / (n + 1).
_ENOUGH = 9
#: With so many changes of the plan's own kind, other kinds do not count.
_OF_KIND = 3
#: A record with a greater median error is no support of a plan.
_POOR = 0.5
_WORST, _SUM = "worst_task_seconds", "task_seconds"
#: Lower bounds of both sides of a ratio: one round of joining lasts as long, and its length is chance.
LEAST_OF_ROUND: Mapping[str, float] = {_WORST: 3.0, _SUM: 10.0}


@attrs.frozen
class RecordedBounds:
    """A recorded figure under the earliest and latest times of inferred events."""

    low: float
    high: float


@attrs.frozen
class PredictedAway:
    """Predicted time without an owner, without restoring if the recording cannot show it."""

    worst_task_seconds: Range
    task_seconds: Range


@attrs.frozen
class RecordedAway:
    """Recorded time without an owner."""

    worst_task_seconds: RecordedBounds
    task_seconds: RecordedBounds


@attrs.frozen
class PredictedChange:
    """A past change, predicted from the state before it.

    Args:
        at_ms: Time of its first event.
        change: ``roll``, ``scale``, ``kill`` or ``script``.
        form: What is done, as :func:`assignor_lab.planning.foreign.foreign_form` names it; empty: unknown.
    """

    at_ms: int
    change: str
    instances: tuple[str, ...]
    predicted: PredictedAway
    measured: RecordedAway
    form: str = ""

    def is_inside(self, figure: str) -> bool:
        """True if the interval and the recorded bounds have a common value."""
        found: RecordedBounds = getattr(self.measured, figure)
        known: Range = getattr(self.predicted, figure)
        return known.low <= found.high and found.low <= known.high

    @property
    def holds(self) -> bool:
        return self.is_inside(_WORST) and self.is_inside(_SUM)

    def ratio(self, figure: str) -> float:
        """Measured over predicted; of recorded bounds, the value nearest to the prediction counts."""
        found: RecordedBounds = getattr(self.measured, figure)
        least = LEAST_OF_ROUND[figure]
        known: float = max(getattr(self.predicted, figure).median, least)
        return max(least, min(max(known, found.low), found.high)) / known


@attrs.frozen
class PastRecord:
    """The predictions of a group's past changes.

    Args:
        changes: The newest first.
        older: Older changes that were not predicted.
        failed: Reasons of changes that could not be predicted.
        refused: Reason why no past change is predicted; empty as a rule.
    """

    changes: tuple[PredictedChange, ...] = ()
    older: int = 0
    failed: tuple[str, ...] = ()
    refused: str = ""

    @property
    def inside(self) -> int:
        return sum(each.holds for each in self.changes)

    @property
    def median_error(self) -> float | None:
        """Of all tasks together, as a share of the prediction."""
        return median(abs(each.ratio(_SUM) - 1) for each in self.changes) if self.changes else None

    @property
    def doubts(self) -> tuple[str, ...]:
        """Reasons why a plan of this group is poorly known."""
        if self.refused:
            return (self.refused,)
        error = self.median_error
        if error is None or error <= _POOR:
            return ()
        return (
            f"the last {plural(len(self.changes), 'change')} of this group differ from their predictions by "
            f"{error:.0%} (median)",
        )

    def adjusted(self, figure: str, kind: str, of_plays: Range, usual: Range, form: str = "") -> Range:
        """An interval of a plan, widened or narrowed by the past.

        Args:
            form: Changes of another form do not count; empty: all count.
            of_plays: The interval of the plays alone, or its part that counts: the narrowest one.
            usual: The interval without a past.
        """
        ratios = [each.ratio(figure) for each in self._of_kind(kind, form)]
        if not ratios:
            return usual
        least, greatest = _quantiles(ratios)
        by = max(of_plays.median, LEAST_OF_ROUND[figure])
        share = min(1.0, len(ratios) / _ENOUGH)
        low = min(of_plays.low, of_plays.median - by * (1 - least))
        high = max(of_plays.high, of_plays.median + by * (greatest - 1))
        low = low if low < usual.low else usual.low + share * (low - usual.low)
        high = high if high > usual.high else usual.high + share * (high - usual.high)
        return Range(of_plays.median, max(0.0, low), high)

    def _of_kind(self, kind: str, form: str) -> Sequence[PredictedChange]:
        recent = [each for each in self.changes if not form or each.form in ("", form)][:_MOST_RECENT]
        same = [each for each in recent if each.change == kind]
        return same if len(same) >= _OF_KIND else recent


def _quantiles(ratios: Sequence[float]) -> tuple[float, float]:
    """The ratios that leave out 5 % of new changes at each end; of fewer than 39, the least and the greatest."""
    ordered = sorted(ratios)
    out = max(0, int((len(ordered) + 1) * 0.05) - 1)
    return ordered[out], ordered[-1 - out]


def record_sentences(record: PastRecord) -> list[str]:
    """The record in one line, and lines on what is missing."""
    if record.refused:
        return [f"The past of this group gives no support: {record.refused}."]
    lines = []
    if record.changes:
        count = len(record.changes)
        subject = "The last change of this group" if count == 1 else f"The last {count} changes of this group"
        inside = f"{record.inside} inside {'its interval' if count == 1 else 'their intervals'}"
        lines.append(f"{subject}: {inside}, median error {(record.median_error or 0):.0%}.")
    left = []
    if record.older:
        left.append(f"{plural(record.older, 'older change')} not predicted")
    if record.failed:
        left.append(f"{plural(len(record.failed), 'change')} without a prediction: {record.failed[0]}")
    if left:
        lines.append(f"Left out: {'; '.join(left)}.")
    return lines


def record_document(record: PastRecord) -> dict[str, Any]:
    return {
        "changes": len(record.changes),
        "inside": record.inside,
        "median_error": None if record.median_error is None else round(record.median_error, 4),
        "older": record.older,
        "failed": list(record.failed),
        "refused": record.refused or None,
        "sentences": record_sentences(record),
        "rows": [change_document(each) for each in record.changes],
    }


def change_document(change: PredictedChange) -> dict[str, Any]:
    return {**_rounded(attrs.asdict(change)), "inside": change.holds}


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    return round(value, 3) if isinstance(value, float) else value
