"""Timings of a simulated Streams group in documents: in episodes, and in separate files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from assignor_lab.documents.files import read_document
from assignor_lab.documents.json_text import parse_json
from assignor_lab.documents.shapes import Mismatch, any_value, at, open_record, record, whole
from assignor_lab.scenarios import Scenario, scenario_from_document
from assignor_lab.scenarios.settings import Settings, is_exactly_once, without_effect
from assignor_lab.simulation.streams.timings import StreamsTimings, timings_of_settings

__all__ = ["LONGEST_MS", "check_timings", "read_timings", "with_settings", "with_timings"]

#: A year: longer times are mistakes.
LONGEST_MS = 366 * 24 * 3_600_000

_known = record({}, {field.name: whole(0, max(LONGEST_MS, 2**50)) for field in attrs.fields(StreamsTimings)})
_AT_LEAST_ONE = (
    "heartbeat_interval_ms",
    "session_timeout_ms",
    "max_poll_interval_ms",
    "streams_heartbeat_interval_ms",
    "streams_session_timeout_ms",
    "task_offset_interval_ms",
    "commit_interval_ms",
    "restore_bytes_per_s",
    "restore_records_per_s",
)
_HINT = "is this the output of derive-constants --json?"
#: Most bytes of a file of timings, which has the source restorations, too.
_LARGEST = 64 * 1024 * 1024


def check_timings(value: Any) -> Mapping[str, int]:
    """Timings by their names.

    Raises:
        Mismatch: if one is unknown or out of its bounds.
    """
    timings = _known(value)
    for name in _AT_LEAST_ONE:
        if timings.get(name, 1) < 1:
            raise Mismatch("has to be at least 1", name)
    return timings


_file = open_record({"timings": check_timings}, {"restorations": any_value, "not_derived": any_value}, hint=_HINT)


def read_timings(file: Path) -> dict[str, int]:
    """Timings in the output of ``assignor derive-constants --json``.

    Raises:
        DocumentFormatError: if the file cannot be read, or is not such a document.
    """
    document = read_document(file, parse_json, _file, max_bytes=_LARGEST, subject="a file of timings")
    return dict(document["timings"])


def with_timings(scenario: Scenario, timings: Mapping[str, int], settings: Settings | None = None) -> Scenario:
    """An episode's scenario with overriding timings and settings.

    ``timings`` override those of the settings.
    """
    if not timings and not settings:
        return scenario
    own = at(check_timings, scenario.document.get("timings", {}), "timings")
    given = {**own, **timings_of_settings(settings or {}), **timings}
    document = with_settings(scenario.document, settings or {}, given)
    if document.get("protocol") == "streams" and (ineffective := without_effect(settings or {})):
        document["assumptions"] = list(dict.fromkeys([*document.get("assumptions", ()), *ineffective]))
    return scenario_from_document(document, scenario.place)


def with_settings(document: Mapping[str, Any], settings: Settings, timings: Mapping[str, int]) -> dict[str, Any]:
    known = dict(sorted({**document.get("settings", {}), **settings}.items()))
    eos = is_exactly_once(settings)
    return {
        **document,
        **({} if eos is None else {"eos": eos}),
        **({"settings": known} if known else {}),
        "timings": dict(timings),
    }
