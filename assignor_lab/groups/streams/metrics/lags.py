"""Lags: a copy of state that lags is not state. The amount to restore, by the lags that Kafka's leader computed.

KIP-441: a client is *caught up* with a task that it runs, or of which its copy lags by ``acceptable.recovery.lag`` at
most. Kafka gives a client without a copy the task's whole changelog as its lag.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter

import attrs

from assignment_api import TaskId
from assignment_api.plugins import MetricPlugin
from assignment_api.streams.client_state import UNTOLD_LAG, lags_of
from assignment_api.streams.listed_lags import listed
from assignor_lab.groups.metrics.definition import derived, metric, plugins_of
from assignor_lab.groups.metrics.movement import GROUP
from assignor_lab.groups.metrics.processes import stateful_tasks
from assignor_lab.groups.streams.metrics.weights import has_weights, weights_of
from assignor_lab.groups.streams.placement import StreamsPlacement, StreamsState, StreamsTopology, placement_of

__all__ = ["LAG_METRICS"]

_FARTHEST = "The part of a task's state that no process of the group has."
#: Kafka's lags of a running active, and of a copy with unknown offsets; 2**63-1 as a setting: all are caught up.
_RUNNING, _UNKNOWN = -2, -3
_EVERYBODY = 2**63 - 1


@metric(GROUP, "offsets", "lower", _FARTHEST)
def offsets_to_restore(placement: StreamsPlacement) -> float | None:
    """Changelog records still to copy before every replica is current.

    The lags of stateful actives, standbys and warm-ups on their processes. A copy with unknown offsets counts as the
    largest lag of a process. No figure if the end offsets could not be fetched, or are not in the source.
    """
    lacking = _lacking(placement)
    return None if lacking is None else float(lacking[0])


@metric(GROUP, "offsets", "lower", _FARTHEST)
def offsets_to_restore_before_processing(placement: StreamsPlacement) -> float | None:
    """Changelog records that have to be restored before the tasks can work: those of actives alone."""
    lacking = _lacking(placement)
    return None if lacking is None else float(lacking[1])


@metric(GROUP, "tasks", "lower", "Tasks with which no process of the group is caught up.")
def actives_not_caught_up(placement: StreamsPlacement) -> float | None:
    """Tasks with state on a process whose copy lags by more than acceptable.recovery.lag, or by an unknown amount.

    KIP-441 calls such a client not caught up. No figure if the end offsets could not be fetched.
    """
    lags = _lags_of(placement.state)
    if lags is None:
        return None
    behind, of, owners, acceptable = 0, lags.of, placement.owner, lags.acceptable
    for task in stateful_tasks(placement.state.topology):
        owner = owners[task]
        if owner >= 0:
            lag = of[owner][task]
            if lag is None:
                return None
            # The usual cases first; the rule itself is that of is_caught_up.
            if lag != _RUNNING and not 0 <= lag <= acceptable:
                behind += not lags.is_caught_up(task, owner)
    return float(behind)


@metric("cost", "bytes", "lower", "The part of a task's state that no process of the group has.")
def bytes_to_restore(placement: StreamsPlacement) -> float | None:
    """Bytes of state still to copy: the whole state of a missing copy, the missing part of one that lags.

    ``state_bytes`` times the missing part of the changelog, whose length is the lag of a process without a copy. If
    every process has a copy, a copy that is caught up lacks nothing, and any other one everything.
    """
    weights, lags = weights_of(placement.state), _lags_of(placement.state)
    if weights is None or weights.state_bytes is None or lags is None:
        return None
    total = 0.0
    for task in stateful_tasks(placement.state.topology):
        for process in placement.replicas[task]:
            total += weights.state_bytes[task] * _part_lacking(placement.state, lags, task, process)
    return total


def _part_lacking(state: StreamsState, lags: _Lags, task: int, process: int) -> float:
    if process not in state.previous_active[task] and process not in state.previous_standby[task]:
        return 1.0
    lag, whole = lags.of[process][task], _whole(state)[task]
    if lag is None or lag == _UNKNOWN:
        return 1.0
    if lag <= 0:
        return 0.0
    if whole is not None:
        return min(lag / whole, 1.0) if whole else 0.0
    return 0.0 if lags.is_caught_up(task, process) else 1.0


# --- lags -----------------------------------------------------------------------------------------


@attrs.frozen(eq=False)
class _Lags:
    of: list[Sequence[int | None]]
    acceptable: int

    def is_caught_up(self, task: int, process: int) -> bool:
        lag = self.of[process][task]
        if self.acceptable == _EVERYBODY or lag == _RUNNING:
            return True
        return lag is not None and 0 <= lag <= self.acceptable

    def farthest(self, task: int) -> int | None:
        farthest = max((lag for own in self.of if (lag := own[task]) is not None and lag >= 0), default=UNTOLD_LAG)
        return farthest if farthest < UNTOLD_LAG else None


@derived
def _lags_of(state: StreamsState) -> _Lags | None:
    listing = _listing(state.topology)
    of: list[Sequence[int | None]] = []
    for client in state.application.streams_client_states().values():
        lags = lags_of(client)
        if lags is None:
            return None
        of.append(listing.row(lags))
    return _Lags(of, state.application.assignment_configs().acceptable_recovery_lag)


@derived
def _whole(state: StreamsState) -> list[int | None]:
    """For each task the length of its changelog, by the lag of a process without a copy, or ``None``."""
    lags = _lags_of(state)
    assert lags is not None  # called only if they are known
    whole: list[int | None] = []
    for task, (active, standby) in enumerate(zip(state.previous_active, state.previous_standby, strict=True)):
        without = [own[task] for process, own in enumerate(lags.of) if process not in active and process not in standby]
        whole.append(max((lag for lag in without if lag is not None and 0 <= lag < UNTOLD_LAG), default=None))
    return whole


@attrs.define(eq=False)
class _Listing:
    """The positions of tasks among the lags of a client: mostly all clients list the same ones in the same order.

    Args:
        listed: The tasks of the last list, in order.
        picked: Picks the lag of each task from that list's lags, followed by ``None`` for the others.
    """

    ids: list[TaskId]
    listed: tuple[TaskId, ...]
    picked: Callable[[tuple[int | None, ...]], Sequence[int | None]]

    def row(self, lags: Mapping[TaskId, int]) -> Sequence[int | None]:
        tasks, values = listed(lags)
        if tasks is not self.listed and tasks != self.listed:
            place_of = {task: place for place, task in enumerate(tasks)}
            self.listed, self.picked = tasks, _picking([place_of.get(task, -1) for task in self.ids])
        return self.picked((*values, None))


def _picking(places: list[int]) -> Callable[[tuple[int | None, ...]], Sequence[int | None]]:
    # For a single position itemgetter would return no sequence.
    return itemgetter(*places) if len(places) > 1 else lambda values: [values[place] for place in places]


@derived
def _listing(topology: StreamsTopology) -> _Listing:
    return _Listing([info.id for info in topology.infos], (), _picking([-1] * len(topology.infos)))


@derived
def _lacking(placement: StreamsPlacement) -> tuple[int, int] | None:
    """Missing records of all stateful replicas, and of the active ones among them; ``None``: not all are known."""
    lags = _lags_of(placement.state)
    if lags is None:
        return None
    everybody = actives = 0
    of, owner, replicas = lags.of, placement.owner, placement.replicas
    for task in stateful_tasks(placement.state.topology):
        for process in replicas[task]:
            lag = of[process][task]
            if lag == _UNKNOWN:
                lag = lags.farthest(task)
            if lag is None or lag >= UNTOLD_LAG:
                return None
            if lag > 0:
                everybody += lag
                if process == owner[task]:
                    actives += lag
    return everybody, actives


LAG_METRICS: tuple[MetricPlugin, ...] = (
    *plugins_of(
        (offsets_to_restore, offsets_to_restore_before_processing, actives_not_caught_up), placement_of, "streams"
    ),
    *plugins_of((bytes_to_restore,), placement_of, "streams", has_weights),
)
