"""Balance weighted by the load of tasks: Kafka counts tasks, users have heavy ones and light ones.

All figures need the scenario's ``workload``; if it lacks a task's value, the state has no figure.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from assignment_api.plugins import MetricPlugin
from assignor_lab.groups.metrics.definition import derived, metric, plugins_of
from assignor_lab.groups.streams.placement import StreamsPlacement, StreamsState, placement_of

__all__ = ["LONGEST_CATCH_UP_S", "SPIKE_METRICS", "WEIGHT_METRICS", "Weights", "has_weights", "weights_of"]

GROUP = "balance"
#: The spike: load of an average thread as a share of its capacity, factor of all input, and duration.
_USED, _FACTOR, _SPIKE_S = 0.25, 3, 600
#: Largest ``spike_catch_up_seconds``.
LONGEST_CATCH_UP_S = 3_600
_INDIVISIBLE = "A task cannot be divided: the owner of the heaviest one has at least its weight."


@attrs.frozen(eq=False)
class Weights:
    """The known values of all tasks, in their order; ``None``: not known of each task."""

    weight: list[float] | None
    input_bytes_per_s: list[float] | None
    state_bytes: list[float] | None
    restore_bytes_per_s: float | None


@derived
def weights_of(state: StreamsState) -> Weights | None:
    """The weights of the tasks; ``None`` if the scenario lacks them."""
    workload = state.application.workload()
    if workload is None:
        return None
    known = [workload.of(info.id) for info in state.infos]
    states = [each.state_bytes if is_stateful else 0.0 for each, is_stateful in zip(known, state.stateful, strict=True)]
    return Weights(
        weight=_complete([each.weight for each in known]),
        input_bytes_per_s=_complete([each.input_bytes_per_s for each in known]),
        state_bytes=_complete(states),
        restore_bytes_per_s=workload.restore_bytes_per_s,
    )


def has_weights(placement: StreamsPlacement) -> bool:
    return weights_of(placement.state) is not None


def _complete(figures: Sequence[float | None]) -> list[float] | None:
    complete = [figure for figure in figures if figure is not None]
    return complete if len(complete) == len(figures) else None


@metric(GROUP, "weight/thread", "lower", _INDIVISIBLE)
def active_weight_per_thread_range(placement: StreamsPlacement) -> float | None:
    """Difference between the busiest and the idlest process in the weight of active tasks for each of its threads."""
    loads = _weight_per_thread(placement)
    return None if loads is None else max(loads, default=0.0) - min(loads, default=0.0)


@metric(GROUP, "share", "lower", _INDIVISIBLE)
def active_weight_above_even_share(placement: StreamsPlacement) -> float | None:
    """How far the busiest process is above the mean weight of active tasks for each thread, as a share of the mean."""
    return _above_mean(_weight_per_thread(placement), placement.state.threads)


@metric("spike", "s", "lower", _INDIVISIBLE)
def spike_lag_seconds(placement: StreamsPlacement) -> float | None:
    """Seconds of work that wait on the busiest process after a spike.

    An average thread is used by a quarter before it. The input of all tasks is threefold for 10 minutes.
    """
    used = _used_before_spike(placement)
    return None if used is None else _waiting_seconds(used)


@metric("spike", "s", "lower", _INDIVISIBLE)
def spike_catch_up_seconds(placement: StreamsPlacement) -> float | None:
    """Seconds until the busiest process has worked off a spike, at most an hour.

    The spike is that of ``spike_lag_seconds``. A process that is overloaded without it never catches up.
    """
    used = _used_before_spike(placement)
    if used is None:
        return None
    return min(_waiting_seconds(used) / (1 - used), LONGEST_CATCH_UP_S) if used < 1 else float(LONGEST_CATCH_UP_S)


def _used_before_spike(placement: StreamsPlacement) -> float | None:
    """Load of the busiest process as a share of its capacity."""
    above = _above_mean(_weight_per_thread(placement), placement.state.threads)
    return None if above is None else _USED * (1 + above)


def _waiting_seconds(used: float) -> float:
    return _SPIKE_S * max(0.0, used * _FACTOR - 1)


@metric(GROUP, "share", "lower", _INDIVISIBLE)
def input_above_even_share(placement: StreamsPlacement) -> float | None:
    """How far the process that reads most is above the mean bytes for each thread, as a share of the mean.

    ``input_bytes_per_s`` of the active tasks.
    """
    weights = weights_of(placement.state)
    if weights is None or weights.input_bytes_per_s is None:
        return None
    threads = placement.state.threads
    return _above_mean(_per_thread(_held(placement, weights.input_bytes_per_s), threads), threads)


@metric(GROUP, "share", "lower", _INDIVISIBLE)
def state_above_even_share(placement: StreamsPlacement) -> float | None:
    """How far the process with most state on its disk is above the mean of the processes, as a share of the mean.

    ``state_bytes`` of stateful actives, standbys and warm-ups. A process counts as one, however many threads it has.
    """
    weights = weights_of(placement.state)
    if weights is None or weights.state_bytes is None:
        return None
    held = _held(placement, weights.state_bytes)
    for state_bytes, standbys in zip(weights.state_bytes, placement.standbys, strict=True):
        for client in standbys:
            held[client] += state_bytes
    return _above_mean(held, [1] * len(held))


@metric(GROUP, "weight", "lower", "Subtracted already: the heaviest task of the sub-topology, which cannot be divided.")
def subtopology_weight_above_unavoidable(placement: StreamsPlacement) -> float | None:
    """Weight of the worst sub-topology on the fullest process, above the process's share and one heaviest task.

    The share of a process is its part of the group's threads.
    """
    excesses = _subtopology_excesses(placement)
    return None if excesses is None else max(excesses, default=0.0)


@metric(GROUP, "sub-topologies", "lower", "Subtracted already, as in subtopology_weight_above_unavoidable.")
def subtopologies_skewed_by_weight(placement: StreamsPlacement) -> float | None:
    """Number of sub-topologies of which some process has more weight than its share and one heaviest task."""
    excesses = _subtopology_excesses(placement)
    return None if excesses is None else float(sum(1 for excess in excesses if excess > _ROUNDING))


#: Sums of weights in another order differ by this much at most.
_ROUNDING = 1e-9


@derived
def _subtopology_excesses(placement: StreamsPlacement) -> list[float] | None:
    weights = weights_of(placement.state)
    if weights is None or weights.weight is None:
        return None
    state = placement.state
    held = [[0.0] * len(state.threads) for _ in range(state.subtopologies)]
    heaviest, total = [0.0] * state.subtopologies, [0.0] * state.subtopologies
    for subtopology, owner, weight in zip(state.subtopology, placement.owner, weights.weight, strict=True):
        total[subtopology] += weight
        heaviest[subtopology] = max(heaviest[subtopology], weight)
        if owner >= 0:
            held[subtopology][owner] += weight
    excesses = []
    for whole, largest, parts in zip(total, heaviest, held, strict=True):
        share = whole / max(state.members, 1)
        above = [part - share * threads - largest for part, threads in zip(parts, state.threads, strict=True)]
        most = max(above, default=0.0)
        excesses.append(most if most > _ROUNDING else 0.0)
    return excesses


@derived
def _weight_per_thread(placement: StreamsPlacement) -> list[float] | None:
    weights = weights_of(placement.state)
    if weights is None or weights.weight is None:
        return None
    return _per_thread(_held(placement, weights.weight), placement.state.threads)


def _held(placement: StreamsPlacement, figures: Sequence[float]) -> list[float]:
    held = [0.0] * len(placement.state.threads)
    for owner, figure in zip(placement.owner, figures, strict=True):
        if owner >= 0:
            held[owner] += figure
    return held


def _per_thread(held: Sequence[float], threads: Sequence[int]) -> list[float]:
    return [figure / capacity for figure, capacity in zip(held, threads, strict=True)]


def _above_mean(loads: Sequence[float] | None, threads: Sequence[int]) -> float | None:
    """The largest load over the mean of all threads, less 1; without any load there is no share."""
    if loads is None or not loads:
        return None
    mean = sum(load * capacity for load, capacity in zip(loads, threads, strict=True)) / sum(threads)
    return max(loads) / mean - 1.0 if mean > 0 else None


WEIGHT_METRICS: tuple[MetricPlugin, ...] = plugins_of(
    (
        active_weight_per_thread_range,
        active_weight_above_even_share,
        input_above_even_share,
        state_above_even_share,
        subtopology_weight_above_unavoidable,
        subtopologies_skewed_by_weight,
    ),
    placement_of,
    "streams",
    has_weights,
)

#: Computed on request alone.
SPIKE_METRICS: tuple[MetricPlugin, ...] = plugins_of(
    (spike_lag_seconds, spike_catch_up_seconds), placement_of, "streams", has_weights
)
