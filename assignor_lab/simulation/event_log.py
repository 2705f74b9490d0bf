"""Event log of a simulation, line by line, for people and programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

__all__ = ["EventEntry", "EventLog"]


@attrs.frozen
class EventEntry:
    """A line of the log.

    Args:
        actor: A worker's name, ``coordinator``, ``client``, or ``episode``.
    """

    time_ms: int
    actor: str
    event: str
    text: str
    details: Mapping[str, Any] = attrs.field(factory=dict)

    def line(self) -> str:
        return f"{self.time_ms / 1000:>10.3f} s  {self.actor:<14} {self.text}"

    def document(self) -> dict[str, Any]:
        return {
            "time_ms": self.time_ms, "actor": self.actor, "event": self.event, "text": self.text, **self.details,
        }  # fmt: skip


class EventLog:
    """Entries in the order of events."""

    __slots__ = ("entries", "start_ms")

    def __init__(self, start_ms: int) -> None:
        self.start_ms = start_ms
        self.entries: list[EventEntry] = []

    def add(self, now_ms: int, actor: str, event: str, text: str, **details: Any) -> None:
        self.entries.append(EventEntry(now_ms - self.start_ms, actor, event, text, details))
