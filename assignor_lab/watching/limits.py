"""Limits of ``assignor check``, from a file of TOML."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs

from assignor_lab.documents.files import read_document
from assignor_lab.documents.shapes import LONG_MAX, list_of, one_of, record, whole
from assignor_lab.documents.toml_text import parse_toml
from assignor_lab.watching.known_loops import KNOWN_LOOPS

__all__ = ["WatchLimits", "read_limits"]

_MAX_BYTES = 1024 * 1024
_number = whole(0, LONG_MAX)


@attrs.frozen
class WatchLimits:
    """Largest ordinary values.

    Args:
        followups: Consecutive rebalances at once, with the same members.
        probings: Consecutive probing rebalances, with the same members.
        returns: Returns of a task to an instance that gave it away, within ``window_seconds``.
        departures: Departures and restarts of one instance within ``window_seconds``.
        unowned_seconds: Seconds that a task has no owner, beyond a delay that the leader announced.
        accepted: Known loops that do not fail the check.
    """

    unexplained: int = 0
    followups: int = 10
    probings: int = 20
    returns: int = 2
    departures: int = 2
    window_seconds: int = 600
    unowned_seconds: int = 60
    accepted: tuple[str, ...] = ()


_CHECKS: Mapping[str, Callable[[Any], Any]] = {
    name: list_of(one_of(*KNOWN_LOOPS)) if name == "accepted" else _number for name in attrs.fields_dict(WatchLimits)
}


def read_limits(file: Path | None) -> WatchLimits:
    """The limits in a file; the defaults where it names none, or if there is no file."""
    if file is None:
        return WatchLimits()
    found: dict[str, Any] = read_document(
        file, parse_toml, record({}, _CHECKS), max_bytes=_MAX_BYTES, subject="a file of limits"
    )
    return WatchLimits(**{**found, "accepted": tuple(found.get("accepted", ()))})
