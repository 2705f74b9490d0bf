"""Random applications with all inputs of an assignor, and their state after an answer."""

from __future__ import annotations

from uuid import UUID

from hypothesis import strategies as st

from assignment_api import (
    ApplicationMetadata,
    AssignmentConfigs,
    HostInfo,
    ProcessID,
    StreamsClientState,
    TaskAssignment,
    TaskId,
    TaskInfo,
    TaskTopicPartition,
)

LATEST = -2
_RACKS = ("r1", "r2", "r3")


@st.composite
def rich_applications(draw: st.DrawFn, max_clients: int = 6) -> ApplicationMetadata:
    """Any lags, previous owners, tags, hosts, racks; stateless tasks, stores without changelog; all or none named."""
    name = draw(st.sampled_from([None, None, None, "orders"]))
    tasks = [
        _info(draw, TaskId(subtopology, partition, name), stores)
        for subtopology, stores in enumerate(draw(st.lists(st.sampled_from(["none", "kept", "logged"]), max_size=3)))
        for partition in range(draw(st.integers(1, 6)))
    ]
    configs = AssignmentConfigs(
        acceptable_recovery_lag=draw(st.sampled_from([0, 10, 10_000, 2**63 - 1])),
        max_warmup_replicas=draw(st.integers(1, 3)),
        num_standby_replicas=draw(st.integers(0, 2)),
        rack_aware_assignment_tags=tuple(draw(st.lists(st.sampled_from(["zone", "cluster"]), unique=True))),
        rack_aware_assignment_strategy=draw(st.sampled_from(["none", "min_traffic", "balance_subtopology"])),
        rack_aware_traffic_cost=draw(st.sampled_from([None, 1, 10])),
        rack_aware_non_overlap_cost=draw(st.sampled_from([None, 1, 10])),
    )
    numbers = draw(st.lists(st.integers(0, 2**128 - 1), min_size=1, max_size=max_clients, unique=True))
    clients = _clients(draw, numbers, [info.id for info in tasks], [info.id for info in tasks if info.is_logged])
    return ApplicationMetadata(configs, tasks, clients, draw(st.integers(0, 10**12)), clients[0].process_id)


def _info(draw: st.DrawFn, task: TaskId, stores: str) -> TaskInfo:
    racks = st.lists(st.sampled_from(_RACKS), min_size=1, max_size=2, unique=True).map(tuple)
    source = TaskTopicPartition(f"in-{task.subtopology}", task.partition, True, False, draw(racks))
    if stores == "none":
        return TaskInfo(task, False, False, (), (source,))
    if stores == "kept":
        return TaskInfo(task, True, False, ("s",), (source,))
    changelog = TaskTopicPartition(f"app-s{task.subtopology}-changelog", task.partition, False, True, draw(racks))
    return TaskInfo(task, True, True, ("s",), (source, changelog))


def _clients(
    draw: st.DrawFn, numbers: list[int], tasks: list[TaskId], logged: list[TaskId]
) -> list[StreamsClientState]:
    clients = range(len(numbers))
    nobody = len(numbers)
    owner = {task: draw(st.integers(0, nobody)) for task in tasks}
    second = {task: draw(st.integers(0, nobody)) for task in logged}
    lag = st.sampled_from(draw(st.sampled_from([(0, LATEST, 100_000), (-3, LATEST, 0, 5, 10_001), (0, 5, 10, 20)])))
    return [
        StreamsClientState(
            ProcessID(UUID(int=numbers[client])),
            draw(st.integers(1, 3)),
            (f"consumer-{client}",),
            [task for task in tasks if owner[task] == client],
            [task for task in logged if second[task] == client and owner[task] != client],
            lags={task: draw(lag) for task in logged},
            host_info=HostInfo(f"host{client % 3}", 8080 + client),
            client_tags={"zone": draw(st.sampled_from("abc")), "cluster": draw(st.sampled_from("xy"))},
            rack_id=draw(st.sampled_from(_RACKS)),
        )
        for client in clients
    ]


def after(application: ApplicationMetadata, answer: TaskAssignment) -> ApplicationMetadata:
    states = application.streams_client_states()
    infos = application.task_infos()
    clients = []
    for assigned in answer.assignments:
        state = states[assigned.process_id]
        active, standby = set(assigned.active_tasks()), set(assigned.standby_tasks())
        clients.append(
            StreamsClientState(
                state.process_id,
                state.num_stream_threads,
                state.consumers,
                tuple(active),
                tuple(standby),
                lags={
                    task: LATEST if task in active else 0 if task in standby else 10**9
                    for task, info in infos.items()
                    if info.is_logged
                },
                host_info=state.host_info,
                client_tags=state.client_tags,
                rack_id=state.rack_id,
            )
        )
    return ApplicationMetadata(
        application.assignment_configs(),
        infos.values(),
        clients,
        application.current_time_ms(),
        application.leader_process_id(),
    )


def plain(application: ApplicationMetadata) -> str:
    infos, states = application.task_infos(), application.streams_client_states()
    return repr((list(infos.values()), list(states.values()), application.assignment_configs()))
