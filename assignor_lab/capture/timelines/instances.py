"""Instances in a timeline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from assignor_lab.capture.timelines.timeline import RecordedTimeline, TimelineAction

__all__ = ["first_after", "instance_of"]


def instance_of(consumer: str, clients: Mapping[str, str]) -> str | None:
    """``clients``: prefix of member ids to instance."""
    matching = [client for client in clients if consumer.startswith(f"{client}-")]
    return clients[max(matching, key=len)] if matching else None


def first_after(moments: Iterable[tuple[int, str]], timeline: RecordedTimeline, done: TimelineAction) -> int | None:
    """Before the next action on that instance."""
    later = [each.time_ms for each in timeline.done if each.instance == done.instance and each.time_ms > done.time_ms]
    found = next((time for time, instance in moments if instance == done.instance and time >= done.time_ms), None)
    return None if found is None or (later and found >= later[0]) else found
