"""A good placement without a solver, for weights beyond exact solutions and spent budgets.

Time: about tasks x log(tasks), and a step for each improvement.
"""

from __future__ import annotations

import heapq
import math
from bisect import bisect_left, insort
from collections.abc import Sequence

from assignment_api.optimum.goals import LOADS, Goal
from assignment_api.optimum.problem import Problem

__all__ = ["near"]


#: Largest loads at which tasks stay, as multiples of an even one.
_CAPS = (1.0, 1.005, 1.02, 1.05, math.inf)


def near(problem: Problem, goals: Sequence[Goal]) -> list[int]:
    """The process of each task.

    Tasks stay, or go to a ready process if ``ready`` comes before the loads. Above an even load tasks leave, the
    lightest ones, unless ``moves`` is more important. Others go to the least loaded process, the heaviest first. Then
    tasks move while ``balance`` improves.
    """
    kinds = [goal.kind for goal in goals]
    load_goal = next((goal for goal in goals if goal.kind in LOADS), Goal("balance"))
    first_load = next((number for number, kind in enumerate(kinds) if kind in LOADS), len(kinds))
    is_strict = "ready" in kinds[:first_load]
    may_move = "moves" not in kinds[:first_load] and first_load < len(kinds)
    weights = problem.weight(load_goal) or [1] * problem.tasks
    even = sum(weights) / max(sum(problem.threads), 1)
    heaviest = sorted(range(problem.tasks), key=lambda task: (-weights[task], task))
    best: tuple[float, int, list[int]] | None = None
    for cap in _CAPS if may_move else (math.inf,):
        load: list[float] = [0] * len(problem.threads)
        owners = _placed(problem, weights, load, heaviest, even * cap, is_strict=is_strict)
        if may_move:
            _level(problem, weights, load, owners, is_strict=is_strict)
        worst = max(each / threads for each, threads in zip(load, problem.threads, strict=True))
        moved = sum(bool(old) and owner not in old for owner, old in zip(owners, problem.before, strict=True))
        if best is None or (worst, moved) < best[:2]:
            best = worst, moved, owners
    assert best is not None
    return best[2]


def _placed(
    problem: Problem,
    weights: Sequence[float],
    load: list[float],
    heaviest: Sequence[int],
    cap: float,
    *,
    is_strict: bool,
) -> list[int]:
    threads = problem.threads
    owners = [-1] * problem.tasks
    waiting: list[int] = []
    for task in heaviest:
        before, weight = problem.before[task], weights[task]
        allowed = problem.ready[task] if is_strict else ()
        if allowed:
            home = min(
                allowed,
                key=lambda process: (process not in before, (load[process] + weight) / threads[process], process),
            )
        else:
            homes = (process for process in before if load[process] + weight <= cap * threads[process])
            home = next(homes, -1)
        if home < 0:
            waiting.append(task)
        else:
            owners[task] = home
            load[home] += weight
    heap = [(load[process] / threads[process], process) for process in range(len(threads))]
    heapq.heapify(heap)
    for task in waiting:
        _, process = heap[0]
        owners[task] = process
        load[process] += weights[task]
        heapq.heapreplace(heap, (load[process] / threads[process], process))
    return owners


def _level(
    problem: Problem, weights: Sequence[float], load: list[float], owners: list[int], *, is_strict: bool
) -> None:
    threads = problem.threads
    movable: list[list[tuple[float, bool, int]]] = [[] for _ in threads]
    for task, (owner, before) in enumerate(zip(owners, problem.before, strict=True)):
        if not (is_strict and problem.ready[task]) and weights[task] > 0:
            movable[owner].append((weights[task], owner not in before, task))
    for tasks in movable:
        tasks.sort()
    highest = [(-load[process] / threads[process], process) for process in range(len(threads))]
    lowest = [(load[process] / threads[process], process) for process in range(len(threads))]
    heapq.heapify(highest)
    heapq.heapify(lowest)
    for _ in range(4 * problem.tasks):
        while -highest[0][0] != load[highest[0][1]] / threads[highest[0][1]]:
            heapq.heapreplace(highest, (-load[highest[0][1]] / threads[highest[0][1]], highest[0][1]))
        while lowest[0][0] != load[lowest[0][1]] / threads[lowest[0][1]]:
            heapq.heapreplace(lowest, (load[lowest[0][1]] / threads[lowest[0][1]], lowest[0][1]))
        giver, taker = highest[0][1], lowest[0][1]
        # Largest task that keeps the taker below the giver's load.
        room = load[giver] / threads[giver] * threads[taker] - load[taker]
        place = bisect_left(movable[giver], (room,)) - 1
        if giver == taker or place < 0:
            return
        weight, _, task = movable[giver].pop(place)
        load[giver] -= weight
        load[taker] += weight
        owners[task] = taker
        insort(movable[taker], (weight, taker not in problem.before[task], task))
        heapq.heapreplace(highest, (-load[giver] / threads[giver], giver))
        heapq.heappush(highest, (-load[taker] / threads[taker], taker))
        heapq.heapreplace(lowest, (load[taker] / threads[taker], taker))
        heapq.heappush(lowest, (load[giver] / threads[giver], giver))
