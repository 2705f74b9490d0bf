"""Time of a log line, in common layouts whose text has the whole date.

:mod:`~assignor_lab.capture.logs.open_dates` reads the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any

import attrs

__all__ = [
    "MONTHS", "TIME_NAMES", "ZONE", "LogTime", "find_time", "first_time", "log_time", "time_of_fields", "time_of_value",
]  # fmt: skip

#: Pattern of a time zone behind a time.
ZONE = r"(?:\s?(Z|UTC|GMT|[+-]\d\d:?\d\d)(?![0-9A-Za-z]))?"
_ISO = re.compile(
    r"(?<!\d)(\d{4})[-/.](\d\d)[-/.](\d\d)[T _](\d\d):(\d\d):(\d\d)(?:[.,:](\d{1,9}))?(?!\d)" + ZONE, re.ASCII
)
#: Names of months in logs.
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_NAMED_MONTH = re.compile(
    rf"(?<!\d)(\d{{1,2}})[ /-]({'|'.join(MONTHS)})[a-z]*[ /-](\d{{4}})[: T](\d\d):(\d\d):(\d\d)"
    r"(?:[.,](\d{1,9}))?(?!\d)" + ZONE,
    re.ASCII,
)
#: Kibana, Java's own logging.
_MONTH_FIRST = re.compile(
    rf"(?<![A-Za-z])({'|'.join(MONTHS)})[a-z]*\.? (\d{{1,2}}), (\d{{4}})(?:,? |, | @ | at )(\d{{1,2}}):(\d\d):(\d\d)"
    r"(?:[.,](\d{1,9}))?(?:[\s\u202f]?([AP])\.?M\.?)?(?!\d)" + ZONE,
    re.ASCII | re.IGNORECASE,
)
_NUMBER = re.compile(r"[0-9]{9,20}(?:\.[0-9]{1,9})?")
_EPOCH_MS = re.compile(r"(?<![0-9A-Za-z.-])(1\d{12})(?![0-9A-Za-z.-])", re.ASCII)
#: Names of fields with a time, in lower case, the most reliable first.
TIME_NAMES = (
    "@timestamp", "timestamp", "timemillis", "instant", "time", "_time", "ts", "tsns", "eventtime", "event_time",
    "datetime", "date", "__realtime_timestamp",
    "timegenerated", "timegenerated [utc]", "timegenerated_utc", "receivetimestamp", "t",
)  # fmt: skip


@attrs.frozen
class LogTime:
    """Time of a log line; milliseconds in the zone of the log.

    Args:
        is_dated: False if the log has no date: the days count from 1970-01-01.
    """

    wall_ms: int
    offset_ms: int | None
    is_dated: bool = True

    def epoch_ms(self, zone: tzinfo = UTC) -> int:
        """``zone`` applies to a time without a zone."""
        if self.offset_ms is not None:
            return self.wall_ms - self.offset_ms
        wall = datetime(1970, 1, 1) + timedelta(milliseconds=self.wall_ms)  # noqa: DTZ001 - wall clock of the log
        return self.wall_ms - round((wall.replace(tzinfo=zone).utcoffset() or timedelta()) / timedelta(milliseconds=1))


def find_time(text: str) -> LogTime | None:
    """Of several (a container runtime's and the application's own), one with a zone wins, then the last."""
    times = _times(text)
    zoned = [time for time in times if time.offset_ms is not None]
    return (zoned or times)[-1] if times else None


def first_time(text: str) -> LogTime | None:
    return next(iter(_times(text)), None)


def _times(text: str) -> list[LogTime]:
    times = [time for found in _ISO.finditer(text) if (time := _iso(found)) is not None]
    times += [time for found in _NAMED_MONTH.finditer(text) if (time := _named_month(found)) is not None]
    if not times:
        times = [time for found in _MONTH_FIRST.finditer(text) if (time := _month_first(found)) is not None]
    if not times and (found := _EPOCH_MS.search(text)):
        return [LogTime(int(found[1]), 0)]
    return times


def time_of_fields(
    fields: Mapping[str, Any], find: Callable[[str], LogTime | None] = find_time, depth: int = 2
) -> LogTime | None:
    """Of a record with named fields, or of an object within it.

    Args:
        find: Reads a text.
    """
    named = {name.lower(): value for name, value in fields.items()}
    for name in TIME_NAMES:
        time = time_of_value(named.get(name), find)
        if time is not None:
            return time
    inner = [value for value in named.values() if isinstance(value, dict)] if depth else []
    return next((time for each in inner if (time := time_of_fields(each, find, depth - 1)) is not None), None)


def time_of_value(value: object, find: Callable[[str], LogTime | None] = find_time) -> LogTime | None:
    if isinstance(value, str):
        return time_of_value(float(value), find) if _NUMBER.fullmatch(value) else find(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        # Seconds (GELF), milliseconds (Log4j 2), microseconds (journald) or nanoseconds, for years 2001 to 2286.
        for scale in (1000.0, 1.0, 1e-3, 1e-6):
            if 1e12 <= value * scale < 1e13:
                return LogTime(round(value * scale), 0)
    if isinstance(value, dict) and isinstance(seconds := value.get("epochSecond"), int) and 0 <= seconds < 10**10:
        nanos = value.get("nanoOfSecond")
        return LogTime(seconds * 1000 + (nanos // 10**6 if isinstance(nanos, int) else 0), 0)
    return None


def _iso(found: re.Match[str]) -> LogTime | None:
    year, month, day, hour, minute, second, fraction, zone = found.groups()
    return log_time((int(year), int(month), int(day), int(hour), int(minute), int(second)), fraction, zone)


def _named_month(found: re.Match[str]) -> LogTime | None:
    day, name, year, hour, minute, second, fraction, zone = found.groups()
    numbers = (int(year), MONTHS.index(name) + 1, int(day), int(hour), int(minute), int(second))
    return log_time(numbers, fraction, zone)


def _month_first(found: re.Match[str]) -> LogTime | None:
    name, day, year, hour, minute, second, fraction, half, zone = found.groups()
    numbers = (int(year), MONTHS.index(name.title()) + 1, int(day), int(hour), int(minute), int(second))
    return log_time(numbers, fraction, zone, half)


def log_time(
    numbers: tuple[int, int, int, int, int, int], fraction: str | None, zone: str | None, half: str | None = None
) -> LogTime | None:
    """``None`` if there is no such time.

    Args:
        numbers: Year, month, day, hour, minute, second.
        half: ``A`` or ``P`` of a clock with twelve hours.
    """
    if half is not None:
        if not 1 <= numbers[3] <= 12:
            return None
        numbers = (*numbers[:3], numbers[3] % 12 + 12 * (half in "pP"), *numbers[4:])
    try:
        wall = datetime(*numbers, tzinfo=UTC)
    except ValueError:
        return None
    milliseconds = int(((fraction or "") + "000")[:3])
    since_epoch = round((wall - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(seconds=1)) * 1000
    return LogTime(since_epoch + milliseconds, _offset_ms(zone))


def _offset_ms(zone: str | None) -> int | None:
    if zone is None:
        return None
    if not zone[1:2].isdigit():
        return 0
    sign = -1 if zone[0] == "-" else 1
    hours, minutes = int(zone[1:3]), int(zone[-2:])
    if hours > 23 or minutes > 59:
        return None
    return sign * round(timezone(timedelta(hours=hours, minutes=minutes)).utcoffset(None) / timedelta(milliseconds=1))
