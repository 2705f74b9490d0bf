"""The part of a past that an earlier check has not seen: from a time, a duration, or a file of the last check."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import attrs

from assignment_api import AssignorLabError
from assignor_lab.documents.durable import write_durably
from assignor_lab.documents.files import read_document
from assignor_lab.documents.json_text import parse_json
from assignor_lab.documents.shapes import LONG_MAX, LONG_MIN, map_of, one_of, record, text, whole
from assignor_lab.documents.writer import canonical_line
from assignor_lab.watching.rebalances import WatchedGroup

__all__ = ["Since", "SinceError", "read_since"]

_DURATION = re.compile(r"([0-9]{1,6})(m|h|d)", re.ASCII)
_MS = {"m": 60_000, "h": 3_600_000, "d": 86_400_000}
_MAX_BYTES = 16 * 1024 * 1024
_FILE = record({"format": whole(1, 1), "kind": one_of("check"), "groups": map_of(text, whole(LONG_MIN, LONG_MAX))})


class SinceError(AssignorLabError):
    """The value of ``--since`` has no known form."""


@attrs.frozen
class Since:
    """The begin of the part to report.

    Args:
        time_ms: Time for all groups, or ``None``: the whole past.
        groups: Group to the time of its last checked rebalance or event; precedes ``time_ms``.
        file: File that gets the times after the check.
    """

    time_ms: int | None = None
    groups: Mapping[str, int] = attrs.field(factory=dict)
    file: Path | None = None

    def is_new(self, group: str, time_ms: int) -> bool:
        if group in self.groups:
            return time_ms > self.groups[group]
        return self.time_ms is None or time_ms >= self.time_ms

    def keep(self, groups: Iterable[WatchedGroup]) -> None:
        if self.file is None:
            return
        latest: dict[str, int] = dict(self.groups)
        for each in groups:
            latest[each.group] = max(each.latest_ms, latest.get(each.group, LONG_MIN))
        document = {"format": 1, "kind": "check", "groups": dict(sorted(latest.items()))}
        write_durably(self.file, canonical_line(document))


def read_since(value: str | None, now_ms: int) -> Since:
    """A duration (``90m``, ``24h``, ``7d``), a time of ISO 8601 (UTC without an offset), or a file."""
    if value is None:
        return Since()
    found = _DURATION.fullmatch(value)
    if found is not None:
        return Since(now_ms - int(found[1]) * _MS[found[2]])
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return _of_file(value)
    return Since(round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1_000))


def _of_file(value: str) -> Since:
    path = Path(value)
    try:
        exists, is_folder = path.exists(), path.is_dir()
    except (OSError, ValueError):
        exists, is_folder = False, True
    if is_folder or "\0" in value or not (exists or path.suffix):
        raise SinceError(
            f"--since {value!r:.80}: write a duration (90m, 24h, 7d), a time (2026-11-24T06:00), or a file such as "
            "last-check.json"
        )
    if not exists:
        return Since(file=path)
    document: dict[str, Any] = read_document(
        path, parse_json, _FILE, max_bytes=_MAX_BYTES, subject="a file of the last check"
    )
    return Since(None, document["groups"], path)
