"""The tasks of a part on Spark: each has consecutive blocks, because a task costs some 0.1 s of processors.

A block is scored as if it were alone, so rows do not depend on the tasks, nor on the cluster.
"""

from __future__ import annotations

import math

from assignor_lab.scoring.engine.blocks import BLOCK_ITEMS
from assignor_lab.scoring.engine.engine import BlockWork

__all__ = ["tasks_of"]

#: Tasks of a part for each core, so that no core waits long for the last ones.
TASKS_OF_CORE = 4
#: A task takes at most about so many seconds, if it has more than one block and the time of earlier parts is known.
TASK_SECONDS = 10.0


def tasks_of(work: BlockWork, cores: int | None) -> tuple[tuple[int, ...], ...]:
    """Numbers of the blocks of each task, in order; the most expensive task is the first one.

    Args:
        cores: ``None``: unknown, so each task has one block.
    """
    if cores is None or not work.costs:
        return tuple((block,) for block in work.blocks)
    items = work.part.items * len(work.blocks) / work.part.blocks
    count = max(TASKS_OF_CORE * cores, math.ceil(items / BLOCK_ITEMS), math.ceil((work.seconds or 0.0) / TASK_SECONDS))
    tasks: list[list[int]] = [[] for _ in range(min(count, len(work.blocks)))]
    total, before = sum(work.costs[block] for block in work.blocks), 0.0
    for block in sorted(work.blocks):
        middle = before + work.costs[block] / 2
        tasks[min(int(middle / total * len(tasks)), len(tasks) - 1)].append(block)
        before += work.costs[block]
    costs = {task[0]: sum(work.costs[block] for block in task) for task in tasks if task}
    return tuple(sorted((tuple(task) for task in tasks if task), key=lambda task: (-costs[task[0]], task)))
