"""Balance: how evenly work lies on the group.

A *member* is one consumer of the group, which in Kafka Streams is one thread. Kinds of tasks are counted apart: all
active ones, stateful and stateless active ones, and the total with standbys (warm-ups included).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from operator import add, sub, truediv
from typing import NamedTuple, TypeVar

from assignor_lab.groups.metrics.definition import Definition, derived, metric
from assignor_lab.groups.metrics.processes import OnProcesses, Processes, Tasks

__all__ = ["GROUP", "ON_PROCESSES", "OnMembers", "per_member", "stateless_of", "total_of"]

GROUP = "balance"

V = TypeVar("V")
_UNDIVIDED = "Less than one task for each thread, where the tasks do not divide evenly."


# --- members --------------------------------------------------------------------------------------


class OnMembers(NamedTuple):
    """How tasks of one kind lie on the members.

    Args:
        most: Tasks of the busiest member.
        fewest: Tasks of the idlest one.
        tasks: Tasks of all.
        members: How many members there are.
    """

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
) -> tuple[Definition[V], ...]:
    """Differences between members, then what the busiest has above an even share, each for all kinds of tasks.

    Args:
        kinds: Name of the kind to words for it, and to how such tasks lie on the members.
        undivided: What cannot be avoided of the former.
        even: What cannot be avoided of the latter.
    """
    differences = tuple(
        Definition(
            _difference(loads),
            f"{kind}_tasks_per_member",
            GROUP,
            "tasks",
            "lower",
            f"Difference between the busiest and the idlest member (thread) in {words}.",
            undivided,
        )
        for kind, (words, loads) in kinds.items()
    )
    above = tuple(
        Definition(
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


#: Kind of task to words for it, and to the number of such tasks of each process.
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


_PER_THREAD: tuple[Definition[OnProcesses], ...] = tuple(
    Definition(
        _per_thread(counts),
        f"{kind}_tasks_per_thread",
        GROUP,
        "tasks/thread",
        "lower",
        f"Difference between the busiest and the idlest process in {words} for each of its threads.",
        _UNDIVIDED,
    )
    for kind, (words, counts) in _KINDS.items()
)


@metric(GROUP, "tasks/thread", "lower", _UNDIVIDED)
def process_load(placement: OnProcesses) -> float:
    """How far the busiest process is above the mean number of tasks for each thread, standbys included.

    ``max(tasks / threads)`` over the processes, minus all tasks divided by all threads.
    """
    total = total_of(placement)
    if not total:
        return 0.0
    busiest: float = max(map(truediv, total, placement.state.threads))
    return busiest - sum(total) / placement.state.members


@metric(GROUP, "tasks/thread", "lower", "Less than one standby for each thread, where they do not divide evenly.")
def standby_load_per_process(placement: OnProcesses) -> float:
    """Difference between the processes with most and with fewest standbys for each of their threads."""
    return _range_of_loads(placement.standby, placement.state.threads)


@metric(GROUP, "tasks", "lower", "Subtracted already: processes get whole tasks, in proportion to their threads.")
def subtopology_skew_above_unavoidable(placement: OnProcesses) -> float:
    """How unevenly the worst sub-topology's active tasks lie on the processes, beyond what rounding forces.

    The share of a process is the sub-topology's tasks times its part of the threads. The skew is what the fullest
    process has above its share rounded up, plus what the emptiest lacks of its share rounded down. With equal threads
    this is (max - min), less one where the tasks do not divide evenly.
    """
    return float(max(_skews(placement), default=0))


@metric(GROUP, "sub-topologies", "lower", "Subtracted already, as in subtopology_skew_above_unavoidable.")
def subtopologies_skewed(placement: OnProcesses) -> float:
    """Number of sub-topologies that lie more unevenly on the processes than rounding forces."""
    return float(len([skew for skew in _skews(placement) if skew > 0]))


@derived
def _skews(placement: OnProcesses) -> list[int]:
    held = Counter(zip(placement.state.topology.subtopology, placement.owner, strict=True)).get
    processes = range(len(placement.state.threads))
    skews = []
    for subtopology, (down, up) in enumerate(_shares(placement.state)):
        counts = [held((subtopology, process), 0) for process in processes]
        above = max(map(sub, counts, up), default=0)
        below = max(map(sub, down, counts), default=0)
        skews.append((max(0, above)) + (max(0, below)))
    return skews


@derived
def _shares(state: Processes) -> list[tuple[list[int], list[int]]]:
    """Of each sub-topology the tasks that are each process's share by its threads, rounded down and rounded up."""
    threads, members = state.threads, state.members
    return [
        (
            [tasks * capacity // members for capacity in threads],
            [-(-tasks * capacity // members) for capacity in threads],
        )
        for tasks in _subtopology_sizes(state.topology)
    ]


@derived
def _subtopology_sizes(topology: Tasks) -> list[int]:
    sizes = [0] * topology.subtopologies
    for subtopology in topology.subtopology:
        sizes[subtopology] += 1
    return sizes


#: What any kind of group has; figures by member come before them (:func:`per_member`).
ON_PROCESSES: tuple[Definition[OnProcesses], ...] = (
    *_PER_THREAD,
    process_load,
    standby_load_per_process,
    subtopology_skew_above_unavoidable,
    subtopologies_skewed,
)
