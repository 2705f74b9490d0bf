"""Two threads of a process exchange tasks: cases that settle, and cases that never do and are named.

In ``random-3613`` thread 1 has one of two tasks. It gets the other one, gives its own up for thread 2, and rejoins at
once. If its new task were processed in between, only that changelog would grow. The leader would then return the task
with the smaller lag: each time the one just given up. But no task is processed until the thread has joined.

In ``random-1416335`` lags are unknown for a minute, and both threads must give up tasks each time. For that time, a
moving task is only state on a disk, which the leader spreads over them again. ``python -m parity.episodes`` has run
each decision on Kafka 4.3.1's ``StreamsPartitionAssignor.assignTasksToThreads``: the answers are the same.
"""

from __future__ import annotations

from itertools import cycle

import pytest

from assignment_api import (
    ApplicationMetadata,
    AssignedTask,
    StreamsClientAssignment,
    TaskAssignment,
    TaskAssignor,
)
from assignment_api.plugins import discover
from assignment_api.streams import TaskId, TaskInfo
from assignment_api.utils import TaskAssignmentUtils
from assignor_lab.groups.streams_episode.fuzzing import findings_of
from assignor_lab.model.streams_episodes import (
    ChangelogOutline,
    EventDetails,
    OpeningInstance,
    StreamsEpisodeOutline,
    StreamsEvent,
    StreamsOpening,
)
from assignor_lab.simulation.streams.safety.random_episodes import with_rest

pytestmark = pytest.mark.slow

ASSIGNOR = "tests.simulation.streams.test_threads_go_round:RoundRobin"
FIRST, SECOND = "00000000-0000-0000-0000-8638b5579e29", "00000000-0000-0000-0000-ff9f84956ad0"


class RoundRobin(TaskAssignor):
    """Assigns tasks in turn, regardless of previous owners: every decision is the same."""

    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        clients = sorted(application.streams_client_states().values(), key=lambda client: client.process_id)
        most = max(client.num_stream_threads for client in clients)
        seats = [
            client.process_id for thread in range(most) for client in clients if client.num_stream_threads > thread
        ]
        given = {client.process_id: StreamsClientAssignment.of(client.process_id, []) for client in clients}
        stateful = application.stateful_tasks()
        ordered = [*sorted(stateful), *sorted(set(application.all_tasks()) - set(stateful))]
        for one, process in zip(ordered, cycle(seats), strict=False):
            given[process] = given[process].with_task(AssignedTask.active(one))
        if application.assignment_configs().num_standby_replicas:
            given = dict(TaskAssignmentUtils.default_standby_task_assignment(application, given))
        return TaskAssignment(given)


def instance(process: str, active: list[str], standby: list[str], lags: dict[str, int]) -> OpeningInstance:
    consumers = [f"{process}-StreamThread-{number}-consumer" for number in (1, 2)]
    return OpeningInstance(process, 2, consumers, active, standby, lags)


def tasks_of(names: list[str]) -> list[TaskInfo]:
    return [TaskInfo(TaskId.parse(name), True, True, ("store",), None) for name in names]


def smallest(growth: float) -> StreamsEpisodeOutline:
    names = [f"0_{number}" for number in range(4)]
    instances = [
        instance(FIRST, ["1_0", "1_2"], ["0_1"], {"0_0": 5, "0_1": 0, "0_2": 20_000, "0_3": 5}),
        instance(SECOND, ["0_0", "0_2", "0_3"], [], {"0_0": -2, "0_1": 20_000, "0_2": -2, "0_3": -2}),
    ]
    events = [
        StreamsEvent(0, "rolling_restart", details=EventDetails(down_ms=7_640, every_ms=20_000)),
        StreamsEvent(111, "lose_disk", FIRST),
        StreamsEvent(300, "rolling_restart", details=EventDetails(down_ms=13_115, every_ms=20_000)),
        StreamsEvent(1_000, "start", FIRST),
        StreamsEvent(6_000, "start", "i1", EventDetails(threads=1, metadata_version=9)),
    ]
    changelogs = {name: ChangelogOutline(0, 200, growth if name == "0_0" else 0.0) for name in names}
    opening = StreamsOpening("initial", {}, tasks_of(names), instances)
    return StreamsEpisodeOutline("random-3613", opening, events, 0, "classic", ASSIGNOR, changelogs, {})


def found(episode: StreamsEpisodeOutline) -> list[tuple[str, str]]:
    # The last changes of metadata are part of the rules of rest.
    findings = findings_of(with_rest(episode), 3613, discover(), may_run_code=True)
    return [(each.rule, each.known) for each in findings]


@pytest.mark.parametrize("growth", [0.0, 10.0])
def test_it_rests(growth: float) -> None:
    assert found(smallest(growth)) == []


def while_lags_are_unknown() -> StreamsEpisodeOutline:
    had = ["0_0", "0_1", "0_2", "0_3", "2_3"]
    copies = ["1_0", "1_1", "1_3", "2_2"]
    lags = dict.fromkeys(had, -2) | dict.fromkeys(("1_0", "1_2", "1_3", "2_0", "2_1", "2_2"), 5) | {"1_1": 0}
    names = ["0_0", "0_2", "0_3", "1_0", "1_1", "1_2", "1_3", "2_0", "2_1", "2_2"]
    instances = [instance("00000000-0000-0000-0000-a3a2b65b28c8", had, copies, lags)]
    changelogs = {name: ChangelogOutline(10 if name in ("1_2", "2_1") else 0, 200) for name in names}
    opening = StreamsOpening("initial", {}, tasks_of(names), instances)
    events = [StreamsEvent(0, "end_offsets_fail", details=EventDetails(for_ms=60_000))]
    return StreamsEpisodeOutline("random-1416335", opening, events, 0, "classic", ASSIGNOR, changelogs, {})


@pytest.mark.slow
def test_it_goes_round_while_lags_are_unknown_and_is_named() -> None:
    rules = found(while_lags_are_unknown())
    assert ("rest", "assignTasksToThreads") in rules
    assert {known for _, known in rules} == {"assignTasksToThreads"}
