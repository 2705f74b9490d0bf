"""The mix of events of a group: how often it is deployed and scaled, and how often instances crash or stall."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from assignor_lab.documents.errors import Place
from assignor_lab.documents.files import read_document
from assignor_lab.documents.shapes import Check, Mismatch, described, faults_at, record
from assignor_lab.documents.toml_text import parse_toml
from assignor_lab.documents.wording import listed

__all__ = ["DEFAULT_MIX", "KINDS", "Mix", "mix_of", "mix_sentence", "read_mix"]

#: The kinds of events in the order of tables, with words for one event.
KINDS: Mapping[str, str] = {"roll": "deployment", "scaling": "scaling", "kill": "crash", "stall": "stall"}
_MAX_BYTES = 65_536
_LARGEST = 10_000.0
_DAYS_OF_WEEK, _DAYS_OF_MONTH = 7.0, 30.4375


@attrs.frozen
class Mix:
    """Events of the whole group.

    Args:
        scalings_per_week: Times at which one instance is added, and removed an hour later.
        kills_per_month: Crashes of an instance, which starts again.
        stalls_per_day: Times at which an instance stands still: a long garbage collection, a full disk, a slow network.
        stall_seconds: Median length; one in twenty takes five times as long or longer.
        back_after_seconds: From a crash to the process's start.
        source: The source of these figures, for people.
    """

    rolls_per_week: float = 3.0
    scalings_per_week: float = 1.0
    kills_per_month: float = 2.0
    stalls_per_day: float = 1.0
    stall_seconds: float = 8.0
    back_after_seconds: float = 10.0
    source: str = "the default mix"

    @property
    def per_day(self) -> Mapping[str, float]:
        """Kind of event to its number on an average day, without zeros."""
        found = {
            "roll": self.rolls_per_week / _DAYS_OF_WEEK,
            "scaling": self.scalings_per_week / _DAYS_OF_WEEK,
            "kill": self.kills_per_month / _DAYS_OF_MONTH,
            "stall": self.stalls_per_day,
        }
        return {kind: rate for kind, rate in found.items() if rate > 0}


DEFAULT_MIX = Mix()


def _rate(value: Any) -> float:
    if type(value) not in (int, float) or not 0 <= value <= _LARGEST:
        raise Mismatch(f"{described(value)} is no number from 0 to {_LARGEST:.0f}")
    return float(value)


def _seconds(value: Any) -> float:
    if type(value) not in (int, float) or not 0.1 <= value <= _LARGEST:
        raise Mismatch(f"{described(value)} is no number of seconds from 0.1 to {_LARGEST:.0f}")
    return float(value)


_RATES = ("rolls_per_week", "scalings_per_week", "kills_per_month", "stalls_per_day")
_KEYS: Mapping[str, Check[Any]] = {
    **dict.fromkeys(_RATES, _rate), "stall_seconds": _seconds, "back_after_seconds": _seconds,
}  # fmt: skip
_document = record({}, _KEYS)


def read_mix(path: Path) -> Mix:
    """The mix of a file of TOML; a missing rate is 0, a missing length the default.

    Raises:
        DocumentFormatError: with its place, if the file cannot be read, has another key, or no event at all.
    """
    found: Mix = read_document(path, parse_toml, _mix, max_bytes=_MAX_BYTES, subject="a mix of events")
    return attrs.evolve(found, source=str(path))


def mix_of(rates: Mapping[str, float]) -> Mix:
    """The mix of rates and lengths by their names; errors as of :func:`read_mix`."""
    with faults_at(Place("mix")):
        return attrs.evolve(_mix(dict(rates)), source="the given mix")


def _mix(value: Any) -> Mix:
    document = _document(value)
    made = Mix(**{**dict.fromkeys(_RATES, 0.0), **document})
    if not made.per_day:
        raise Mismatch(f"the mix has no event: give a rate above 0 for one of {', '.join(_RATES)}")
    return made


def mix_sentence(mix: Mix) -> str:
    parts = [
        f"{_times(mix.rolls_per_week, 'deployment')} a week",
        f"{_times(mix.scalings_per_week, 'scaling')} a week",
        f"{_times(mix.kills_per_month, 'crash', 'crashes')} a month (back after {mix.back_after_seconds:g} s)",
        f"{_times(mix.stalls_per_day, 'stall')} a day (median {mix.stall_seconds:g} s)",
    ]
    return f"Mix of events ({mix.source}): {listed(parts)}."


def _times(rate: float, one: str, many: str | None = None) -> str:
    return f"{rate:.3g} {one if rate == 1 else many or one + 's'}"
