"""Balance: the distribution of work over the group."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import add, sub, truediv
from typing import NamedTuple, TypeVar

from assignor_lab.groups.metrics.definition import MetricDefinition, derived, metric
from assignor_lab.groups.metrics.processes import GroupProcesses, MeasuredTasks, OnProcesses

__all__ = ["GROUP", "ON_PROCESSES", "OnMembers", "per_member", "stateless_of", "total_of"]

GROUP = "balance"

V = TypeVar("V")
_UNDIVIDED = "Less than one task for each thread, where the tasks do not divide evenly."


# --- members --------------------------------------------------------------------------------------


class OnMembers(NamedTuple):
    """Distribution of tasks of one kind over the members."""

    most: int = 0
    fewest: int = 0
    tasks: int = 0
    members: int = 0

    @property
    def above_even_share(self) -> int:
        """Tasks of the busiest member above ``ceil(tasks / members)``; never negative."""
        return max(self.most + (-self.tasks // self.members), 0) if self.members else 0


def per_member(
    kinds: Mapping[str, tuple[str, Callable[[V], OnMembers]]],
    undivided: str = "One task, where the tasks do not divide evenly among the members.",
    even: str = "None: an even share is rounded up to whole tasks.",
) -> tuple[MetricDefinition[V], ...]:
    """Differences between members, then the busiest member's tasks above an even share, each for all kinds of tasks."""
    differences = tuple(
        MetricDefinition(
            _difference(loads),
            f"{kind}_tasks_per_member_range",
            GROUP,
            "tasks",
            "lower",
            f"Difference between the busiest and the idlest member (thread) in {words}.",
            undivided,
        )
        for kind, (words, loads) in kinds.items()
    )
    above = tuple(
        MetricDefinition(
            _above_even_share(loads),
            f"{kind}_tasks_above_even_share",
            GROUP,
            "tasks",
            "lower",
            f"How far the busiest member (thread) is above an even share of the {words}.",
            even,
        )
        for kind, (words, loads) in kinds.items()
    )
    return differences + above


def _difference(loads: Callable[[V], OnMembers]) -> Callable[[V], float]:
    def figure(placement: V) -> float:
        """Tasks of the busiest member minus tasks of the idlest one."""
        found = loads(placement)
        return float(found.most - found.fewest)

    return figure


def _above_even_share(loads: Callable[[V], OnMembers]) -> Callable[[V], float]:
    def figure(placement: V) -> float:
        """Tasks of the busiest member above ``ceil(tasks / members)``; never negative."""
        return float(loads(placement).above_even_share)

    return figure


# --- processes ------------------------------------------------------------------------------------


@derived
def stateless_of(placement: OnProcesses) -> list[int]:
    """Stateless active tasks of each process."""
    return list(map(sub, placement.active, placement.stateful))


@derived
def total_of(placement: OnProcesses) -> list[int]:
    """Tasks of each process, standbys included."""
    return list(map(add, placement.active, placement.standby))


#: Kind of task to its wording, and to the number of such tasks of each process.
_KINDS: dict[str, tuple[str, Callable[[OnProcesses], Sequence[int]]]] = {
    "active": ("active tasks", lambda placement: placement.active),
    "stateful": ("active tasks with state", lambda placement: placement.stateful),
    "stateless": ("active tasks without state", stateless_of),
    "total": ("tasks, standbys included", total_of),
}


def _per_thread(counts: Callable[[OnProcesses], Sequence[int]]) -> Callable[[OnProcesses], float]:
    def figure(placement: OnProcesses) -> float:
        """Tasks divided by threads, of the busiest process minus the idlest one."""
        return _range_of_loads(counts(placement), placement.state.threads)

    return figure


def _range_of_loads(counts: Sequence[int], threads: Sequence[int]) -> float:
    if not counts:
        return 0.0
    loads: list[float] = list(map(truediv, counts, threads))
    return max(loads) - min(loads)


_PER_THREAD: tuple[MetricDefinition[OnProcesses], ...] = tuple(
    MetricDefinition(
        _per_thread(counts),
        f"{kind}_tasks_per_thread_range",
        GROUP,
        "tasks/thread",
        "lower",
        f"Difference between the busiest and the idlest process in {words} for each of its threads.",
        _UNDIVIDED,
    )
    for kind, (words, counts) in _KINDS.items()
)


@metric(GROUP, "tasks/thread", "lower", _UNDIVIDED)
def process_load_excess(placement: OnProcesses) -> float:
    """How far the busiest process is above the mean number of tasks for each thread, standbys included.

    ``max(tasks / threads)`` over the processes, minus all tasks divided by all threads.
    """
    total = total_of(placement)
    if not total:
        return 0.0
    busiest: float = max(map(truediv, total, placement.state.threads))
    return busiest - sum(total) / placement.state.members


@metric(GROUP, "tasks/thread", "lower", "Less than one standby for each thread, where they do not divide evenly.")
def standby_load_per_process_range(placement: OnProcesses) -> float:
    """Difference between the processes with most and with fewest standbys for each of their threads."""
    return _range_of_loads(placement.standby, placement.state.threads)


@metric(GROUP, "tasks", "lower", "Subtracted already: processes get whole tasks, in proportion to their threads.")
def subtopology_skew_above_unavoidable(placement: OnProcesses) -> float:
    """How unevenly the worst sub-topology's active tasks lie on the processes, beyond what rounding forces.

    The share of a process is the sub-topology's tasks times its part of the threads. The skew is the
    fullest process's excess over its share rounded up, plus the emptiest one's deficit below its share rounded down.
    With equal threads this is (max - min), less one if the tasks do not divide evenly.
    """
    return float(max(_skews(placement), default=0))


@metric(GROUP, "sub-topologies", "lower", "Subtracted already, as in subtopology_skew_above_unavoidable.")
def subtopologies_skewed(placement: OnProcesses) -> float:
    """Number of sub-topologies that lie more unevenly on the processes than rounding forces."""
    return float(len([skew for skew in _skews(placement) if skew > 0]))


@derived
def _skews(placement: OnProcesses) -> list[int]:
    processes, shares = len(placement.state.threads), _shares(placement.state)
    held = [[0] * processes for _ in shares]
    for subtopology, owner in zip(placement.state.topology.subtopology, placement.owner, strict=True):
        if owner >= 0:
            held[subtopology][owner] += 1
    skews = []
    for counts, (down, up) in zip(held, shares, strict=True):
        above = max(map(sub, counts, up), default=0)
        below = max(map(sub, down, counts), default=0)
        skews.append((max(0, above)) + (max(0, below)))
    return skews


@derived
def _shares(state: GroupProcesses) -> list[tuple[list[int], list[int]]]:
    threads, members = state.threads, state.members
    return [
        (
            [tasks * capacity // members for capacity in threads],
            [-(-tasks * capacity // members) for capacity in threads],
        )
        for tasks in _subtopology_sizes(state.topology)
    ]


@derived
def _subtopology_sizes(topology: MeasuredTasks) -> list[int]:
    sizes = [0] * topology.subtopologies
    for subtopology in topology.subtopology:
        sizes[subtopology] += 1
    return sizes


#: The figures of any kind of group; figures by member come before them (:func:`per_member`).
ON_PROCESSES: tuple[MetricDefinition[OnProcesses], ...] = (
    *_PER_THREAD,
    process_load_excess,
    standby_load_per_process_range,
    subtopology_skew_above_unavoidable,
    subtopologies_skewed,
)
