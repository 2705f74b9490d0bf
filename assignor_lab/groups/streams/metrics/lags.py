"""Lags: a copy of state that lags is not state. What is to be restored, by the lags that Kafka's leader computed.

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
from assignor_lab.groups.streams.placement import Placement, State, Topology, placement_of

__all__ = ["LAG_METRICS"]

_FARTHEST = "What no process of the group has of a task."
#: Kafka's lags of a running active, and of a copy whose offsets nobody knows; 2**63-1 as a setting: all are caught up.
_RUNNING, _UNKNOWN = -2, -3
_EVERYBODY = 2**63 - 1


@metric(GROUP, "offsets", "lower", _FARTHEST)
def offsets_to_restore(placement: Placement) -> float | None:
    """Changelog records that copies of state lack where they are placed: a copy that lags is not state.

    The lags of stateful actives, standbys and warm-ups on their processes. A copy of unknown offsets lacks as much as
    the process that is farthest behind. No figure where the end offsets could not be fetched, or are not told.
    """
    lacking = _lacking(placement)
    return None if lacking is None else float(lacking[0])


@metric(GROUP, "offsets", "lower", _FARTHEST)
def offsets_to_restore_before_processing(placement: Placement) -> float | None:
    """Changelog records that have to be restored before the tasks can work: those of actives alone."""
    lacking = _lacking(placement)
    return None if lacking is None else float(lacking[1])


@metric(GROUP, "tasks", "lower", "Tasks with which no process of the group is caught up.")
def actives_not_caught_up(placement: Placement) -> float | None:
    """Tasks with state on a process whose copy lags by more than acceptable.recovery.lag, or by nobody knows how much.

    KIP-441 calls such a client not caught up. No figure where the end offsets could not be fetched.
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


@metric("cost", "bytes", "lower", "What no process of the group has of a task.")
def bytes_to_restore(placement: Placement) -> float | None:
    """Bytes of state that copies lack where they are placed: all of one that is not there, its part of one that lags.

    ``state_bytes`` times what a copy lacks of its changelog, whose length is the lag of a process that has nothing of
    it. Where every process has something, a copy that is caught up lacks nothing, and any other one everything.
    """
    weights, lags = weights_of(placement.state), _lags_of(placement.state)
    if weights is None or weights.state_bytes is None or lags is None:
        return None
    total = 0.0
    for task in stateful_tasks(placement.state.topology):
        for process in placement.replicas[task]:
            total += weights.state_bytes[task] * _part_lacking(placement.state, lags, task, process)
    return total


def _part_lacking(state: State, lags: _Lags, task: int, process: int) -> float:
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
    """The lags of a state.

    Args:
        of: For each process and task its lag, as Kafka has it; ``None``: there is no entry.
        acceptable: ``acceptable.recovery.lag``.
    """

    of: list[Sequence[int | None]]
    acceptable: int

    def is_caught_up(self, task: int, process: int) -> bool:
        """KIP-441: whether the process could take over the task at once."""
        lag = self.of[process][task]
        if self.acceptable == _EVERYBODY or lag == _RUNNING:
            return True
        return lag is not None and 0 <= lag <= self.acceptable

    def farthest(self, task: int) -> int | None:
        """The largest lag that any process has of a task; ``None``: not known."""
        farthest = max((lag for own in self.of if (lag := own[task]) is not None and lag >= 0), default=UNTOLD_LAG)
        return farthest if farthest < UNTOLD_LAG else None


@derived
def _lags_of(state: State) -> _Lags | None:
    """``None`` where the end offsets could not be fetched."""
    listing = _listing(state.topology)
    of: list[Sequence[int | None]] = []
    for client in state.application.streams_client_states().values():
        lags = lags_of(client)
        if lags is None:
            return None
        of.append(listing.row(lags))
    return _Lags(of, state.application.assignment_configs().acceptable_recovery_lag)


@derived
def _whole(state: State) -> list[int | None]:
    """For each task how long its changelog is, by the lag of a process that has nothing of it, or ``None``."""
    lags = _lags_of(state)
    assert lags is not None  # asked for where they are known
    whole: list[int | None] = []
    for task, (active, standby) in enumerate(zip(state.previous_active, state.previous_standby, strict=True)):
        without = [own[task] for process, own in enumerate(lags.of) if process not in active and process not in standby]
        whole.append(max((lag for lag in without if lag is not None and 0 <= lag < UNTOLD_LAG), default=None))
    return whole


@attrs.define(eq=False)
class _Listing:
    """Where tasks stand among the lags of a client: mostly all clients list the same ones in the same order.

    Args:
        ids: The tasks.
        listed: Those that were listed last, in order.
        picked: Picks the lag of each task out of the lags of those, followed by ``None`` for the others.
    """

    ids: list[TaskId]
    listed: tuple[TaskId, ...]
    picked: Callable[[tuple[int | None, ...]], Sequence[int | None]]

    def row(self, lags: Mapping[TaskId, int]) -> Sequence[int | None]:
        """The lag of each task; ``None``: there is no entry."""
        tasks, values = listed(lags)
        if tasks is not self.listed and tasks != self.listed:
            place_of = {task: place for place, task in enumerate(tasks)}
            self.listed, self.picked = tasks, _picking([place_of.get(task, -1) for task in self.ids])
        return self.picked((*values, None))


def _picking(places: list[int]) -> Callable[[tuple[int | None, ...]], Sequence[int | None]]:
    # Of a single place itemgetter would not make a sequence.
    return itemgetter(*places) if len(places) > 1 else lambda values: [values[place] for place in places]


@derived
def _listing(topology: Topology) -> _Listing:
    return _Listing([info.id for info in topology.infos], (), _picking([-1] * len(topology.infos)))


@derived
def _lacking(placement: Placement) -> tuple[int, int] | None:
    """What all stateful replicas lack, and what the active ones among them lack; ``None``: not known of all."""
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
