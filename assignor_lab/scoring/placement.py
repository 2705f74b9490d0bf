"""One answer to one state, with tasks and clients as small integers.

Every metric reads this view, so it is made once for each answer; what depends on the state alone is made once for
each state, however many assignors answer it. Time and memory are linear in tasks, clients and replicas.
"""

from __future__ import annotations

import attrs

from assignment_api import ApplicationMetadata, AssignedTaskType, TaskAssignment, TaskInfo

__all__ = ["Placement", "State", "placement_of", "state_of"]


@attrs.frozen(eq=False)
class State:
    """What the metrics need of a state. Clients and tasks are numbered in the order of the input.

    Args:
        application: The state itself.
        infos: The tasks.
        threads: Threads of each client; a client that says 0 counts as having one.
        stateful: For each task, whether it is stateful and logged (KIP-924 ``statefulTasks``).
        subtopology: For each task, the number of its sub-topology, dense, by first appearance.
        subtopologies: How many sub-topologies there are.
        previous_active: For each task, the clients that ran it before; one in a healthy group.
        previous_standby: For each task, the clients that had a copy of its state before without running it.
        standbys_wanted: Standbys of a stateful task that configuration asks for and the number of clients allows.
    """

    application: ApplicationMetadata
    infos: tuple[TaskInfo, ...]
    threads: list[int]
    stateful: list[bool]
    subtopology: list[int]
    subtopologies: int
    previous_active: list[list[int]]
    previous_standby: list[list[int]]
    standbys_wanted: int

    @property
    def members(self) -> int:
        """Number of members (consumers, which is threads) of the group."""
        return sum(self.threads)


@attrs.frozen(eq=False)
class Placement:
    """Who runs what.

    Args:
        state: The state that was answered.
        owner: For each task, the client that runs it, or -1.
        standbys: For each task, the clients with a standby of it.
        active: Active tasks of each client.
        stateful: Stateful active tasks of each client.
        standby: Standby tasks of each client.
    """

    state: State
    owner: list[int]
    standbys: list[list[int]]
    active: list[int]
    stateful: list[int]
    standby: list[int]

    def replicas(self, task: int) -> list[int]:
        """The clients that hold ``task`` in any role, its owner first."""
        owner = self.owner[task]
        return self.standbys[task] if owner < 0 else [owner, *self.standbys[task]]


_last_state: State | None = None
_last_placement: tuple[TaskAssignment, Placement] | None = None


def state_of(application: ApplicationMetadata) -> State:
    """The dense view of ``application``; the latest one is kept."""
    global _last_state  # noqa: PLW0603 - a memory of one: metrics are asked one after another about the same state
    if _last_state is None or _last_state.application is not application:
        _last_state = _new_state(application)
    return _last_state


def placement_of(application: ApplicationMetadata, assignment: TaskAssignment) -> Placement:
    """The dense view of ``assignment``; the latest one is kept.

    Tasks and clients that the application does not have are left out (Kafka's validation refuses them anyway). Of two
    entries for one client the last counts, as in Kafka.
    """
    global _last_placement  # noqa: PLW0603 - as above
    state = state_of(application)
    if _last_placement is None or _last_placement[0] is not assignment or _last_placement[1].state is not state:
        _last_placement = assignment, _new_placement(state, assignment)
    return _last_placement[1]


def _new_state(application: ApplicationMetadata) -> State:
    infos = tuple(application.task_infos().values())
    number = {info.id: index for index, info in enumerate(infos)}
    logged = application.stateful_tasks()
    clients = list(application.streams_client_states().values())
    previous_active: list[list[int]] = [[] for _ in infos]
    previous_standby: list[list[int]] = [[] for _ in infos]
    for client, client_state in enumerate(clients):
        for tasks, holders in (
            (client_state.previous_active_tasks, previous_active),
            (client_state.previous_standby_tasks, previous_standby),
        ):
            for task in tasks:
                index = number.get(task)
                if index is not None:
                    holders[index].append(client)
    groups: dict[tuple[str | None, int], int] = {}
    subtopology = [groups.setdefault((info.id.topology_name, info.id.subtopology), len(groups)) for info in infos]
    wanted = max(application.assignment_configs().num_standby_replicas, 0)
    return State(
        application=application,
        infos=infos,
        threads=[max(client.num_stream_threads, 1) for client in clients],
        stateful=[info.id in logged for info in infos],
        subtopology=subtopology,
        subtopologies=len(groups),
        previous_active=previous_active,
        previous_standby=previous_standby,
        standbys_wanted=max(min(wanted, len(clients) - 1), 0),
    )


def _new_placement(state: State, assignment: TaskAssignment) -> Placement:
    task_number = {info.id: index for index, info in enumerate(state.infos)}
    client_number = {process: index for index, process in enumerate(state.application.streams_client_states())}
    owner = [-1] * len(state.infos)
    standbys: list[list[int]] = [[] for _ in state.infos]
    active, stateful, standby = ([0] * len(state.threads) for _ in range(3))
    last = {assigned.process_id: assigned for assigned in assignment.assignments}
    for process, assigned in last.items():
        client = client_number.get(process)
        if client is None:
            continue
        for held in assigned.tasks:
            task = task_number.get(held.id)
            if task is None:
                continue
            if held.type is AssignedTaskType.ACTIVE:
                owner[task] = client
                active[client] += 1
                stateful[client] += state.stateful[task]
            else:
                standbys[task].append(client)
                standby[client] += 1
    return Placement(state, owner, standbys, active, stateful, standby)
