"""The tasks of a streams group as its broker described it: sub-topologies, their topics, and the topics' partitions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assignor_lab.capture.episodes.timeline import Timeline
from assignor_lab.capture.recorded import Recording
from assignor_lab.capture.recorded.recording import Topic
from assignor_lab.capture.recorded.streams_group_answers import DescribedSubtopology

__all__ = ["described_changelogs", "described_tasks", "missing_topics"]


def described_subtopologies(timeline: Timeline, recording: Recording) -> tuple[DescribedSubtopology, ...]:
    """The topology as it was described last; empty if it never was."""
    told = [
        group.subtopologies for _, group in recording.streams_groups if group.group == timeline.group and group.members
    ]
    return next((each for each in reversed(told) if each), ())


def described_tasks(timeline: Timeline, recording: Recording) -> list[dict[str, Any]]:
    """Tasks as in a scenario, in order; empty if the recording does not tell how many partitions topics have."""
    found = []
    for subtopology in described_subtopologies(timeline, recording):
        topics = {name: recording.topic(name, timeline.end_ms) for name in subtopology.sources}
        if None in topics.values():
            return []
        size = max((topic.partitions for topic in topics.values() if topic is not None), default=0)
        logs = {name: recording.topic(name, timeline.end_ms) for name in subtopology.changelogs}
        for number in range(size):
            partitions = [*_partitions(topics, number, source=True), *_partitions(logs, number, source=False)]
            stores = [_store(name, timeline.group) for name in subtopology.changelogs]
            found.append({
                "id": f"{subtopology.id}_{number}", "stateful": bool(stores), "logged": bool(stores),
                "stores": stores, "partitions": partitions,
            })  # fmt: skip
    return found


def described_changelogs(timeline: Timeline, recording: Recording) -> dict[str, int]:
    """Changelog to its sub-topology."""
    return {
        name: int(subtopology.id)
        for subtopology in described_subtopologies(timeline, recording)
        for name in subtopology.changelogs
        if subtopology.id.isdecimal()
    }


def missing_topics(timeline: Timeline, recording: Recording) -> tuple[str, ...]:
    """Internal topics that were not there when the first member came: the group was not ready then."""
    states = [group.state for _, group in recording.streams_groups if group.group == timeline.group and group.members]
    if states[:1] != ["NotReady"]:
        return ()
    subtopologies = described_subtopologies(timeline, recording)
    return tuple(sorted({name for each in subtopologies for name in (*each.changelogs, *each.repartition_sources)}))


def _partitions(topics: Mapping[str, Topic | None], number: int, *, source: bool) -> list[dict[str, Any]]:
    return [
        {
            "topic": name, "partition": number, "source": source, "changelog": not source,
            "racks": [] if topic is None else list(topic.racks.get(number, ())),
        }
        for name, topic in topics.items()
        if topic is None or number < topic.partitions
    ]  # fmt: skip


def _store(changelog: str, group: str) -> str:
    return changelog.removeprefix(f"{group}-").removesuffix("-changelog")
