"""Absence of tasks in recorded changes, compared with the recordings' READMEs."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from assignor_lab.capture.edges.timelines import read_timeline
from calibration.accuracy.truth import RecordedStep, arrival_gaps, recorded_steps

PLANS = Path(__file__).parents[1] / "data" / "captures" / "plans"
DOWNTIME = PLANS.parent / "downtime"

#: Run to its row in the README of the recordings: seconds away and worst task by step, generations or epochs.
TABLE: Mapping[str, tuple[list[float], list[float], int]] = {
    "P1": ([43.1, 42.7, 42.4], [10.8, 10.7, 10.7], 3),
    "P5": ([63.0, 10.7, 56.8], [16.6, 3.3, 6.3], 7),
    "P8": ([60.7], [6.2], 9),
    "P10": ([9.7, 20.0, 11.8], [2.2, 4.2, 3.0], 7),
}


def changed(folder: Path) -> list[RecordedStep]:
    return list(recorded_steps(read_timeline(folder / "timeline.json.gz")).values())[1:]


def lines(folder: Path) -> list[Any]:
    return [json.loads(line) for line in gzip.decompress((folder / "arrivals.jsonl.gz").read_bytes()).splitlines()]


@pytest.mark.parametrize("run", TABLE)
def test_the_truth_of_a_plan_is_the_row_of_its_readme(run: str) -> None:
    steps = changed(PLANS / run)
    assert [round(each.task_seconds, 1) for each in steps] == TABLE[run][0]
    assert [round(each.worst_task_seconds, 1) for each in steps] == TABLE[run][1]
    assert sum(each.rebalances for each in steps) == TABLE[run][2]


@pytest.mark.parametrize("run", TABLE)
def test_the_arrivals_show_the_same_absences(run: str) -> None:
    arrivals = lines(PLANS / run)
    for step in changed(PLANS / run):
        seen = arrival_gaps(arrivals, step.begin_ms, step.end_ms)
        # A gap between two buckets is shorter than the absence by at most a bucket at each end.
        for task, gaps in seen.items():
            assert sum(length for _, length in gaps) <= sum(length for _, length in step.away[task])
        for task, gaps in step.away.items():
            for begin, length in gaps:
                if length >= 700:
                    assert any(abs(at - begin) <= 200 and 0 <= length - of <= 200 for at, of in seen[task])


def test_a_worst_task_is_one_absence_and_not_the_sum() -> None:
    (step,) = changed(PLANS / "P8")
    longest = max(sum(length for _, length in gaps) for gaps in step.away.values())
    assert (step.worst_task_seconds, longest / 1000) == (6.2, 10.219)


@pytest.mark.parametrize(
    ("run", "phase", "seconds", "worst", "tasks"),
    [
        ("A", "rolling restart: d2", 43.4, 11.1, 4),
        ("D", "scale-out 2->3", 75.7, 17.8, 12),
        ("F", "kill -9 of d1", 150.0, 32.0, 6),
    ],
)
def test_the_truth_of_a_run_is_that_of_its_readme(
    run: str, phase: str, seconds: float, worst: float, tasks: int
) -> None:
    step = recorded_steps(read_timeline(DOWNTIME / run / "timeline.json.gz"))[phase]
    assert (round(step.task_seconds, 1), round(step.worst_task_seconds, 1), step.tasks) == (seconds, worst, tasks)
