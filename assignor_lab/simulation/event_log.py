"""Event log of a simulation, line by line, for people and programs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import attrs

__all__ = ["NO_THREAD", "EventEntry", "EventLog"]

#: In place of the key of a thread.
NO_THREAD = -1


@attrs.frozen
class EventEntry:
    """A line of the log.

    Args:
        actor: A worker's name, ``coordinator``, ``client``, or ``episode``.
        counts: Of a Connect group's jobs and times; the following facts are those of a Streams group.
        thread: Key of a thread.
        until_ms: End of a state that begins here; 0: none begins.
    """

    time_ms: int
    actor: str
    event: str
    text: str
    counts: Mapping[str, int] = attrs.field(factory=dict)
    thread: int = NO_THREAD
    task: str = ""
    tasks: Sequence[str] = ()
    threads: Collection[int] = ()
    active: Sequence[str] = ()
    standby: Sequence[str] = ()
    until_ms: int = 0
    is_over: bool = False

    def line(self) -> str:
        return f"{self.time_ms / 1000:>10.3f} s  {self.actor:<14} {self.text}"

    def document(self) -> dict[str, Any]:
        return {
            "time_ms": self.time_ms, "actor": self.actor, "event": self.event, "text": self.text, **self.counts,
        }  # fmt: skip


class EventLog:
    """Entries in the order of events."""

    __slots__ = ("entries", "start_ms")

    def __init__(self, start_ms: int) -> None:
        self.start_ms = start_ms
        self.entries: list[EventEntry] = []

    def add(self, now_ms: int, actor: str, event: str, text: str, **counts: int) -> None:
        self.entries.append(EventEntry(now_ms - self.start_ms, actor, event, text, counts))
