"""One answer to one state, with tasks and clients as small integers.

Every metric reads this view. Values are computed once for each answer, state or set of tasks. Time and memory are
linear in tasks, clients and replicas.
"""

from __future__ import annotations

from collections.abc import KeysView, Mapping
from operator import attrgetter, contains, is_
from typing import Any

import attrs

from assignment_api import ApplicationMetadata, AssignedTaskType, TaskAssignment, TaskId, TaskInfo
from assignor_lab.groups.metrics.definition import derived

__all__ = ["StreamsPlacement", "StreamsState", "StreamsTopology", "placement_of", "standby_counts", "state_of"]


@attrs.frozen(eq=False)
class StreamsTopology:
    """The tasks for the metrics, numbered in the order of the input.

    Args:
        stateful: For each task, True if it is stateful and logged (KIP-924 ``statefulTasks``).
        partitions_known: True if the source of the state contains the partitions of all tasks.
    """

    infos: tuple[TaskInfo, ...]
    number: dict[TaskId, int]
    stateful: list[bool]
    subtopology: list[int]
    subtopologies: int
    partitions_known: bool
    memory: dict[Any, Any] = attrs.field(factory=dict, init=False, repr=False)


@attrs.frozen(eq=False)
class StreamsState:
    """A state for the metrics.

    Clients and tasks are numbered in the order of the input.

    Args:
        threads: Threads of each client; a client that reports 0 counts as having one.
        members: Number of members (consumers, which is threads) of the group.
        racks: Rack of each client; ``None`` if any is unknown.
        previous_active: For each task, the clients that ran it before; one in a healthy group.
        previous_standby: For each task, the clients that had a copy of its state before without running it.
        standbys_wanted: Standbys of a stateful task, by configuration and number of clients.
    """

    application: ApplicationMetadata
    topology: StreamsTopology
    threads: list[int]
    members: int
    racks: list[str] | None
    previous_active: list[list[int]]
    previous_standby: list[list[int]]
    standbys_wanted: int
    memory: dict[Any, Any] = attrs.field(factory=dict, init=False, repr=False)

    @property
    def previous_copies(self) -> list[list[int]]:
        """For each task, the clients that had a copy: members do not distinguish standbys from old files."""
        return self.previous_standby

    @property
    def tags(self) -> Mapping[str, list[str | None]]:
        """Keys of ``rack.aware.assignment.tags`` to the value of each client."""
        clients = self.application.streams_client_states().values()
        keys = self.application.assignment_configs().rack_aware_assignment_tags
        return {key: [client.client_tags.get(key) for client in clients] for key in keys}

    @property
    def infos(self) -> tuple[TaskInfo, ...]:
        return self.topology.infos

    @property
    def stateful(self) -> list[bool]:
        return self.topology.stateful

    @property
    def subtopology(self) -> list[int]:
        return self.topology.subtopology

    @property
    def subtopologies(self) -> int:
        return self.topology.subtopologies


@attrs.frozen(eq=False)
class StreamsPlacement:
    """The holders of tasks.

    Args:
        owner: For each task, the client that runs it, or -1.
        standbys: For each task, the clients with a standby of it.
        replicas: For each task, the clients that hold it in any role, its owner first.
        is_exact: True if it is the whole answer: one entry for each client of the state and no other, and no task in it
            that is unknown, that one client has twice, or that two clients run.
    """

    state: StreamsState
    owner: list[int]
    standbys: list[list[int]]
    active: list[int]
    stateful: list[int]
    standby: list[int]
    replicas: list[list[int]]
    is_exact: bool
    memory: dict[Any, Any] = attrs.field(factory=dict, init=False, repr=False)


@derived
def standby_counts(placement: StreamsPlacement) -> list[int]:
    return list(map(len, placement.standbys))


_id_of = attrgetter("id")

_last_topology: tuple[Mapping[TaskId, TaskInfo], StreamsTopology] | None = None
_last_state: StreamsState | None = None
_last_placement: tuple[TaskAssignment, StreamsPlacement] | None = None


def state_of(application: ApplicationMetadata) -> StreamsState:
    """The dense view of ``application``; the latest one is kept."""
    global _last_state  # noqa: PLW0603 - a memory of one: metrics of the same state follow one another
    # A served assignor is called in threads: another one may put its own state there meanwhile.
    known = _last_state
    if known is None or known.application is not application:
        known = _last_state = _new_state(application)
    return known


def placement_of(application: ApplicationMetadata, assignment: TaskAssignment) -> StreamsPlacement:
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


def _topology_of(application: ApplicationMetadata) -> StreamsTopology:
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


def _new_topology(infos: tuple[TaskInfo, ...], logged: KeysView[TaskId]) -> StreamsTopology:
    groups: dict[tuple[str | None, int], int] = {}
    subtopology = [groups.setdefault((info.id.topology_name, info.id.subtopology), len(groups)) for info in infos]
    return StreamsTopology(
        infos=infos,
        number={info.id: index for index, info in enumerate(infos)},
        stateful=[info.id in logged for info in infos],
        subtopology=subtopology,
        subtopologies=len(groups),
        partitions_known=all(info.topic_partitions is not None for info in infos),
    )


def _new_state(application: ApplicationMetadata) -> StreamsState:
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
    return StreamsState(
        application=application,
        topology=topology,
        threads=threads,
        members=sum(threads),
        racks=racks if len(racks) == len(clients) else None,
        previous_active=previous_active,
        previous_standby=previous_standby,
        standbys_wanted=max(min(wanted, len(clients) - 1), 0),
    )


def _new_placement(state: StreamsState, assignment: TaskAssignment) -> StreamsPlacement:
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
    return StreamsPlacement(state, owner, standbys, active, stateful, standby, replicas, is_exact)
