"""The naive estimate of a plan: simple arithmetic in place of a simulation.

Classic dynamic members that are closed in order: the session timeout. Static members, and members that leave: start and
closing. A copy that is lost, a new instance, and the streams protocol: bytes of the state over the rate of restoring.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import attrs

from assignor_lab.planning.plans import Action, Plan
from assignor_lab.planning.state import PresentState
from assignor_lab.simulation.streams.episode import StreamsEpisode

__all__ = ["Naive", "naive_estimate"]


#: Events of a script to the actions that cost the same.
_OF_EVENTS: Mapping[str, Literal["remove", "kill"]] = {"stop": "remove", "crash": "kill"}


@attrs.frozen
class Naive:
    """The naive estimate.

    Args:
        worst_task_seconds: The longest absence of a task; ``None``: the size of a state is unknown.
        task_seconds: Seconds of all tasks together; ``None`` likewise.
    """

    worst_task_seconds: float | None
    task_seconds: float | None


def naive_estimate(state: PresentState, plan: Plan) -> Naive:
    sums: list[float | None] = []
    worst: list[float | None] = []
    for step in plan.steps:
        for action in step.actions:
            away, tasks = _of_action(state, plan, action)
            worst.append(away if tasks else 0.0)
            sums.append(None if away is None else away * tasks)
    return Naive(_largest(worst), _summed(sums))


def _of_action(state: PresentState, plan: Plan, action: Action) -> tuple[float | None, float]:
    """Seconds that each touched task is away, and the number of those tasks."""
    episode, timings = state.episode, state.episode.timings
    if action.type == "event" and action.event in _OF_EVENTS and action.name in state.names:
        action = attrs.evolve(action, type=_OF_EVENTS[action.event])
    if action.type == "event":
        return 0.0, 0
    if action.type == "add":
        # Each instance has as many tasks in the end.
        tasks = len(episode.tasks) / (len(state.names) + 1)
        everything = _restoring_s(episode, None)
        return (None if everything is None else everything / (len(state.names) + 1)), tasks
    place = state.names.index(action.name)
    client = episode.clients[place]
    held = client.previous_active_tasks
    is_static = episode.instance_ids[place] is not None
    starts = (plan.start_ms or timings.startup_ms + timings.join_ms) + plan.down_ms + timings.close_ms
    if not state.is_classic and action.type != "kill":
        return _restoring_s(episode, {str(task) for task in held}), len(held)
    session = timings.session_timeout_ms if state.is_classic else timings.streams_session_timeout_ms
    leaves = action.leave is True
    away = starts if is_static or leaves else session
    is_lost = action.replace or action.type == "remove" or (action.type == "kill" and action.back_after_ms is None)
    if not is_lost and not (action.type == "kill" and episode.eos):
        return away / 1000, len(held)
    restoring = _restoring_s(episode, _without_copies(state, place))
    return (None if restoring is None else away / 1000 + restoring), len(held)


def _without_copies(state: PresentState, place: int) -> set[str]:
    """Active tasks of an instance that have no copy elsewhere: a standby, or more than half of the state."""
    episode = state.episode
    others = [
        (client.previous_standby_tasks, lags)
        for number, (client, lags) in enumerate(zip(episode.clients, episode.lags, strict=True))
        if number != place
    ]
    found = set()
    for task, log in zip(episode.tasks, episode.changelogs, strict=True):
        if log is None or task.id not in episode.clients[place].previous_active_tasks:
            continue
        half = log.records / 2
        if not any((lags[task.id] < half) if task.id in lags else task.id in copies for copies, lags in others):
            found.add(str(task.id))
    return found


def _restoring_s(episode: StreamsEpisode, tasks: set[str] | None) -> float | None:
    """Bytes of the state of some tasks, or of all, over the rate of restoring."""
    total = 0.0
    for task, log in zip(episode.tasks, episode.changelogs, strict=True):
        if log is None or (tasks is not None and str(task.id) not in tasks):
            continue
        if not log.is_known or log.bytes_per_record is None:
            return None
        total += log.records * log.bytes_per_record
    return total / episode.timings.restore_bytes_per_s


def _largest(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return max(known, default=0.0) if len(known) == len(values) else None


def _summed(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None
