"""The time of an event: a point, or an interval if the source shows bounds alone."""

from __future__ import annotations

import attrs

__all__ = ["Moment"]


@attrs.frozen(order=False)
class Moment:
    """Earliest and latest possible time, in milliseconds since 1970; both are equal if the time is known.

    Raises:
        ValueError: if the interval ends before it begins.
    """

    earliest_ms: int
    latest_ms: int

    def __attrs_post_init__(self) -> None:
        if self.latest_ms < self.earliest_ms:
            raise ValueError(f"a moment from {self.earliest_ms} ms to {self.latest_ms} ms ends before it begins")

    @classmethod
    def at(cls, time_ms: int) -> Moment:
        return cls(time_ms, time_ms)

    @property
    def is_exact(self) -> bool:
        return self.earliest_ms == self.latest_ms

    def later(self, by_ms: int) -> Moment:
        return Moment(self.earliest_ms + by_ms, self.latest_ms + by_ms)
