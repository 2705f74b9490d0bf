"""The input of a group over time, by task, and the rate of one thread."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence

import attrs

__all__ = ["BYTES", "RECORDS", "Capacity", "InputCurve", "constant_input"]

RECORDS, BYTES = "records", "bytes"


@attrs.frozen
class Capacity:
    """The input that one thread processes in a second.

    Args:
        unit: ``records`` or ``bytes``.
    """

    per_s: float
    unit: str


@attrs.frozen(eq=False)
class InputCurve:
    """Input by task.

    Args:
        times_s: Beginnings of intervals, from 0.
        rates: For each interval the rate of each task, in the order of ``tasks``.
        unit: ``records`` or ``bytes``, each second.
        until_s: End of the last interval; ``None``: it does not end.
        source: Origin, as the end of a sentence.
    """

    tasks: tuple[str, ...]
    times_s: tuple[float, ...]
    rates: tuple[tuple[float, ...], ...]
    unit: str
    source: str
    until_s: float | None = None

    def at(self, time_s: float) -> tuple[float, ...]:
        return self.rates[max(0, bisect_right(self.times_s, time_s) - 1)]

    @property
    def totals(self) -> tuple[float, ...]:
        return tuple(sum(each) for each in self.rates)

    @property
    def peak(self) -> tuple[float, ...]:
        """The rates of the interval with most input."""
        totals = self.totals
        return self.rates[totals.index(max(totals))]

    @property
    def means(self) -> tuple[float, ...]:
        """The mean rate of each task over the whole curve."""
        if self.until_s is None or len(self.rates) == 1:
            return self.rates[-1]
        ends = [*self.times_s[1:], self.until_s]
        lengths = [end - begin for begin, end in zip(self.times_s, ends, strict=True)]
        return tuple(
            sum(length * rate for length, rate in zip(lengths, of_task, strict=True)) / sum(lengths)
            for of_task in zip(*self.rates, strict=True)
        )


def constant_input(rates: Mapping[str, float], tasks: Sequence[str], unit: str, source: str) -> InputCurve:
    return InputCurve(tuple(tasks), (0.0,), (tuple(rates.get(task, 0.0) for task in tasks),), unit, source)
