"""Tasks of Spark have consecutive blocks of about equal cost; rows do not depend on them."""

from __future__ import annotations

from pathlib import Path

import pytest

from assignor_lab.groups.runner.terms import JobSpec
from assignor_lab.scoring.engine.blocks import BLOCK_ITEMS, BlockSpan, RunPart
from assignor_lab.scoring.engine.engine import BlockWork, RowsTarget
from assignor_lab.scoring.engine.exclusion import PenaltyRules
from assignor_lab.scoring.spark.tasks import TASK_SECONDS, TASKS_OF_CORE, tasks_of


def work_of(costs: dict[int, float], *, size: int = 4, seconds: float | None = None) -> BlockWork:
    """The blocks of a part that begins with block 10."""
    count = max(costs) - 9
    part = RunPart(0, (BlockSpan(10, count, (), 0, count * size, 0, "f", 0, size),))
    target = RowsTarget("file:///rows", Path("/rows"))
    return BlockWork(part, tuple(costs), JobSpec(("sticky",), ()), PenaltyRules(), {}, target, costs, seconds)


def even(count: int) -> dict[int, float]:
    return {10 + number: 2.0 for number in range(count)}


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 64, 75])
@pytest.mark.parametrize("cores", [1, 2, 3, 100])
def test_every_block_is_in_one_task_beside_its_neighbours(count: int, cores: int) -> None:
    tasks = tasks_of(work_of(even(count)), cores)
    assert sorted(block for task in tasks for block in task) == list(range(10, 10 + count))
    assert all(task == tuple(range(task[0], task[-1] + 1)) for task in tasks)
    assert len(tasks) == min(count, TASKS_OF_CORE * cores)
    assert max(map(len, tasks)) - min(map(len, tasks)) <= 1


def test_an_expensive_block_is_alone_and_first() -> None:
    tasks = tasks_of(work_of({**even(20), 17: 200.0}), 1)
    assert tasks[0] == (17,)


def test_missing_blocks_alone_are_in_tasks() -> None:
    missing = {11: 1.0, 12: 1.0, 30: 1.0, 31: 1.0, 55: 1.0, 60: 1.0, 61: 1.0, 63: 1.0}
    assert tasks_of(work_of(missing), 1) == ((11, 12), (30, 31), (55, 60), (61, 63))


def test_slow_blocks_have_tasks_of_their_own() -> None:
    assert len(tasks_of(work_of(even(64), seconds=10 * TASK_SECONDS), 1)) == 10
    assert len(tasks_of(work_of(even(64), seconds=1_000.0), 1)) == 64
    assert len(tasks_of(work_of(even(64), seconds=0.1), 1)) == TASKS_OF_CORE


def test_a_task_has_as_many_items_as_a_large_block() -> None:
    tasks = tasks_of(work_of(even(64), size=BLOCK_ITEMS // 4), 1)
    assert {len(task) for task in tasks} == {4}


def test_without_known_cores_or_costs_a_task_is_a_block() -> None:
    assert tasks_of(work_of(even(9)), None) == tuple((block,) for block in range(10, 19))
    work = work_of(even(9))
    uncosted = BlockWork(work.part, work.blocks, work.spec, work.rules, {}, work.target)
    assert tasks_of(uncosted, 1) == tuple((block,) for block in range(10, 19))
