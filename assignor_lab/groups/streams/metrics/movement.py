"""Movement: what the answer changes, compared with what the clients had before.

A process *had state* of a task if it ran it before or reported a copy of its state (a standby, a warm-up, or files
that were left on its disk). Processes that are gone are no part of the comparison: what they held must be placed anew.
"""

from __future__ import annotations

from assignment_api.plugins import MetricPlugin
from assignor_lab.groups.streams.metrics.definition import metric
from assignor_lab.groups.streams.placement import Placement, derived

__all__ = ["MOVEMENT_METRICS"]

GROUP = "movement"


@metric(GROUP, "tasks", "lower", "Tasks whose process is gone are not counted; evening out a new process moves some.")
def stateful_actives_moved(placement: Placement) -> float:
    """Tasks with state that stop on a process which is still there and start on another one.

    Active tasks that some client of the group ran before and that another one runs now.
    """
    state = placement.state
    return float(
        sum(
            1
            for owner, before, stateful in zip(placement.owner, state.previous_active, state.stateful, strict=True)
            if stateful and before and owner >= 0 and owner not in before
        )
    )


@metric(GROUP, "tasks", "lower", "Tasks whose process is gone are not counted.")
def stateless_actives_moved(placement: Placement) -> float:
    """Tasks without state that stop on a process which is still there and start on another one."""
    state = placement.state
    return float(
        sum(
            1
            for owner, before, stateful in zip(placement.owner, state.previous_active, state.stateful, strict=True)
            if not stateful and before and owner >= 0 and owner not in before
        )
    )


@metric(GROUP, "tasks", "lower", "Standbys whose process is gone, and added standbys, do not count.")
def standbys_moved(placement: Placement) -> float:
    """Standbys that leave a process which is still there and are built up on another one.

    For each task the smaller of two numbers: processes that get a standby and had no state of it, and processes that
    had a standby and now hold nothing of it.
    """
    state = placement.state
    moved = 0
    for task, after in enumerate(placement.standbys):
        standby_before = state.previous_standby[task]
        if after and standby_before:
            had_state = state.previous_active[task] + standby_before
            gained = sum(1 for client in after if client not in had_state)
            if gained:
                replicas = placement.replicas[task]
                moved += min(gained, sum(1 for client in standby_before if client not in replicas))
    return float(moved)


@metric(
    GROUP,
    "replicas",
    "lower",
    "Replicas beyond the number of processes that have state.",
)
def replicas_placed_without_state(placement: Placement) -> float:
    """Copies of state that have to be restored from the changelog from the beginning.

    Stateful actives, standbys and warm-ups on a process that had no state of the task.
    """
    return float(sum(_without_state(placement)))


@metric(GROUP, "tasks", "lower", "Tasks of which no process of the group has any state.")
def actives_placed_without_state(placement: Placement) -> float:
    """Tasks that cannot work before their whole state is restored: nobody is served meanwhile.

    Stateful actives on a process that had no state of the task. They are among ``replicas_placed_without_state``.
    """
    state = placement.state
    return float(
        sum(
            1
            for task, owner in enumerate(placement.owner)
            if state.stateful[task]
            and owner >= 0
            and owner not in state.previous_active[task]
            and owner not in state.previous_standby[task]
        )
    )


def _without_state(placement: Placement) -> list[int]:
    state = placement.state
    counts = []
    for task, stateful in enumerate(state.stateful):
        if stateful:
            active, standby = state.previous_active[task], state.previous_standby[task]
            counts.append(
                sum(1 for client in placement.replicas[task] if client not in active and client not in standby)
            )
    return counts


@metric(GROUP, "share", "higher", "Tasks whose process is gone are not counted.")
def tasks_kept_on_process(placement: Placement) -> float | None:
    """Share of the active tasks that stay on the process that ran them, among those whose process is still there."""
    return _kept(placement)


@metric(GROUP, "share", "higher", "Tasks whose member is gone are not counted.")
def tasks_kept_on_member(placement: Placement) -> float | None:
    """Share of the active tasks that stay on the very member (thread) that ran them.

    A figure only where each process has one thread, so that process and member are the same: otherwise it depends on
    how a process spreads its tasks over its threads, which is no decision of the assignor.
    """
    if any(threads != 1 for threads in placement.state.threads):
        return None
    return _kept(placement)


@derived
def _kept(placement: Placement) -> float | None:
    kept = known = 0
    for owner, before in zip(placement.owner, placement.state.previous_active, strict=True):
        if before:
            known += 1
            kept += owner in before
    return kept / known if known else None


MOVEMENT_METRICS: tuple[MetricPlugin, ...] = (
    stateful_actives_moved,
    stateless_actives_moved,
    standbys_moved,
    replicas_placed_without_state,
    actives_placed_without_state,
    tasks_kept_on_process,
    tasks_kept_on_member,
)
