"""Planned restarts, which a script notes before it does them: they are no sign of a flapping instance."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import attrs

from assignor_lab.documents.errors import DocumentFormatError
from assignor_lab.documents.files import read_document
from assignor_lab.model.events import GroupEvent

__all__ = ["NOTHING_PLANNED", "PlannedRestarts", "read_planned"]

#: A time in seconds since 1970, and the instance.
_RECORD = re.compile(rb"([0-9]{1,12}) (.*)", re.DOTALL)
_MAX_BYTES = 16 * 1024 * 1024
#: A clock may be ahead of the broker's by this time.
_EARLY_MS = 5_000


@attrs.frozen
class PlannedRestarts:
    """The planned restarts of a group's instances.

    Args:
        times_ms: Instance to the times, ascending.
        within_ms: A departure within this time after a restart belongs to it, unless the next restart has begun: the
            session of the old process may end minutes later.
    """

    times_ms: Mapping[str, Sequence[int]] = attrs.field(factory=dict)
    within_ms: int = 120_000

    def without(self, events: Sequence[GroupEvent]) -> tuple[GroupEvent, ...]:
        """The events without planned departures: one for each restart, and those of the same moment."""
        taken: dict[tuple[str, int], int] = {}
        return tuple(each for each in events if not self._is_planned(each, taken))

    def _is_planned(self, event: GroupEvent, taken: dict[tuple[str, int], int]) -> bool:
        if not event.is_departure or event.subject not in self.times_ms:
            return False
        at_ms = event.at.latest_ms
        name = str(event.subject)
        begun = [time_ms for time_ms in self.times_ms[name] if time_ms - _EARLY_MS <= at_ms]
        if not begun or at_ms > begun[-1] + self.within_ms:
            return False
        return taken.setdefault((name, begun[-1]), at_ms) == at_ms


NOTHING_PLANNED = PlannedRestarts()


def read_planned(file: Path | None) -> PlannedRestarts:
    """The restarts of a file; none without a file, or if it does not exist yet.

    The file has records that end with a zero byte: seconds since 1970, a space, the instance.

    Raises:
        DocumentFormatError: if the file has another form.
    """
    if file is None or not file.exists():
        return NOTHING_PLANNED
    found: dict[str, list[int]] = {}
    records = read_document(file, _records, lambda each: each, max_bytes=_MAX_BYTES, subject="a file of restarts")
    for number, record in enumerate(records, 1):
        parts = _RECORD.fullmatch(record)
        if parts is None:
            fault = "no planned restart: write seconds since 1970, a space, the instance and a zero byte"
            raise DocumentFormatError(str(file), number, "", fault)
        found.setdefault(parts[2].decode("utf-8", "replace"), []).append(1_000 * int(parts[1]))
    return PlannedRestarts({name: sorted(times) for name, times in found.items()})


def _records(content: bytes) -> list[bytes]:
    """Without an unfinished last one."""
    return content.split(b"\0")[:-1]
