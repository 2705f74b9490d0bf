"""Plays of a scaling, of any kind of group: its cost, and the thread of each task over time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Protocol

import attrs

from assignor_lab.planning.instances import new_names
from assignor_lab.planning.making import PlanError
from assignor_lab.planning.measured import PlayedPlan
from assignor_lab.planning.plans import CALM, READY, Action, Plan, Step

__all__ = [
    "Thread", "ScaledGroup", "ScalingPlay", "check_begun", "plan_through", "seconds_since", "tasks_by_instance",
]  # fmt: skip

#: An instance, and the number of its thread.
Thread = tuple[str, int]


@attrs.frozen
class ScalingPlay:
    """One play of a scaling.

    Args:
        cost: Its cost; the last step is the scaling.
        begin_s: The begin of the scaling, in seconds of ``cost``.
        owned: Task to its runs: begin and end in seconds after the begin of the scaling, and the thread.
        threads: Threads of the group in the end.
    """

    cost: PlayedPlan
    begin_s: float
    owned: Mapping[str, Sequence[tuple[float, float, Thread]]]
    threads: int

    def placed(self, *, at_end: bool) -> dict[str, Thread]:
        """Task to its thread, before the scaling or at the end.

        A task that is away at that moment has its last thread, or its next one.
        """
        found: dict[str, Thread] = {}
        for task, runs in self.owned.items():
            for begin, end, thread in runs:
                if end == inf if at_end else begin <= 0 < end:
                    found[task] = thread
                    break
            else:
                before = [thread for begin, _, thread in runs if at_end or begin <= 0]
                if before or runs:
                    found[task] = before[-1] if before else runs[0][2]
        return found


class ScaledGroup(Protocol):
    """A group whose scalings can be played.

    Args:
        unit: One of its members, as sentences name it.
        task: One of its tasks, likewise.
        thread: What runs tasks one after the other, likewise.
        remedy: The change that gives the group more tasks, as a part of a sentence.
        threads: Threads of the present instances.
        reads: Task to the partitions that it reads; empty: unknown.
        input_bytes_per_s: Task to its input; empty: unknown.
        lags: Task to the waiting records; empty: unknown.
        commit_s: Seconds between two commits, as far as a scaler sees lag late.
    """

    @property
    def unit(self) -> str: ...

    @property
    def task(self) -> str: ...

    @property
    def thread(self) -> str: ...

    @property
    def remedy(self) -> str: ...

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def tasks(self) -> tuple[str, ...]: ...

    @property
    def threads(self) -> int: ...

    @property
    def reads(self) -> Mapping[str, Sequence[tuple[str, int]]]: ...

    @property
    def input_bytes_per_s(self) -> Mapping[str, float]: ...

    @property
    def lags(self) -> Mapping[str, float]: ...

    @property
    def commit_s(self) -> float: ...

    def played(self, counts: Sequence[int], seed: str) -> ScalingPlay:
        """One play: the group scales to each count in turn, and the last one counts."""


def plan_through(present: Sequence[str], counts: Sequence[int], plan_to: Callable[[int], Plan]) -> Plan:
    """The plan that scales a group to each count in turn; before the last step the group is at rest.

    Args:
        plan_to: The usual plan from the present group to a count.
    """
    first = plan_to(counts[0]) if counts[0] != len(present) else None
    steps = [] if first is None else list(first.steps)
    names = list(present)
    for step in steps:
        names = _after(names, step)
    for count in counts[1:]:
        following = _step(present, names, count, plan_to)
        steps[-1:] = [attrs.evolve(steps[-1], wait=CALM)] if steps else []
        steps.append(following)
        names = _after(names, following)
    made = first or plan_to(counts[-1])
    steps[-1] = attrs.evolve(steps[-1], wait=READY)
    return attrs.evolve(made, steps=tuple(steps))


def check_begun(plan: Plan, begun: int, count: int, failed: str | None) -> None:
    """Refuses a play whose last step, the scaling to ``count``, did not begin.

    Args:
        begun: Number of the steps that began.
        failed: The step that was not over.

    Raises:
        PlanError: with that step.
    """
    if begun < len(plan.steps):
        raise PlanError(f"the group is not ready to scale to {count}: step {failed} is not over in time")


def seconds_since(moment_ms: int, begin_ms: int, end_ms: int | None) -> tuple[float, float]:
    """Begin and end of a run in seconds after a moment; a run without an end goes on."""
    return (begin_ms - moment_ms) / 1000, inf if end_ms is None else (end_ms - moment_ms) / 1000


def _after(names: Sequence[str], step: Step) -> list[str]:
    gone = {action.name for action in step.actions if action.type == "remove"}
    return [name for name in names if name not in gone] + [
        action.name for action in step.actions if action.type == "add"
    ]


def _step(present: Sequence[str], names: Sequence[str], count: int, plan_to: Callable[[int], Plan]) -> Step:
    if count > len(names):
        details = plan_to(len(present) + 1).steps[0].actions[0].details
        fresh = _fresh(names, present, count - len(names))
        return Step(", ".join(fresh), tuple(Action("add", name, details) for name in fresh))
    # The youngest instances leave first, as in a StatefulSet.
    leaving = list(names)[count:]
    usual = plan_to(len(present) - 1).steps[0].actions[0] if len(present) > 1 else Action("remove", "")
    return Step(", ".join(leaving), tuple(attrs.evolve(usual, name=name) for name in leaving))


def _fresh(names: Sequence[str], present: Sequence[str], count: int) -> list[str]:
    known = {*names, *present}
    found = new_names(sorted(known), count)
    number = 0
    while known & set(found):
        number += 1
        found = [f"scaled-{number + place}" for place in range(count)]
    return found


def tasks_by_instance(placed: Mapping[str, Thread]) -> Counter[str]:
    return Counter(instance for instance, _ in placed.values())
