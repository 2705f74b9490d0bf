"""Seconds and ranges of plays as words and in JSON documents."""

from __future__ import annotations

from assignor_lab.planning.predicted import Range

__all__ = ["interval_words", "range_document", "seconds_words"]


def seconds_words(value: float) -> str:
    """With a tenth below 100."""
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}"


def interval_words(of: Range, scale: float = 1.0) -> str:
    """The median with its interval, each divided by ``scale``; the median alone if they are shown alike."""
    median, low, high = (seconds_words(value / scale) for value in (of.median, of.low, of.high))
    return median if low == high == median else f"{median} ({low} to {high})"


def range_document(of: Range) -> dict[str, float]:
    """Rounded to a thousandth."""
    return {"median": round(of.median, 3), "low": round(of.low, 3), "high": round(of.high, 3)}
