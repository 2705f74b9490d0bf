"""What the tasks of a recorded group weigh: where their changelogs ended when leaders looked, and how they grow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from assignment_api.streams import TaskId
from assignment_api.streams.client_state import UNTOLD_LAG
from assignor_lab.capture.episodes.workload import changelog_lines, mean_line
from assignor_lab.capture.histories.moments import CLASSIC, Moment, protocol_of
from assignor_lab.documents.wording import plural

__all__ = ["SeenChangelogs", "seen_changelogs"]


@attrs.frozen
class SeenChangelogs:
    """The state of a recorded group's tasks.

    Args:
        documents: Task to its ``changelogs`` entry of an episode; tasks of which nothing is known are not in it.
        assumptions: Sentences about what was not to be seen.
    """

    documents: Mapping[str, Mapping[str, Any]]
    assumptions: tuple[str, ...]

    def growth(self, task: str, milliseconds: int) -> float | None:
        """Records that a task's changelogs get in a stretch of time; ``None``: not known."""
        known = self.documents.get(task)
        return None if known is None else known["records_per_s"] * milliseconds / 1000


def seen_changelogs(moments: Iterable[Moment], begin_ms: int) -> SeenChangelogs:
    """The changelogs of a group's tasks, as its decisions show them.

    A client that has nothing of a task lacks all of it: its lag is the end of the changelogs. A task that everybody
    has something of shows no end in that decision.

    Args:
        moments: The decisions, by time.
        begin_ms: When the episode begins, in epoch milliseconds.
    """
    listed = list(moments)
    documents = [moment.document for moment in listed if protocol_of(moment.document) == CLASSIC]
    if not documents:
        return SeenChangelogs({}, ())
    tasks = {task["id"]: task["logged"] for document in documents for task in document["tasks"]}
    logged = sorted(
        (task for task, is_logged in tasks.items() if is_logged), key=lambda task: TaskId.parse(task).sort_key()
    )
    seen: dict[str, dict[str, list[tuple[int, int]]]] = {}
    for moment in listed:
        for task, end in _ends(moment.document).items():
            points = seen.setdefault(task.rpartition("_")[0], {}).setdefault(task, [])
            points.append((moment.time_ms - begin_ms, end))
    ended = {task for points in seen.values() for task in points}
    restored = 0
    for moment in listed:
        for task, (time_ms, held) in _restored(moment.document).items():
            # Nothing is restored where a copy was there, too.
            if held and task in tasks and task not in ended:
                points = seen.setdefault(task.rpartition("_")[0], {}).setdefault(task, [])
                restored += not points
                points.append((time_ms - begin_ms, held))
    lines = {subtopology: _lines(points) for subtopology, points in seen.items()}
    if not any(lines.values()):
        return SeenChangelogs({}, ())
    sizes, assumptions = _record_sizes(documents)
    found: dict[str, Mapping[str, Any]] = {}
    unseen = 0
    for task in logged:
        of_subtopology = lines.get(task.rpartition("_")[0], {})
        unseen += task not in of_subtopology
        line = of_subtopology.get(task) or mean_line(list(of_subtopology.values()))
        records, growth, backlog = line
        size = sizes.get(task)
        total = records + backlog
        found[task] = {
            "records": round(records),
            "bytes_per_record": round(size / total, 3) if size and total else None,
            "records_per_s": round(growth, 3),
            "backlog_records": round(backlog),
        }
    if restored:
        assumptions.append(
            f"of {plural(restored, 'task')} only what instances restored tells how much their changelogs "
            "hold: at least so much"
        )
    if unseen:
        assumptions.append(
            f"of {plural(unseen, 'task')} no decision shows where their changelogs end: they count as the mean of "
            "their sub-topology"
        )
    return SeenChangelogs(found, tuple(assumptions))


def _ends(document: Mapping[str, Any]) -> dict[str, int]:
    """Task to the end of its changelogs, where a client without any of it tells."""
    found: dict[str, int] = {}
    for client in document["clients"]:
        has = {*client["previous_active"], *client["previous_standby"]}
        found |= {
            task: lag for task, lag in (client["lags"] or {}).items() if 0 <= lag < UNTOLD_LAG and task not in has
        }
    return found


def _restored(document: Mapping[str, Any]) -> dict[str, tuple[int, int]]:
    """Task to when an instance had restored it and how many records that took, of all its stores; the most of all."""
    sums: dict[tuple[str, str], dict[str, tuple[int, int]]] = {}
    for each in document["source"].get("restored", ()):
        sums.setdefault((each["task"], each["client"]), {})[each["store"]] = each["time_ms"], each["records"]
    found: dict[str, tuple[int, int]] = {}
    for (task, _), stores in sums.items():
        total = max(time_ms for time_ms, _ in stores.values()), sum(records for _, records in stores.values())
        found[task] = max(found.get(task, (0, -1)), total, key=lambda told: told[1])
    return found


def _lines(points: Mapping[str, list[tuple[int, int]]]) -> dict[str, tuple[float, float, float]]:
    numbers = {task: TaskId.parse(task).partition for task in points}
    lines = changelog_lines({numbers[task]: of for task, of in points.items()})
    return {task: lines[number] for task, number in numbers.items() if number in lines}


def _record_sizes(documents: Iterable[Mapping[str, Any]]) -> tuple[dict[str, float], list[str]]:
    """Task to its state in bytes, as the latest decision that has a workload tells."""
    sizes: dict[str, float] = {}
    for document in documents:
        for task, weighs in document.get("workload", {}).get("tasks", {}).items():
            if weighs.get("state_bytes"):
                sizes[task] = weighs["state_bytes"]
    if sizes:
        return sizes, []
    return {}, [
        "bytes of a record are not recorded: restored bytes are unknown without state_bytes of the tasks (--workload), "
        "and restoring takes the time of its records"
    ]
