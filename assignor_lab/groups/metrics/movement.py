"""Movement: the changes of an answer, compared with the clients' previous tasks.

A process *had state* of a task if it ran it before or reported a copy (a standby, a warm-up, or files on its disk).
Departed processes are not compared: their tasks must be placed anew.
"""

from __future__ import annotations

from collections import Counter

from assignor_lab.groups.metrics.definition import MetricDefinition, derived, metric
from assignor_lab.groups.metrics.processes import GroupProcesses, OnProcesses, stateful_tasks

__all__ = ["GROUP", "MOVEMENT", "restored_from_nothing", "share_kept"]

GROUP = "movement"


@metric(GROUP, "tasks", "lower", "Tasks whose process is gone are not counted; evening out a new process moves some.")
def stateful_actives_moved(placement: OnProcesses) -> float:
    """Tasks with state that stop on a process which is still there and start on another one.

    Active tasks that some client of the group ran before and that another one runs now.
    """
    stateful = placement.state.topology.stateful
    return float(sum([stateful[task] for task in _moved(placement)]))


@metric(GROUP, "tasks", "lower", "Tasks whose process is gone are not counted.")
def stateless_actives_moved(placement: OnProcesses) -> float:
    """Tasks without state that stop on a process which is still there and start on another one."""
    stateful = placement.state.topology.stateful
    return float(sum([not stateful[task] for task in _moved(placement)]))


@derived
def _changed(placement: OnProcesses) -> list[int]:
    previous = placement.state.previous_active
    return [
        task
        for task, (owner, before) in enumerate(zip(placement.owner, previous, strict=True))
        if before and owner not in before
    ]


@derived
def _moved(placement: OnProcesses) -> list[int]:
    """Those of them that another process runs now."""
    owner = placement.owner
    return [task for task in _changed(placement) if owner[task] >= 0]


@metric(GROUP, "tasks", "lower", "Standbys whose process is gone, and added standbys, do not count.")
def standbys_moved(placement: OnProcesses) -> float:
    """Standbys that leave a process which is still there and are built up on another one.

    For each task the smaller of two numbers: processes that get a standby and had no state of it, and processes that
    had a standby and now hold nothing of it.
    """
    had_state, standby_before = _had_state(placement.state), placement.state.previous_standby
    gained = [
        task for task, after in enumerate(placement.standbys) for client in after if client not in had_state[task]
    ]
    if not gained:
        return 0.0
    moved = 0
    # Nearly every standby lies on a process with state: few tasks are left to inspect.
    for task, number in Counter(gained).items():
        replicas = placement.replicas[task]
        moved += min(number, len([client for client in standby_before[task] if client not in replicas]))
    return float(moved)


@metric(GROUP, "replicas", "lower", "Replicas beyond the number of processes that have state.")
def replicas_placed_without_state(placement: OnProcesses) -> float:
    """Copies of state that have to be restored from the changelog from the beginning.

    Stateful actives, standbys and warm-ups on a process that had no state of the task.
    """
    return float(len(restored_from_nothing(placement)))


@metric(GROUP, "tasks", "lower", "Tasks of which no process of the group has any state.")
def actives_placed_without_state(placement: OnProcesses) -> float:
    """Tasks that cannot work before their whole state is restored: they process nothing meanwhile.

    Stateful actives on a process that had no state of the task. They are among ``replicas_placed_without_state``.
    """
    return float(sum(1 for _, _, is_active in restored_from_nothing(placement) if is_active))


@derived
def restored_from_nothing(placement: OnProcesses) -> list[tuple[int, int, bool]]:
    """Stateful replicas on processes that had no state of the task: task, process, and True for the active one."""
    had_state, replicas, owner = _had_state(placement.state), placement.replicas, placement.owner
    return [
        (task, process, process == owner[task])
        for task in stateful_tasks(placement.state.topology)
        for process in replicas[task]
        if process not in had_state[task]
    ]


@derived
def _had_state(state: GroupProcesses) -> list[list[int]]:
    return [[*active, *copies] for active, copies in zip(state.previous_active, state.previous_copies, strict=True)]


@metric(GROUP, "share", "higher", "Tasks whose process is gone are not counted.")
def tasks_kept_on_process(placement: OnProcesses) -> float | None:
    """Share of the active tasks that stay on the process that ran them, among those whose process is still there."""
    return share_kept(placement)


@derived
def share_kept(placement: OnProcesses) -> float | None:
    """Share of the active tasks that stay on their process; ``None`` if none of the previous processes is left."""
    known = _known_before(placement.state)
    return (known - len(_changed(placement))) / known if known else None


@derived
def _known_before(state: GroupProcesses) -> int:
    return len([before for before in state.previous_active if before])


MOVEMENT: tuple[MetricDefinition[OnProcesses], ...] = (
    stateful_actives_moved,
    stateless_actives_moved,
    standbys_moved,
    replicas_placed_without_state,
    actives_placed_without_state,
    tasks_kept_on_process,
)
