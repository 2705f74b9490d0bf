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
        known_rounds: Consecutive probing rebalances of a known loop that move nothing.
        returns: Returns of a task to an instance that gave it away, within ``window_seconds``.
        departures: Departures and restarts of one instance within ``window_seconds``.
        group_departures: Departures of all instances within ``window_seconds``, for each instance.
        static_restarts: Restarts of one static member within its session and ``window_seconds``.
        unowned_seconds: Seconds that a task has no owner, beyond a delay that the leader announced.
        outage_seconds: Seconds that the group has no members.
        poll_timeouts: Members that left because their thread did not poll in time.
        dead_threads: Threads that ended by an exception.
        failed_assignments: Rebalances without an assignment.
        config_mismatches: Generations in a row in which a Connect leader was behind the configuration.
        missing_standbys: Wanted standbys without a place after the last rebalance.
        idle_instances: Instances without work after the last rebalance, as there are more members than tasks.
        accepted: Known loops that do not fail the check.
    """

    unexplained: int = 0
    followups: int = 10
    probings: int = 8
    known_rounds: int = 3
    returns: int = 2
    departures: int = 2
    group_departures: int = 2
    static_restarts: int = 2
    window_seconds: int = 600
    unowned_seconds: int = 60
    outage_seconds: int = 60
    poll_timeouts: int = 0
    dead_threads: int = 0
    failed_assignments: int = 0
    config_mismatches: int = 2
    missing_standbys: int = 0
    idle_instances: int = 0
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
