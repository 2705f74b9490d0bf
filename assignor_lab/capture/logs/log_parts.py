"""The order of the files of a rotated log."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from assignor_lab.capture.logs.log_texts import log_head
from assignor_lab.capture.logs.open_dates import LogDates

__all__ = ["log_of_part", "oldest_first"]

#: ``app.log.1``, ``app.1.log``, and a compressed part.
_PART = re.compile(r"\A(.+?)(?:\.([0-9]{1,6}))?(\.[A-Za-z]+)?(?:\.([0-9]{1,6}))?(?:\.gz)?\Z")


def oldest_first(files: Sequence[str | Path], dates: LogDates | None = None) -> list[str | Path]:
    """By the times of the first lines; a rebalance may span two parts of a rotated log.

    Parts without dates have the order of their numbers: the highest number is the oldest. Other files keep their order.
    """
    heads = [log_head(path, dates) for path in files]
    times = [None if head is None or head.first is None else head.first for head in heads]
    if all(time is not None and time.is_dated for time in times):
        # With the same first millisecond, the part of the higher number is older.
        keys = [
            (0 if time is None else time.epoch_ms(), -_part(path)[1]) for time, path in zip(times, files, strict=True)
        ]
    else:
        families = [_part(path)[0] for path in files]
        keys = [(families.index(family), -_part(path)[1]) for family, path in zip(families, files, strict=True)]
    return [files[index] for index in sorted(range(len(files)), key=keys.__getitem__)]


def log_of_part(path: str | Path) -> str:
    """Name of the rotated log without the part's number."""
    return _part(path)[0]


def _part(path: str | Path) -> tuple[str, int]:
    """Name of the log without the part's number, and the number; 0 without one."""
    whole = Path(path)
    found = _PART.match(whole.name)
    if found is None:
        return str(path), 0
    number = found[4] or found[2]
    return f"{whole.parent}/{found[1]}{found[3] or ''}", int(number or 0)
