"""Shrinks an episode as long as it still shows its finding."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from assignment_api.reducing import reduced
from assignor_lab.simulation.streams.safety.random_episodes import with_rest
from assignor_lab.simulation.streams.safety.rest import LAST_CHANGES

__all__ = ["shrunk"]

Document = Mapping[str, Any]


def shrunk(document: Document, still_does: Callable[[Document], bool], most_plays: int = 400) -> Document:
    """The smallest episode found by leaving out one thing after the other.

    Args:
        still_does: Whether an episode still shows the finding; false for an inconsistent one.
    """
    begun = {**document, "events": document["events"][:-LAST_CHANGES]}
    return with_rest(reduced(begun, _smaller, lambda each: still_does(with_rest(each)), most_plays))


def _smaller(document: Document) -> Iterator[Document]:
    events = document["events"]
    size = len(events) - 1
    while size:
        for begin in range(0, len(events) - size + 1, size):
            yield {**document, "events": [*events[:begin], *events[begin + size :]]}
        size //= 2
    for name in dict.fromkeys(event["client"] for event in events if "client" in event):
        rest = [event for event in events if event.get("client") != name]
        if rest:
            yield {**document, "events": rest}
    yield from _without_tasks(document)
    for key in ("missing_topics", "eos", "coming_refiner"):
        if key in document:
            yield _without(document, key)
    for name in document["timings"]:
        yield {**document, "timings": _without(document["timings"], name)}
    yield from _simpler_configs(document)
    yield from _simpler_state(document)
    for place, event in enumerate(events):
        for simpler in _simpler_events(event):
            yield {**document, "events": [*events[:place], simpler, *events[place + 1 :]]}


def _without(mapping: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {each: value for each, value in mapping.items() if each != key}


def _without_tasks(document: Document) -> Iterator[Document]:
    tasks = document["initial"]["tasks"]
    size = len(tasks) // 2
    while size:
        for begin in range(0, len(tasks) - size + 1, size):
            left = [*tasks[:begin], *tasks[begin + size :]]
            known = {task["id"] for task in left}
            changelogs = {name: each for name, each in document["changelogs"].items() if name in known}
            events = [
                {**each, "tasks": [task for task in each["tasks"] if task in known]} if "tasks" in each else each
                for each in document["events"]
            ]
            yield {
                **document,
                "initial": {**document["initial"], "tasks": left},
                "changelogs": changelogs,
                "events": events,
            }
        size //= 2


def _simpler_configs(document: Document) -> Iterator[Document]:
    config = document["initial"]["config"]
    simpler = [_without(config, key) for key in config]
    if config.get("num.standby.replicas", 0) > 1:
        simpler.insert(0, {**config, "num.standby.replicas": config["num.standby.replicas"] - 1})
    for each in simpler:
        yield {**document, "initial": {**document["initial"], "config": each}}


def _simpler_state(document: Document) -> Iterator[Document]:
    for name, changelog in document["changelogs"].items():
        simpler = [_without(changelog, key) for key in ("records_per_s", "backlog_records") if key in changelog]
        if changelog["records"] > 1:
            # Neither fully nor by tens: the duration of restoring can matter.
            simpler += [{**changelog, "records": records} for records in (0, changelog["records"] // 10)]
        for each in simpler:
            yield {**document, "changelogs": {**document["changelogs"], name: each}}


_LEFT_OUT = (
    "tags", "machine", "instance_id", "startup_ms", "joins_ms", "leave", "leaves_ms", "rack", "host", "thread",
    "metadata_version",
)  # fmt: skip


def _simpler_events(event: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for key in _LEFT_OUT:
        if key in event:
            yield _without(event, key)
    if event.get("threads", 1) > 1:
        yield {**event, "threads": event["threads"] - 1}
    at_ms = event["at_ms"]
    if at_ms % 1_000:
        yield {**event, "at_ms": at_ms // 1_000 * 1_000}
