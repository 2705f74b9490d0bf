"""Balance: how evenly work lies on the group.

A *member* is one consumer of the group, which in Kafka Streams is one thread. A process spreads its tasks evenly over
its threads (reference 6.6), so a process with ``n`` tasks and ``t`` threads has members with ``floor(n / t)`` and
``ceil(n / t)`` tasks. Four kinds of tasks are counted: all active ones, stateful and stateless active ones apart,
and the total with standbys (warm-ups included).
"""

from __future__ import annotations

from collections.abc import Callable

from assignment_api.plugins import MetricPlugin
from assignor_lab.groups.streams.metrics.definition import Definition, as_metric, metric
from assignor_lab.groups.streams.placement import Placement, Topology, derived

__all__ = ["BALANCE_METRICS"]

GROUP = "balance"


@derived
def _stateless(placement: Placement) -> list[int]:
    return [active - stateful for active, stateful in zip(placement.active, placement.stateful, strict=True)]


@derived
def _total(placement: Placement) -> list[int]:
    return [active + standby for active, standby in zip(placement.active, placement.standby, strict=True)]


#: Kind of task to words for it, and to the number of such tasks of each client.
_KINDS: dict[str, tuple[str, Callable[[Placement], list[int]]]] = {
    "active": ("active tasks", lambda placement: placement.active),
    "stateful": ("active tasks with state", lambda placement: placement.stateful),
    "stateless": ("active tasks without state", _stateless),
    "total": ("tasks, standbys included", _total),
}


def _per_member(counts: Callable[[Placement], list[int]]) -> Definition:
    def compute(placement: Placement) -> float:
        """Tasks of the busiest member minus tasks of the idlest one."""
        pairs = list(zip(counts(placement), placement.state.threads, strict=True))
        most = max((-(-count // threads) for count, threads in pairs), default=0)
        return float(most - min((count // threads for count, threads in pairs), default=0))

    return compute


def _above_even_share(counts: Callable[[Placement], list[int]]) -> Definition:
    def compute(placement: Placement) -> float:
        """Tasks of the busiest member above ``ceil(tasks / members)``; never negative."""
        held, threads = counts(placement), placement.state.threads
        if not held:
            return 0.0
        most = max(-(-count // capacity) for count, capacity in zip(held, threads, strict=True))
        return float(max(most + (-sum(held) // placement.state.members), 0))

    return compute


def _per_thread(counts: Callable[[Placement], list[int]]) -> Definition:
    def compute(placement: Placement) -> float:
        """Tasks divided by threads, of the busiest process minus the idlest one."""
        return _range_of_loads(counts(placement), placement.state.threads)

    return compute


def _range_of_loads(counts: list[int], threads: list[int]) -> float:
    loads = [count / capacity for count, capacity in zip(counts, threads, strict=True)]
    return max(loads, default=0.0) - min(loads, default=0.0)


def _of_all_kinds() -> tuple[MetricPlugin, ...]:
    per_member = tuple(
        as_metric(
            _per_member(counts),
            f"{kind}_tasks_per_member",
            GROUP,
            "tasks",
            "lower",
            f"Difference between the busiest and the idlest member (thread) in {words}.",
            "One task, where the tasks do not divide evenly among the members.",
        )
        for kind, (words, counts) in _KINDS.items()
    )
    above_even_share = tuple(
        as_metric(
            _above_even_share(counts),
            f"{kind}_tasks_above_even_share",
            GROUP,
            "tasks",
            "lower",
            f"How far the busiest member (thread) is above an even share of the {words}.",
            "None: an even share is rounded up to whole tasks.",
        )
        for kind, (words, counts) in _KINDS.items()
    )
    per_thread = tuple(
        as_metric(
            _per_thread(counts),
            f"{kind}_tasks_per_thread",
            GROUP,
            "tasks/thread",
            "lower",
            f"Difference between the busiest and the idlest process in {words} for each of its threads.",
            "Less than one task for each thread, where the tasks do not divide evenly.",
        )
        for kind, (words, counts) in _KINDS.items()
    )
    return per_member + above_even_share + per_thread


@metric(GROUP, "tasks/thread", "lower", "Less than one task for each thread, where the tasks do not divide evenly.")
def process_load(placement: Placement) -> float:
    """How far the busiest process is above the mean number of tasks for each thread, standbys included.

    ``max(tasks / threads)`` over the processes, minus all tasks divided by all threads.
    """
    total = _total(placement)
    if not total:
        return 0.0
    busiest = max(count / capacity for count, capacity in zip(total, placement.state.threads, strict=True))
    return busiest - sum(total) / placement.state.members


@metric(GROUP, "tasks/thread", "lower", "Less than one standby for each thread, where they do not divide evenly.")
def standby_load_per_process(placement: Placement) -> float:
    """Difference between the processes with most and with fewest standbys for each of their threads."""
    return _range_of_loads(placement.standby, placement.state.threads)


@metric(GROUP, "tasks", "lower", "Subtracted already: processes get whole tasks, in proportion to their threads.")
def subtopology_skew_above_unavoidable(placement: Placement) -> float:
    """How unevenly the worst sub-topology's active tasks lie on the processes, beyond what rounding forces.

    The share of a process is the sub-topology's tasks times its part of the threads. The skew is what the fullest
    process has above its share rounded up, plus what the emptiest lacks of its share rounded down. With equal threads
    this is (max - min), less one where the tasks do not divide evenly.
    """
    return float(max(_skews(placement), default=0))


@metric(GROUP, "sub-topologies", "lower", "Subtracted already, as in subtopology_skew_above_unavoidable.")
def subtopologies_skewed(placement: Placement) -> float:
    """Number of sub-topologies that lie more unevenly on the processes than rounding forces."""
    return float(sum(1 for skew in _skews(placement) if skew > 0))


@derived
def _skews(placement: Placement) -> list[int]:
    state = placement.state
    held = [[0] * len(state.threads) for _ in range(state.subtopologies)]
    for subtopology, owner in zip(state.subtopology, placement.owner, strict=True):
        if owner >= 0:
            held[subtopology][owner] += 1
    skews = []
    for tasks, counts in zip(_subtopology_sizes(state.topology), held, strict=True):
        above = below = 0
        for count, threads in zip(counts, state.threads, strict=True):
            above = max(above, count + (-tasks * threads // state.members))
            below = max(below, tasks * threads // state.members - count)
        skews.append(above + below)
    return skews


@derived
def _subtopology_sizes(topology: Topology) -> list[int]:
    sizes = [0] * topology.subtopologies
    for subtopology in topology.subtopology:
        sizes[subtopology] += 1
    return sizes


BALANCE_METRICS: tuple[MetricPlugin, ...] = (
    *_of_all_kinds(),
    process_load,
    standby_load_per_process,
    subtopology_skew_above_unavoidable,
    subtopologies_skewed,
)
