"""The event log of a simulation: what happened, line by line, for people and programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

__all__ = ["Entry", "EventLog"]


@attrs.frozen
class Entry:
    """A line of the log.

    Args:
        time_ms: Milliseconds since the episode began.
        actor: A worker's name, ``coordinator``, ``client``, or ``episode`` for what the episode does.
        event: One word for programs.
        text: What happened, as a sentence.
        details: Figures and names behind the sentence.
    """

    time_ms: int
    actor: str
    event: str
    text: str
    details: Mapping[str, Any] = attrs.field(factory=dict)

    def line(self) -> str:
        """The entry as a person reads it."""
        return f"{self.time_ms / 1000:>10.3f} s  {self.actor:<14} {self.text}"

    def document(self) -> dict[str, Any]:
        """The entry as JSON."""
        return {
            "time_ms": self.time_ms, "actor": self.actor, "event": self.event, "text": self.text, **self.details,
        }  # fmt: skip


class EventLog:
    """Entries in the order in which things happened.

    Args:
        start_ms: What the clock showed when the episode began.
    """

    __slots__ = ("entries", "start_ms")

    def __init__(self, start_ms: int) -> None:
        self.start_ms = start_ms
        self.entries: list[Entry] = []

    def add(self, now_ms: int, actor: str, event: str, text: str, **details: Any) -> None:
        """Adds a line; ``now_ms`` is the clock's time."""
        self.entries.append(Entry(now_ms - self.start_ms, actor, event, text, details))
