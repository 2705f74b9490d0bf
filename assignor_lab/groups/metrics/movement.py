"""Movement: what the answer changes, compared with what the clients had before.

A process *had state* of a task if it ran it before or reported a copy of its state (a standby, a warm-up, or files
that were left on its disk). Processes that are gone are no part of the comparison: what they held must be placed anew.
"""

from __future__ import annotations

from assignor_lab.groups.metrics.definition import Definition, derived, metric
from assignor_lab.groups.metrics.processes import OnProcesses

__all__ = ["GROUP", "MOVEMENT", "restored_from_nothing", "share_kept"]

GROUP = "movement"


@metric(GROUP, "tasks", "lower", "Tasks whose process is gone are not counted; evening out a new process moves some.")
def stateful_actives_moved(placement: OnProcesses) -> float:
    """Tasks with state that stop on a process which is still there and start on another one.

    Active tasks that some client of the group ran before and that another one runs now.
    """
    state = placement.state
    return float(
        sum(
            1
            for owner, before, stateful in zip(
                placement.owner, state.previous_active, state.topology.stateful, strict=True
            )
            if stateful and before and owner >= 0 and owner not in before
        )
    )


@metric(GROUP, "tasks", "lower", "Tasks whose process is gone are not counted.")
def stateless_actives_moved(placement: OnProcesses) -> float:
    """Tasks without state that stop on a process which is still there and start on another one."""
    state = placement.state
    return float(
        sum(
            1
            for owner, before, stateful in zip(
                placement.owner, state.previous_active, state.topology.stateful, strict=True
            )
            if not stateful and before and owner >= 0 and owner not in before
        )
    )


@metric(GROUP, "tasks", "lower", "Standbys whose process is gone, and added standbys, do not count.")
def standbys_moved(placement: OnProcesses) -> float:
    """Standbys that leave a process which is still there and are built up on another one.

    For each task the smaller of two numbers: processes that get a standby and had no state of it, and processes that
    had a standby and now hold nothing of it.
    """
    state = placement.state
    moved = 0
    for task, after in enumerate(placement.standbys):
        standby_before = state.previous_standby[task]
        if after and standby_before:
            had_state = (*state.previous_active[task], *state.previous_copies[task])
            gained = sum(1 for client in after if client not in had_state)
            if gained:
                replicas = placement.replicas[task]
                moved += min(gained, sum(1 for client in standby_before if client not in replicas))
    return float(moved)


@metric(GROUP, "replicas", "lower", "Replicas beyond the number of processes that have state.")
def replicas_placed_without_state(placement: OnProcesses) -> float:
    """Copies of state that have to be restored from the changelog from the beginning.

    Stateful actives, standbys and warm-ups on a process that had no state of the task.
    """
    return float(len(restored_from_nothing(placement)))


@metric(GROUP, "tasks", "lower", "Tasks of which no process of the group has any state.")
def actives_placed_without_state(placement: OnProcesses) -> float:
    """Tasks that cannot work before their whole state is restored: nobody is served meanwhile.

    Stateful actives on a process that had no state of the task. They are among ``replicas_placed_without_state``.
    """
    return float(sum(1 for _, _, is_active in restored_from_nothing(placement) if is_active))


@derived
def restored_from_nothing(placement: OnProcesses) -> list[tuple[int, int, bool]]:
    """Stateful replicas on processes that had no state of the task: task, process, whether it is the active one."""
    state = placement.state
    found = []
    for task, stateful in enumerate(state.topology.stateful):
        if stateful:
            active, copies, owner = state.previous_active[task], state.previous_copies[task], placement.owner[task]
            found += [
                (task, process, process == owner)
                for process in placement.replicas[task]
                if process not in active and process not in copies
            ]
    return found


@metric(GROUP, "share", "higher", "Tasks whose process is gone are not counted.")
def tasks_kept_on_process(placement: OnProcesses) -> float | None:
    """Share of the active tasks that stay on the process that ran them, among those whose process is still there."""
    return share_kept(placement)


@derived
def share_kept(placement: OnProcesses) -> float | None:
    """Share of the active tasks that stay on the process that ran them; ``None`` where nobody of those is there."""
    kept = known = 0
    for owner, before in zip(placement.owner, placement.state.previous_active, strict=True):
        if before:
            known += 1
            kept += owner in before
    return kept / known if known else None


MOVEMENT: tuple[Definition[OnProcesses], ...] = (
    stateful_actives_moved,
    stateless_actives_moved,
    standbys_moved,
    replicas_placed_without_state,
    actives_placed_without_state,
    tasks_kept_on_process,
)
