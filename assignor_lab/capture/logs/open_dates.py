"""Times whose date is open: an unknown order of day and month, a missing year, or a time of day only.

The other lines of the log show the order of day and month, or an option does. Without a date, days count from
1970-01-01 (:attr:`~assignor_lab.capture.logs.timestamps.LogTime.is_dated`): order and differences still hold.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable, Iterator
from datetime import date

import attrs

from assignor_lab.capture.logs.timestamps import MONTHS, ZONE, LogTime, find_time, first_time, log_time

__all__ = ["DateOrder", "LogClock", "LogDates", "date_orders"]


class DateOrder(enum.Enum):
    """Order of the numbers in a date. The year has two or four digits."""

    DAY_FIRST = "dd/MM"
    MONTH_FIRST = "MM/dd"
    YEAR_FIRST = "yy/MM/dd"


@attrs.frozen
class LogDates:
    """Facts about the dates of logs that the logs leave open.

    Args:
        order: ``None``: as the log shows.
        day: Day of the first line of a log with times of day; ``None``: unknown.
    """

    order: DateOrder | None = None
    day: date | None = None


_CLOCK = r"(\d{1,2}):(\d\d):(\d\d)(?:[.,:](\d{1,9}))?(?!\d)(?:\s?([AaPp])\.?[Mm]\.?(?![A-Za-z]))?"
_NUMERIC = re.compile(
    r"(?<![\d/.:-])(\d{1,2}|\d{4})(?=/\d{1,2}/|\.\d{1,2}\.|-\d{1,2}-)([/.-])(\d{1,2})[/.-](\d{4}|\d{1,2})"
    r"(?:,? |, ?|T|_)" + _CLOCK + ZONE,
    re.ASCII,
)
#: Of syslog.
_NO_YEAR = re.compile(rf"(?<![A-Za-z])({'|'.join(MONTHS)}) {{1,2}}(\d{{1,2}}) (\d\d):(\d\d):(\d\d)(?!\d)", re.ASCII)
_TIME_OF_DAY = re.compile(r"(?<![\d:./-])(\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(?![\d:])", re.ASCII)
#: A time of day stands at the start of a line.
_LONGEST_PREFIX = 80
_DAY_MS, _HALF_A_DAY_MS = 86_400_000, 43_200_000
#: A leap year: it has all days.
_NO_YEARS_YEAR = 1972
_EPOCH = date(1970, 1, 1)


def date_orders(lines: Iterable[str]) -> set[DateOrder]:
    """Orders that a date in one of the lines proves: a number above 12 is no month."""
    found = set()
    for line in lines:
        for match in _NUMERIC.finditer(line):
            first, sign, second, last = match[1], match[2], match[3], match[4]
            if len(first) == 4 or (len(last) != 4 and sign != "."):
                continue
            if sign == "." or int(first) > 12:
                found.add(DateOrder.DAY_FIRST)
            elif int(second) > 12:
                found.add(DateOrder.MONTH_FIRST)
    return found


@attrs.define
class LogClock:
    """Reads the times of one log, in the order of its lines.

    Args:
        shown: The order that dates of the log prove, or ``None``.
    """

    dates: LogDates = LogDates()
    shown: DateOrder | None = None
    #: True after a date that can be read in both ways.
    is_order_open: bool = attrs.field(init=False, default=False)
    #: The order that was taken then.
    guessed: DateOrder = attrs.field(init=False, default=DateOrder.DAY_FIRST)
    #: Days since the first line, and the last time of day, of each stream.
    _days: dict[str, tuple[int, int]] = attrs.field(init=False, factory=dict)

    def go_on_after(self, before: LogClock) -> None:
        """Counts the days on from the part of the log before this one."""
        self._days = dict(before._days)

    def find(self, text: str, stream: str = "") -> LogTime | None:
        """As :func:`~assignor_lab.capture.logs.timestamps.find_time`, and open dates."""
        return find_time(text) or next(self._open_times(text, stream), None)

    def first(self, text: str) -> LogTime | None:
        """The first of several times."""
        return first_time(text) or next(self._open_times(text, ""), None)

    def _open_times(self, text: str, stream: str) -> Iterator[LogTime]:
        if ":" not in text:
            return
        for match in _NUMERIC.finditer(text):
            if (time := self._numeric(match)) is not None:
                yield time
        for match in _NO_YEAR.finditer(text):
            year = self.dates.day.year if self.dates.day else _NO_YEARS_YEAR
            numbers = (year, MONTHS.index(match[1]) + 1, int(match[2]), int(match[3]), int(match[4]), int(match[5]))
            if (time := log_time(numbers, None, None)) is not None:
                yield attrs.evolve(time, is_dated=self.dates.day is not None)
        if (of_day := _TIME_OF_DAY.search(text, 0, _LONGEST_PREFIX)) is not None:
            yield from self._of_day(of_day, stream)

    def _numeric(self, match: re.Match[str]) -> LogTime | None:
        first, sign, second, last, hour, minute, seconds, fraction, half, zone = match.groups()
        order = self._order(first, sign, last, half)
        is_known = order in (self.dates.order, self.shown) or order is DateOrder.YEAR_FIRST or sign == "."
        if not is_known and int(first) != int(second):
            self.is_order_open, self.guessed = True, order
        year, month, day = {
            DateOrder.YEAR_FIRST: (first, second, last),
            DateOrder.DAY_FIRST: (last, second, first),
            DateOrder.MONTH_FIRST: (last, first, second),
        }[order]
        numbers = (_year(year), int(month), int(day), int(hour), int(minute), int(seconds))
        return log_time(numbers, fraction, zone, half)

    def _order(self, first: str, sign: str, last: str, half: str | None) -> DateOrder:
        if len(first) == 4:
            return DateOrder.YEAR_FIRST
        if sign == ".":
            return DateOrder.DAY_FIRST
        is_long = len(last) == 4
        if self.dates.order is not None and not (is_long and self.dates.order is DateOrder.YEAR_FIRST):
            return self.dates.order
        if not is_long:
            return DateOrder.YEAR_FIRST
        # A clock with twelve hours is American.
        return self.shown or (DateOrder.DAY_FIRST if half is None else DateOrder.MONTH_FIRST)

    def _of_day(self, match: re.Match[str], stream: str) -> Iterator[LogTime]:
        hour, minute, second, fraction = match.groups()
        time = log_time((1970, 1, 1, int(hour), int(minute), int(second)), fraction, None)
        if time is None:
            return
        days, last_ms = self._days.get(stream, (0, time.wall_ms))
        # Threads write slightly out of order; half a day back is the next day, half a day on is the day before.
        days += (last_ms - time.wall_ms > _HALF_A_DAY_MS) - (time.wall_ms - last_ms > _HALF_A_DAY_MS and days > 0)
        self._days[stream] = days, time.wall_ms
        first = (self.dates.day or _EPOCH) - _EPOCH
        yield LogTime((first.days + days) * _DAY_MS + time.wall_ms, None, self.dates.day is not None)


def _year(text: str) -> int:
    return int(text) if len(text) == 4 else 2000 + int(text)
