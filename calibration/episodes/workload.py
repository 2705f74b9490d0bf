"""The weight of a recorded group's tasks: the records of their changelogs, and their growth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from assignment_api.streams import TaskId
from assignor_lab.capture.histories.changelog_lines import changelog_lines, mean_line
from assignor_lab.capture.timelines.timeline import RecordedTimeline

__all__ = ["changelog_documents", "subtopology_of_topics"]

#: Of a key, if the recording has only the value's bytes.
_KEY_BYTES = 9


def subtopology_of_topics(
    timeline: RecordedTimeline, tasks: Iterable[TaskId], known: Mapping[str, int], stateful: Iterable[int] | None
) -> dict[str, int]:
    """Changelog topic to its sub-topology.

    Args:
        known: Topics with a known sub-topology.
        stateful: Sub-topologies with state; ``None``: those with an assigned standby count.
    """
    sizes: dict[int, int] = {}
    for task in tasks:
        sizes[task.subtopology] = max(sizes.get(task.subtopology, 0), task.partition + 1)
    candidates = set(sizes if stateful is None else stateful)
    copied = {
        TaskId.parse(task).subtopology for each in timeline.generations for _, s in each.assigned.values() for task in s
    }
    found = dict(known)
    partitions: dict[str, int] = {}
    for each in timeline.transfers:
        partitions[each.topic] = max(partitions.get(each.topic, 0), each.partition + 1)
    for topic in sorted(partitions):
        if topic in found:
            continue
        fitting = [sub for sub in sorted(candidates) if sizes[sub] >= partitions[topic]]
        exact = [sub for sub in fitting if sizes[sub] == partitions[topic]] or fitting
        best = sorted(exact, key=lambda sub: (sub not in copied, -_held(timeline, topic, sub), sub))
        if best:
            found[topic] = best[0]
    return found


def _held(timeline: RecordedTimeline, topic: str, subtopology: int) -> int:
    """Restorations of a topic on instances that soon afterwards reported the sub-topology's task."""
    count = 0
    for each in timeline.transfers:
        if each.topic == topic and not each.is_standby:
            task = f"{subtopology}_{each.partition}"
            later = [
                tasks for time, instance, tasks in timeline.owned if instance == each.instance and time >= each.from_ms
            ]
            count += bool(later) and task in later[0]
    return count


def changelog_documents(
    timeline: RecordedTimeline,
    tasks: Sequence[TaskId],
    topics: Mapping[str, int],
    first_ms: int,
    ends_by_task: Mapping[TaskId, Sequence[tuple[int, int]]],
) -> tuple[dict[str, Any], list[str]]:
    """The ``changelogs`` of an episode, and sentences on assumptions.

    Each changelog is assumed to grow evenly, except for the backlog of input.

    Args:
        topics: Changelog topic to sub-topology.
        first_ms: Beginning of the episode, in epoch milliseconds.
        ends_by_task: Task to moments and ends of its changelogs, as read by leaders; for other tasks the restored
            records count.
    """
    seen: dict[str, dict[int, list[tuple[int, int]]]] = {}
    for each in timeline.transfers:
        if each.topic in topics:
            points = seen.setdefault(each.topic, {}).setdefault(each.partition, [])
            points.append((each.end_ms - first_ms, each.end_offset))
    for task in tasks:
        if ends_by_task.get(task):
            points = seen.setdefault(f"sub-topology {task.subtopology}", {}).setdefault(task.partition, [])
            points += [(time - first_ms, end) for time, end in ends_by_task[task]]
    lines = {topic: changelog_lines(partitions) for topic, partitions in seen.items()}
    assumptions: list[str] = []
    record_bytes = _record_bytes(timeline)
    if record_bytes is None:
        assumptions.append(
            "bytes of a record are not recorded: restored bytes are unknown without state_bytes of the tasks "
            "(--workload), and restoring takes the time of its records"
        )
    documents: dict[str, Any] = {}
    guessed = 0
    for task in tasks:
        together = f"sub-topology {task.subtopology}"
        own = [topic for topic, sub in topics.items() if sub == task.subtopology]
        if own and task.partition in lines.get(together, {}):
            own = [together]
        if not own:
            continue
        records = growth = backlog = 0.0
        for topic in own:
            found = lines.get(topic, {})
            guessed += task.partition not in found
            line = found.get(task.partition) or mean_line(list(found.values()))
            records, growth, backlog = records + line[0], growth + line[1], backlog + line[2]
        documents[str(task)] = {
            "records": round(records), "bytes_per_record": record_bytes, "records_per_s": round(growth, 3),
            "backlog_records": round(backlog),
        }  # fmt: skip
    if guessed:
        assumptions.append(
            f"{guessed} changelog partitions were never seen with records: they count as the mean of their topic"
        )
    return documents, assumptions


def _record_bytes(timeline: RecordedTimeline) -> float | None:
    """From the restorations in a probe's windows, or from the experiment's preload."""
    restored = [window.restored for window in timeline.probe or ()]
    size = sum((each.restored_bytes or 0) + (each.standby_bytes or 0) for each in restored)
    records = sum((each.restored_records or 0) + (each.standby_records or 0) for each in restored)
    if records:
        return round(float(size / records), 3)
    run = timeline.document.get("run")
    if isinstance(run, dict) and isinstance(run.get("bytes"), int):
        return float(run["bytes"] + _KEY_BYTES)
    return None
