"""A problem after one change of its group: an optimum was reached, a process joined or left, tasks were added.

The next optimum needs no new description of the group, which takes longer than the search: a change costs a pass over
the tasks. The result is the problem that :func:`~assignment_api.optimum.problem_of` makes of the changed group, so both
have the same optimum.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TypeVar

import attrs

from assignment_api.optimum.problem import Problem

__all__ = ["joined", "left", "settled", "with_tasks"]

T = TypeVar("T")


def settled(problem: Problem, owners: Sequence[int], stateful: Sequence[bool]) -> Problem:
    """The problem while each task runs on its owner; other copies are gone.

    Args:
        stateful: True for a task whose owner alone is ready.
    """
    alone = [(process,) for process in range(len(problem.threads))]
    before = [alone[owner] for owner in owners]
    ready = [place if has_state else () for place, has_state in zip(before, stateful, strict=True)]
    return attrs.evolve(problem, before=before, ready=ready)


def joined(problem: Problem, at: int, threads: int, rack: int | None = None, zone: int | None = None) -> Problem:
    """The problem with one more process, number ``at``; those from ``at`` on have the next number.

    Args:
        rack: Number of its rack, if the problem has racks.
        zone: Number of its zone, if the problem has zones.

    Raises:
        ValueError: if the number is impossible, or a rack or zone is missing or unexpected.
    """
    if not 0 <= at <= len(problem.threads):
        raise ValueError(f"process {at} of {len(problem.threads)}: expected 0 to {len(problem.threads)}")
    places = {"rack": (problem.rack, rack), "zone": (problem.zone, zone)}
    for name, (known, new) in places.items():
        if (known is None) != (new is None):
            raise ValueError(f"{name}: give it for each process of a problem, or for none")
    counts = list(problem.threads)
    counts.insert(at, threads)
    moved = _renumbered(problem, lambda process: process + (process >= at))
    return attrs.evolve(
        moved, threads=counts, rack=_inserted(problem.rack, at, rack), zone=_inserted(problem.zone, at, zone)
    )


def left(problem: Problem, process: int) -> Problem:
    """The problem without a process; those after it have the number before. Its tasks have no process.

    Raises:
        ValueError: if there is no such process.
    """
    if not 0 <= process < len(problem.threads):
        raise ValueError(f"process {process} of {len(problem.threads)}: expected 0 to {len(problem.threads) - 1}")
    counts = [each for number, each in enumerate(problem.threads) if number != process]
    moved = _renumbered(problem, lambda each: None if each == process else each - (each > process))
    return attrs.evolve(
        moved, threads=counts, rack=_removed(problem.rack, process), zone=_removed(problem.zone, process)
    )


def with_tasks(
    problem: Problem,
    at: Sequence[int],
    weights: Mapping[str, Sequence[float]] | None = None,
    far: Mapping[str, Sequence[tuple[float, ...]]] | None = None,
) -> Problem:
    """The problem with more tasks, which run nowhere yet.

    Args:
        at: The number of each new task, ascending.
        weights: Weight to that of each new task, for each weight of the problem.
        far: The same for costs of racks and zones.

    Raises:
        ValueError: if numbers are impossible, or facts of new tasks are missing.
    """
    total = problem.tasks + len(at)
    if any(first >= second for first, second in pairwise([-1, *at, total])):
        raise ValueError(f"numbers of new tasks: expected ascending ones from 0 to {total - 1}")
    return attrs.evolve(
        problem,
        before=_with(problem.before, at, [()] * len(at)),
        ready=_with(problem.ready, at, [()] * len(at)),
        weights=_with_facts(problem.weights, at, weights or {}),
        far=_with_facts(problem.far, at, far or {}),
    )


def _renumbered(problem: Problem, number: Callable[[int], int | None]) -> Problem:
    def moved(places: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
        # Millions of tasks have thousands of places.
        known = {each: tuple([new for new in map(number, each) if new is not None]) for each in set(map(tuple, places))}
        return [known[each] for each in map(tuple, places)]

    return attrs.evolve(problem, before=moved(problem.before), ready=moved(problem.ready))


def _inserted(places: Sequence[int] | None, at: int, new: int | None) -> list[int] | None:
    return None if places is None or new is None else [*places[:at], new, *places[at:]]


def _removed(places: Sequence[int] | None, process: int) -> list[int] | None:
    return None if places is None else [*places[:process], *places[process + 1 :]]


def _with_facts(
    known: Mapping[str, Sequence[T]], at: Sequence[int], new: Mapping[str, Sequence[T]]
) -> dict[str, list[T]]:
    if set(known) != set(new) or any(len(values) != len(at) for values in new.values()):
        raise ValueError(f"facts of {len(at)} new tasks: expected {', '.join(sorted(known)) or 'none'} of each")
    return {name: _with(values, at, new[name]) for name, values in known.items()}


def _with(values: Sequence[T], at: Sequence[int], new: Sequence[T]) -> list[T]:
    """The values with new ones, whose numbers are ``at`` in the result."""
    merged: list[T] = []
    taken = 0
    for number, value in zip(at, new, strict=True):
        old = number - len(merged)
        merged += values[taken : taken + old]
        taken += old
        merged.append(value)
    merged += values[taken:]
    return merged
