"""Growth of changelogs as lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

__all__ = ["changelog_lines", "mean_line"]

#: A partition observed for so long has a slope of its own.
_LONG_ENOUGH_MS = 60_000


def changelog_lines(partitions: Mapping[int, Sequence[tuple[int, int]]]) -> dict[int, tuple[float, float, float]]:
    """Start, slope (records per second) and jump of each partition that ever had records.

    A partition that was empty at first had input waiting: its first records are the jump. A partition observed only
    briefly takes the slope of the topic's other partitions.
    """
    slopes = {partition: _slopes(sorted(points)) for partition, points in partitions.items()}
    usual = _middle([each for found in slopes.values() for each in found])
    lines: dict[int, tuple[float, float, float]] = {}
    for partition, points in partitions.items():
        ordered = sorted(points)
        to_ms, to_end = ordered[-1]
        if not to_end:
            continue
        own = slopes[partition]
        growth = _middle(own) if sum(length for length, _ in own) >= _LONG_ENOUGH_MS else usual
        before = max(0.0, to_end - growth * to_ms / 1000)
        lines[partition] = (0.0, growth, before) if ordered[0][1] == 0 else (before, growth, 0.0)
    return lines


def _slopes(points: Sequence[tuple[int, int]]) -> list[tuple[int, float]]:
    filled = [point for point in points if point[1]]
    return [
        (to_ms - from_ms, max(0, to_end - from_end) * 1000 / (to_ms - from_ms))
        for (from_ms, from_end), (to_ms, to_end) in pairwise(filled)
        if to_ms > from_ms
    ]


def _middle(slopes: Sequence[tuple[int, float]]) -> float:
    half, passed = sum(length for length, _ in slopes) / 2, 0
    for length, slope in sorted(slopes, key=lambda each: each[1]):
        passed += length
        if passed >= half:
            return slope
    return 0.0


def mean_line(lines: Sequence[tuple[float, float, float]]) -> tuple[float, float, float]:
    """Zeros without lines."""
    if not lines:
        return 0.0, 0.0, 0.0
    records, growth, backlog = (sum(column) / len(lines) for column in zip(*lines, strict=True))
    return records, growth, backlog
