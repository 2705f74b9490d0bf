"""Classes of equal tasks and pools of equal processes: they make a million tasks a small problem.

A class has equal previous and ready processes, weights and racks. It keeps tasks on named processes, or gives them to a
pool (one rack, one zone of tags), from which processes take them. In a pool only weights of loads matter: tasks with
equal ones (a *signature*) are one flow.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import attrs

from assignment_api.optimum.goals import LOADS, Goal
from assignment_api.optimum.problem import Problem

__all__ = ["Classes", "TaskClass", "classes_of"]


@attrs.frozen(eq=False)
class TaskClass:
    """Equal tasks.

    Args:
        named: Processes that ran them or are ready, ascending.
        named_costs: For each named process, the cost of each linear goal.
        pool_costs: For each pool the same, on other processes.
    """

    tasks: list[int]
    named: tuple[int, ...]
    signature: int
    named_costs: list[tuple[float, ...]]
    pool_costs: list[tuple[float, ...]]


@attrs.frozen(eq=False)
class Classes:
    """All classes of a problem for some goals."""

    classes: list[TaskClass]
    pools: list[list[int]]
    linear: tuple[Goal, ...]
    loads: tuple[Goal, ...]
    signatures: list[tuple[float, ...]]


def classes_of(problem: Problem, goals: Sequence[Goal]) -> Classes:
    """The classes for ``goals``, in time and memory linear in tasks and named processes."""
    linear = tuple(goal for goal in goals if goal.kind not in LOADS)
    loads = tuple({goal.weight: goal for goal in goals if goal.kind in LOADS}.values())
    kinds = {goal.kind for goal in linear}
    by_place: dict[tuple[int, ...], list[int]] = {}
    used = [problem.places(goal) for goal in linear if goal.kind in ("racks", "spread")]
    for process in range(len(problem.threads)):
        place = tuple([places[process] for places in used if places is not None])
        by_place.setdefault(place, []).append(process)
    pools = [by_place[place] for place in sorted(by_place)]
    nothing: Sequence[Any] = ((),) * problem.tasks
    before = problem.before if "moves" in kinds else nothing
    ready = problem.ready if "ready" in kinds else nothing
    facts: list[Sequence[Any]] = [before, ready]
    facts += [_fact(problem, goal, nothing) for goal in (*linear, *loads)]
    signatures: dict[tuple[float, ...], int] = {}
    made: list[TaskClass] = []
    for tasks in _equal_tasks([fact for fact in facts if fact is not nothing], problem.tasks):
        old, good, *rest = (fact[tasks[0]] for fact in facts)
        costs, weights = rest[: len(linear)], tuple([each if each != () else 1 for each in rest[len(linear) :]])
        named = tuple(sorted({*old, *good}))

        def cost(
            process: int, *, is_named: bool, costs: Sequence[Any] = costs, old: Any = old, good: Any = good
        ) -> tuple[float, ...]:
            found: list[float] = []
            for goal, fact in zip(linear, costs, strict=True):
                if goal.kind in ("racks", "spread"):
                    rack = problem.places(goal)
                    found.append(fact[rack[process]] if rack is not None else 0)
                else:
                    places = good if goal.kind == "ready" else old
                    weight = 1 if fact == () else fact
                    found.append(weight if places and not (is_named and process in places) else 0)
            return tuple(found)

        made.append(
            TaskClass(
                tasks,
                named,
                signatures.setdefault(weights, len(signatures)),
                [cost(process, is_named=True) for process in named],
                [cost(members[0], is_named=False) for members in pools],
            )
        )
    return Classes(made, pools, linear, loads, list(signatures))


def _equal_tasks(facts: Sequence[Sequence[Any]], tasks: int) -> Iterable[list[int]]:
    """Tasks with equal facts, in the order of their first ones."""
    if not facts:
        return [list(range(tasks))] if tasks else []
    members: defaultdict[Any, list[int]] = defaultdict(list)
    for task, key in enumerate(facts[0] if len(facts) == 1 else zip(*facts, strict=True)):
        members[key].append(task)
    return members.values()


def _fact(problem: Problem, goal: Goal, nothing: Sequence[Any]) -> Sequence[Any]:
    if goal.kind in ("racks", "spread"):
        return problem.far[goal.weight]
    weights = problem.weight(goal)
    return nothing if weights is None else weights
