"""Changelogs of a recorded group's tasks: their ends and their growth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from assignment_api.streams import TaskId
from assignor_lab.capture.edges.decision_input import RestoredStore
from assignor_lab.capture.edges.moments import DecisionMoment
from assignor_lab.capture.histories.changelog_lines import changelog_lines, mean_line
from assignor_lab.documents.wording import plural
from assignor_lab.simulation.streams.episode import Changelog

__all__ = ["SeenChangelogs", "seen_changelogs"]


@attrs.frozen
class SeenChangelogs:
    """Changelogs of a recorded group's tasks."""

    by_task: Mapping[str, Changelog]
    assumptions: tuple[str, ...]

    def in_memory(self, subtopologies: Iterable[str]) -> SeenChangelogs:
        """With all stores of these sub-topologies in memory."""
        names = set(subtopologies)
        changed = {
            task: attrs.evolve(each, in_memory_share=1.0) if task.rpartition("_")[0] in names else each
            for task, each in self.by_task.items()
        }
        if changed == self.by_task:
            return self
        sentence = (
            f"the stores of sub-topology {', '.join(sorted(names))} are in memory: a process reported nothing of a "
            "task that it had run before"
        )
        return SeenChangelogs(changed, (*self.assumptions, sentence))

    def growth(self, task: str, milliseconds: int) -> float | None:
        """Records gained in a time; ``None`` if unknown."""
        known = self.by_task.get(task)
        return None if known is None else known.records_per_s * milliseconds / 1000


def seen_changelogs(moments: Iterable[DecisionMoment], begin_ms: int) -> SeenChangelogs:
    """A client without any of a task lacks all of it, so its lag is the end of the changelogs.

    If every client has part of a task, that decision shows no end.
    """
    listed = list(moments)
    tasks = {task: is_logged for moment in listed for task, is_logged in moment.input.tasks.items()}
    logged = sorted(
        (task for task, is_logged in tasks.items() if is_logged), key=lambda task: TaskId.parse(task).sort_key()
    )
    seen: dict[str, dict[str, list[tuple[int, int]]]] = {}
    for moment in listed:
        for task, end in moment.input.changelog_ends.items():
            points = seen.setdefault(task.rpartition("_")[0], {}).setdefault(task, [])
            points.append((moment.time_ms - begin_ms, end))
    ended = {task for points in seen.values() for task in points}
    restored = 0
    for moment in listed:
        for task, (time_ms, held) in _restored(moment.input.restored).items():
            # A task whose process also had a copy is not restored.
            if held and task in tasks and task not in ended:
                points = seen.setdefault(task.rpartition("_")[0], {}).setdefault(task, [])
                restored += not points
                points.append((time_ms - begin_ms, held))
    lines = {subtopology: _lines(points) for subtopology, points in seen.items()}
    if not any(lines.values()):
        return SeenChangelogs({}, ())
    sizes, assumptions = _state_sizes(listed)
    found: dict[str, Changelog] = {}
    unseen = 0
    for task in logged:
        of_subtopology = lines.get(task.rpartition("_")[0], {})
        unseen += task not in of_subtopology
        line = of_subtopology.get(task) or mean_line(list(of_subtopology.values()))
        records, growth, backlog = line
        at_ms, size = sizes.get(task, (begin_ms, 0))
        total = records + backlog + growth * (at_ms - begin_ms) / 1000
        found[task] = Changelog(
            round(records), round(size / total, 3) if size and total else None, round(growth, 3), round(backlog)
        )
    if restored:
        assumptions.append(
            f"of {plural(restored, 'task')} the size of the changelogs is known from restorations only: it is a "
            "lower bound"
        )
    if unseen:
        assumptions.append(
            f"of {plural(unseen, 'task')} no decision shows where their changelogs end: they count as the mean of "
            "their sub-topology"
        )
    return SeenChangelogs(found, tuple(assumptions))


def _restored(stores: Iterable[RestoredStore]) -> dict[str, tuple[int, int]]:
    """Time and records of a task's largest logged restore, all stores together."""
    sums: dict[tuple[str, str], dict[str, tuple[int, int]]] = {}
    for each in stores:
        sums.setdefault((each.task, each.client), {})[each.store] = each.time_ms, each.records
    found: dict[str, tuple[int, int]] = {}
    for (task, _), of_stores in sums.items():
        total = max(time_ms for time_ms, _ in of_stores.values()), sum(records for _, records in of_stores.values())
        found[task] = max(found.get(task, (0, -1)), total, key=lambda found_at: found_at[1])
    return found


def _lines(points: Mapping[str, list[tuple[int, int]]]) -> dict[str, tuple[float, float, float]]:
    numbers = {task: TaskId.parse(task).partition for task in points}
    lines = changelog_lines({numbers[task]: of for task, of in points.items()})
    return {task: lines[number] for task, number in numbers.items() if number in lines}


def _state_sizes(moments: Iterable[DecisionMoment]) -> tuple[dict[str, tuple[int, float]], list[str]]:
    """Time and bytes, from the latest decision with the state's size."""
    sizes: dict[str, tuple[int, float]] = {}
    for moment in moments:
        sizes |= {task: (moment.time_ms, size) for task, size in moment.input.state_bytes.items()}
    if sizes:
        return sizes, []
    return {}, [
        "bytes of a record are not recorded: restored bytes are unknown without state_bytes of the tasks (--workload), "
        "and restoring takes the time of its records"
    ]
