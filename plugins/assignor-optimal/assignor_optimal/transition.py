"""The way from the present placement to the wanted one.

A stateful task moves at once to a ready process. Otherwise it runs on a ready one, with a warm-up at its wanted place,
within ``max.warmup.replicas`` (KIP-441).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs

from assignment_api import (
    ApplicationMetadata,
    AssignedTask,
    AssignedTaskType,
    StreamsClientAssignment,
    TaskAssignment,
    TaskAssignmentError,
    TaskId,
)
from assignment_api.optimum import Numbered
from assignor_optimal.standbys import standbys_of

__all__ = ["Transition", "answer_of", "transition"]


@attrs.frozen(eq=False)
class Transition:
    """One step towards a wanted placement.

    Args:
        warmups: Task to the process of its warm-up.
        waits: True if a task does not run at its wanted place yet.
    """

    owners: list[int]
    warmups: dict[int, int]
    standbys: list[tuple[int, ...]]
    waits: bool


def transition(
    application: ApplicationMetadata,
    numbered: Numbered,
    wanted: Sequence[int],
    until_warm: Callable[[], Sequence[int]] | None = None,
) -> Transition:
    """The next step towards the ``wanted`` processes.

    Args:
        wanted: Process of each task with warm copies.
        until_warm: Returns the processes until then; called if a task has to wait. ``None``: waiting tasks stay, or go
            to a ready process.

    Raises:
        TaskAssignmentError: if there are tasks and no clients.
    """
    problem = numbered.problem
    if problem.tasks and not problem.threads:
        raise TaskAssignmentError("no client to run the tasks on")
    owners, waiting = list(wanted), []
    load = [0] * len(problem.threads)
    for task, (place, ready) in enumerate(zip(wanted, problem.ready, strict=True)):
        if ready and place not in ready:
            waiting.append(task)
        else:
            load[place] += 1
    if waiting and until_warm is not None:
        owners = list(until_warm())
        # An unready place is no better than the wanted one.
        owners = [
            place if ready and owner not in ready and place in ready else owner
            for owner, place, ready in zip(owners, wanted, problem.ready, strict=True)
        ]
    for task in waiting if until_warm is None else ():
        before = problem.before[task]
        owner = min(
            problem.ready[task],
            key=lambda process: (process not in before, load[process] / problem.threads[process], process),
        )
        owners[task] = owner
        load[owner] += 1
    # Earlier warm-ups go on.
    waiting.sort(key=lambda task: (wanted[task] not in numbered.copies[task], task))
    most = application.assignment_configs().max_warmup_replicas
    warmups = {task: wanted[task] for task in waiting[:most] if owners[task] != wanted[task]}
    return Transition(owners, warmups, standbys_of(numbered, owners, warmups), bool(waiting))


def answer_of(
    application: ApplicationMetadata, numbered: Numbered, step: Transition, remarks: Sequence[str] = ()
) -> TaskAssignment:
    """The step as an answer; a waiting task makes the first client request another rebalance."""
    active: list[list[TaskId]] = [[] for _ in numbered.processes]
    for task, owner in zip(numbered.tasks, step.owners, strict=True):
        active[owner].append(task)
    tasks = [[AssignedTask(task, AssignedTaskType.ACTIVE) for task in held] for held in active]
    for number, process in step.warmups.items():
        tasks[process].append(AssignedTask.standby(numbered.tasks[number]))
    for number, copies in enumerate(step.standbys):
        for process in copies:
            tasks[process].append(AssignedTask.standby(numbered.tasks[number]))
    placed = [
        StreamsClientAssignment.of(process, held) for process, held in zip(numbered.processes, tasks, strict=True)
    ]
    if step.waits:
        interval = application.assignment_configs().probing_rebalance_interval_ms
        placed[0] = placed[0].with_followup_rebalance(application.current_time_ms() + interval)
    return TaskAssignment(placed, remarks=tuple(remarks))
