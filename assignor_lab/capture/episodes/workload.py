"""What the tasks of a recorded group weigh: the records of their changelogs, and how they grow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from assignment_api.streams import TaskId
from assignor_lab.capture.episodes.timeline import Timeline

__all__ = ["changelog_documents", "changelog_lines", "mean_line", "subtopology_of_topics"]

#: Bytes of a key where it tells those of the value alone.
_KEY_BYTES = 9
#: A partition that was seen for so long shows its own growth.
_LONG_ENOUGH_MS = 60_000


def subtopology_of_topics(
    timeline: Timeline, tasks: Iterable[TaskId], known: Mapping[str, int], stateful: Iterable[int] | None
) -> dict[str, int]:
    """Changelog topic to the sub-topology whose state is in it.

    Args:
        timeline: The recording.
        tasks: All tasks.
        known: Topics of which that is known.
        stateful: Sub-topologies with state, or ``None``: not known. Then those count of which a standby was assigned.
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


def _held(timeline: Timeline, topic: str, subtopology: int) -> int:
    """How many restorations of a topic were of instances that said to own that sub-topology's task soon after."""
    count = 0
    for each in timeline.transfers:
        if each.topic == topic and not each.is_standby:
            task = f"{subtopology}_{each.partition}"
            later = [tasks for time, who, tasks in timeline.owned if who == each.instance and time >= each.from_ms]
            count += bool(later) and task in later[0]
    return count


def changelog_documents(
    timeline: Timeline,
    tasks: Sequence[TaskId],
    topics: Mapping[str, int],
    first_ms: int,
    told: Mapping[TaskId, Sequence[tuple[int, int]]],
) -> tuple[dict[str, Any], list[str]]:
    """The ``changelogs`` of an episode, and sentences about what was assumed.

    Each changelog is taken to grow evenly, but for what came of input that had been waiting.

    Args:
        timeline: The recording.
        tasks: All tasks.
        topics: Changelog topic to sub-topology.
        first_ms: When the episode begins, in epoch milliseconds.
        told: Task to moments and the ends of its changelogs together then, as leaders saw them; what was restored
            counts for tasks that are not in it.
    """
    seen: dict[str, dict[int, list[tuple[int, int]]]] = {}
    for each in timeline.transfers:
        if each.topic in topics:
            points = seen.setdefault(each.topic, {}).setdefault(each.partition, [])
            points.append((each.end_ms - first_ms, each.end_offset))
    for task in tasks:
        if told.get(task):
            points = seen.setdefault(f"sub-topology {task.subtopology}", {}).setdefault(task.partition, [])
            points += [(time - first_ms, end) for time, end in told[task]]
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


def changelog_lines(partitions: Mapping[int, Sequence[tuple[int, int]]]) -> dict[int, tuple[float, float, float]]:
    """Records at the beginning, records in a second, and records that came at once; without those never seen with any.

    A partition that was empty at first and is not any more had input waiting for it: what it holds later grows evenly
    from what came of that. One that was seen for a short time only grows as the others of its topic do.
    """
    slopes = {partition: _slopes(sorted(points)) for partition, points in partitions.items()}
    usual = _middle([each for found in slopes.values() for each in found])
    lines: dict[int, tuple[float, float, float]] = {}
    for partition, points in partitions.items():
        ordered = sorted(points)
        to_ms, to_end = ordered[-1]
        if not to_end:
            continue
        own = slopes[partition]
        growth = _middle(own) if sum(length for length, _ in own) >= _LONG_ENOUGH_MS else usual
        before = max(0.0, to_end - growth * to_ms / 1000)
        lines[partition] = (0.0, growth, before) if ordered[0][1] == 0 else (before, growth, 0.0)
    return lines


def _slopes(points: Sequence[tuple[int, int]]) -> list[tuple[int, float]]:
    """Milliseconds between two looks at a partition with records, and its records in a second between them."""
    filled = [point for point in points if point[1]]
    return [
        (to_ms - from_ms, max(0, to_end - from_end) * 1000 / (to_ms - from_ms))
        for (from_ms, from_end), (to_ms, to_end) in pairwise(filled)
        if to_ms > from_ms
    ]


def _middle(slopes: Sequence[tuple[int, float]]) -> float:
    """The slope that held half of the time or less; 0 where there is none."""
    half, passed = sum(length for length, _ in slopes) / 2, 0
    for length, slope in sorted(slopes, key=lambda each: each[1]):
        passed += length
        if passed >= half:
            return slope
    return 0.0


def mean_line(lines: Sequence[tuple[float, float, float]]) -> tuple[float, float, float]:
    """The mean of some of :func:`changelog_lines`; zeros where there is none."""
    if not lines:
        return 0.0, 0.0, 0.0
    records, growth, backlog = (sum(column) / len(lines) for column in zip(*lines, strict=True))
    return records, growth, backlog


def _record_bytes(timeline: Timeline) -> float | None:
    """Bytes of a record: of what a probe's windows restored, or of what the experiment filled in."""
    restored = [window.get("restored") or {} for window in timeline.probe or () if isinstance(window, dict)]
    size = sum(each.get("restored_bytes", 0) + each.get("standby_bytes", 0) for each in restored)
    records = sum(each.get("restored_records", 0) + each.get("standby_records", 0) for each in restored)
    if records:
        return round(float(size / records), 3)
    run = timeline.document.get("run")
    if isinstance(run, dict) and isinstance(run.get("bytes"), int):
        return float(run["bytes"] + _KEY_BYTES)
    return None
