"""One answer to one state, with tasks and clients as small integers.

Every metric reads this view, so it is made once for each answer; what depends on the state alone is made once for
each state, however many assignors answer it, and what depends on the tasks alone once for all rounds of a history
that share them. Time and memory are linear in
tasks, clients and replicas.
"""

from __future__ import annotations

from collections.abc import KeysView, Mapping
from operator import attrgetter, contains, is_
from typing import Any

import attrs

from assignment_api import ApplicationMetadata, AssignedTaskType, TaskAssignment, TaskId, TaskInfo
from assignor_lab.groups.metrics.definition import derived

__all__ = ["Placement", "State", "Topology", "placement_of", "standby_counts", "state_of"]


@attrs.frozen(eq=False)
class Topology:
    """What the metrics need of the tasks, which are numbered in the order of the input.

    Args:
        infos: The tasks.
        number: The number of each task.
        stateful: For each task, whether it is stateful and logged (KIP-924 ``statefulTasks``).
        subtopology: For each task, the number of its sub-topology, dense, by first appearance.
        subtopologies: How many sub-topologies there are.
        partitions_known: Whether the source of the state told the partitions of all tasks.
    """

    infos: tuple[TaskInfo, ...]
    number: dict[TaskId, int]
    stateful: list[bool]
    subtopology: list[int]
    subtopologies: int
    partitions_known: bool
    #: What was derived of it, by who derived it.
    memory: dict[Any, Any] = attrs.field(factory=dict, init=False, repr=False)


@attrs.frozen(eq=False)
class State:
    """What the metrics need of a state. Clients and tasks are numbered in the order of the input.

    Args:
        application: The state itself.
        topology: Its tasks.
        threads: Threads of each client; a client that says 0 counts as having one.
        members: Number of members (consumers, which is threads) of the group.
        racks: Rack of each client; ``None`` where the rack of any is unknown.
        previous_active: For each task, the clients that ran it before; one in a healthy group.
        previous_standby: For each task, the clients that had a copy of its state before without running it.
        standbys_wanted: Standbys of a stateful task that configuration asks for and the number of clients allows.
    """

    application: ApplicationMetadata
    topology: Topology
    threads: list[int]
    members: int
    racks: list[str] | None
    previous_active: list[list[int]]
    previous_standby: list[list[int]]
    standbys_wanted: int
    #: What was derived of it, by who derived it.
    memory: dict[Any, Any] = attrs.field(factory=dict, init=False, repr=False)

    @property
    def previous_copies(self) -> list[list[int]]:
        """For each task, the clients that had a copy: members do not tell standbys from files that were left."""
        return self.previous_standby

    @property
    def tags(self) -> Mapping[str, list[str | None]]:
        """Keys of ``rack.aware.assignment.tags`` to the value of each client."""
        clients = self.application.streams_client_states().values()
        keys = self.application.assignment_configs().rack_aware_assignment_tags
        return {key: [client.client_tags.get(key) for client in clients] for key in keys}

    @property
    def infos(self) -> tuple[TaskInfo, ...]:
        """The tasks."""
        return self.topology.infos

    @property
    def stateful(self) -> list[bool]:
        """For each task, whether it is stateful and logged."""
        return self.topology.stateful

    @property
    def subtopology(self) -> list[int]:
        """For each task, the number of its sub-topology."""
        return self.topology.subtopology

    @property
    def subtopologies(self) -> int:
        """How many sub-topologies there are."""
        return self.topology.subtopologies


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
        replicas: For each task, the clients that hold it in any role, its owner first.
        is_exact: It is the whole answer: one entry for each client of the state and for nobody else, and no task in it
            that the state has not, or that one client has twice or two clients run.
    """

    state: State
    owner: list[int]
    standbys: list[list[int]]
    active: list[int]
    stateful: list[int]
    standby: list[int]
    replicas: list[list[int]]
    is_exact: bool
    #: What was derived of it, by who derived it.
    memory: dict[Any, Any] = attrs.field(factory=dict, init=False, repr=False)


@derived
def standby_counts(placement: Placement) -> list[int]:
    """For each task, how many standbys it has."""
    return list(map(len, placement.standbys))


_id_of = attrgetter("id")

_last_topology: tuple[Mapping[TaskId, TaskInfo], Topology] | None = None
_last_state: State | None = None
_last_placement: tuple[TaskAssignment, Placement] | None = None


def state_of(application: ApplicationMetadata) -> State:
    """The dense view of ``application``; the latest one is kept."""
    global _last_state  # noqa: PLW0603 - a memory of one: metrics are asked one after another about the same state
    # A served assignor is asked in threads: another one may put its own state there meanwhile.
    known = _last_state
    if known is None or known.application is not application:
        known = _last_state = _new_state(application)
    return known


def placement_of(application: ApplicationMetadata, assignment: TaskAssignment) -> Placement:
    """The dense view of ``assignment``; the latest one is kept.

    Tasks and clients that the application does not have are left out (Kafka's validation refuses them anyway). Of two
    entries for one client the last counts, as in Kafka.
    """
    global _last_placement  # noqa: PLW0603 - as above
    known = _last_placement
    if known is not None and known[0] is assignment and known[1].state.application is application:
        return known[1]
    placement = _new_placement(state_of(application), assignment)
    _last_placement = assignment, placement
    return placement


def _topology_of(application: ApplicationMetadata) -> Topology:
    """The dense view of the tasks; the latest one is kept, for states that hold the very same tasks."""
    global _last_topology  # noqa: PLW0603 - as above
    by_id, last = application.task_infos(), _last_topology
    if last is not None and last[0] is by_id:
        return last[1]
    infos = tuple(by_id.values())
    if last is not None and len(last[1].infos) == len(infos) and all(map(is_, last[1].infos, infos)):
        known = last[1]
    else:
        known = _new_topology(infos, application.stateful_tasks())
    _last_topology = by_id, known
    return known


def _new_topology(infos: tuple[TaskInfo, ...], logged: KeysView[TaskId]) -> Topology:
    groups: dict[tuple[str | None, int], int] = {}
    subtopology = [groups.setdefault((info.id.topology_name, info.id.subtopology), len(groups)) for info in infos]
    return Topology(
        infos=infos,
        number={info.id: index for index, info in enumerate(infos)},
        stateful=[info.id in logged for info in infos],
        subtopology=subtopology,
        subtopologies=len(groups),
        partitions_known=all(info.topic_partitions is not None for info in infos),
    )


def _new_state(application: ApplicationMetadata) -> State:
    topology = _topology_of(application)
    clients = list(application.streams_client_states().values())
    previous_active: list[list[int]] = [[] for _ in topology.infos]
    previous_standby: list[list[int]] = [[] for _ in topology.infos]
    number = topology.number.get
    for client, client_state in enumerate(clients):
        for tasks, holders in (
            (client_state.previous_active_tasks, previous_active),
            (client_state.previous_standby_tasks, previous_standby),
        ):
            for index in map(number, tasks):
                if index is not None:
                    holders[index].append(client)
    threads = [max(client.num_stream_threads, 1) for client in clients]
    racks = [client.rack_id for client in clients if client.rack_id is not None]
    wanted = max(application.assignment_configs().num_standby_replicas, 0)
    return State(
        application=application,
        topology=topology,
        threads=threads,
        members=sum(threads),
        racks=racks if len(racks) == len(clients) else None,
        previous_active=previous_active,
        previous_standby=previous_standby,
        standbys_wanted=max(min(wanted, len(clients) - 1), 0),
    )


def _new_placement(state: State, assignment: TaskAssignment) -> Placement:
    topology = state.topology
    clients = state.application.streams_client_states()
    client_number = {process: index for index, process in enumerate(clients)}
    owner = [-1] * len(topology.infos)
    standbys: list[list[int]] = [[] for _ in owner]
    active, stateful, standby = ([0] * len(state.threads) for _ in range(3))
    last = {assigned.process_id: assigned for assigned in assignment.assignments}
    is_exact = len(assignment.assignments) == len(last) and last.keys() == client_number.keys()
    number, is_stateful, is_active = topology.number.get, topology.stateful, AssignedTaskType.ACTIVE
    for process, assigned in last.items():
        client = client_number.get(process)
        if client is None:
            continue
        actives = with_state = copies = 0
        for held, task in zip(assigned.tasks, map(number, map(_id_of, assigned.tasks)), strict=True):
            if task is None:
                is_exact = False
            elif held.type is is_active:
                if owner[task] >= 0:
                    is_exact = False
                owner[task] = client
                actives += 1
                with_state += is_stateful[task]
            else:
                holders = standbys[task]
                if holders and holders[-1] == client:
                    is_exact = False
                holders.append(client)
                copies += 1
        active[client], stateful[client], standby[client] = actives, with_state, copies
    replicas = [copied if first < 0 else [first, *copied] for first, copied in zip(owner, standbys, strict=True)]
    if any(map(contains, standbys, owner)):
        is_exact = False
    return Placement(state, owner, standbys, active, stateful, standby, replicas, is_exact)
