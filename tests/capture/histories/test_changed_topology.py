"""An application that returns with another topology: each decision has the tasks of its time."""

from __future__ import annotations

from pathlib import Path

import attrs

from assignor_lab.capture.histories.recorded_generations import (
    RecordedGeneration,
    classic_decisions,
    recorded_generations,
)
from assignor_lab.capture.recorded.kept_records import read_kept_records
from tests.capture.histories.flight_folders import classic_folder


def generations(folder: Path) -> list[RecordedGeneration]:
    kept = read_kept_records(classic_folder(folder, "tagged") / "records.jsonl")
    unreadable: list[str] = []
    found = recorded_generations(kept, unreadable.append)
    assert unreadable == []
    return found


def without(generation: RecordedGeneration, subtopology: int) -> RecordedGeneration:
    assert generation.answer is not None
    members = []
    for each in generation.answer.members:
        assert each.assignment is not None
        assert each.subscription is not None
        given, said = each.assignment.info, each.subscription.info
        active = tuple(task for task in given.active_tasks if task.subtopology != subtopology)
        sums = {task: total for task, total in said.task_offset_sums.items() if task.subtopology != subtopology}
        members.append(
            attrs.evolve(
                each,
                assignment=attrs.evolve(each.assignment, info=attrs.evolve(given, active_tasks=active)),
                subscription=attrs.evolve(each.subscription, info=attrs.evolve(said, task_offset_sums=sums)),
            )
        )
    return attrs.evolve(generation, answer=attrs.evolve(generation.answer, members=tuple(members)))


def subtopologies(decided: list[RecordedGeneration]) -> list[set[str]]:
    return [{task["id"][0] for task in document["tasks"]} for document, _ in classic_decisions(decided, ())]


def told(decided: list[RecordedGeneration]) -> list[bool]:
    return ["observed" in document for document, _ in classic_decisions(decided, ())]


def test_tasks_that_are_new_are_in_no_decision_of_before(tmp_path: Path) -> None:
    decided = generations(tmp_path / "past")
    changed = [*(without(each, 2) for each in decided[:2]), *decided[2:]]
    assert subtopologies(changed) == [{"0", "1"}] * 2 + [{"0", "1", "2"}] * (len(decided) - 2)
    assert told(changed) == told(decided)


def test_tasks_that_are_gone_are_in_no_decision_afterwards(tmp_path: Path) -> None:
    decided = generations(tmp_path / "past")
    changed = [*decided[:-2], *(without(each, 2) for each in decided[-2:])]
    assert subtopologies(changed) == [{"0", "1", "2"}] * (len(decided) - 2) + [{"0", "1"}] * 2
    assert told(changed) == told(decided)
