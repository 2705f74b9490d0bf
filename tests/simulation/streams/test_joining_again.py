"""Tasks and reports of a thread that rejoins at once: it has neither opened its new tasks nor read their input.

Kafka: a member that must revoke tasks rejoins within the same poll as the assignment
(``AbstractCoordinator.joinGroupIfNeeded``). That is before ``TaskManager`` initialises tasks, and before its consumer
requests positions. A member that only requests a follow-up rejoins after both, when its thread reads the schedule.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assignment_api import ApplicationMetadata, AssignedTask, StreamsClientAssignment, TaskAssignment, TaskId
from assignment_api.releases import KafkaRelease
from assignor_lab.simulation.streams.formats.plays import document_of
from assignor_lab.simulation.streams.leading import LeaderAnswer
from assignor_lab.simulation.streams.simulate import simulate
from tests.simulation.streams.episodes import episode, happens, started

#: Instance to active tasks and standbys.
Wanted = Mapping[str, tuple[list[str], list[str]]]

FIRST: Wanted = {"a": (["0_0"], []), "b": (["0_1"], []), "c": (["0_2"], []), "d": (["0_3"], [])}
#: Not involved; learns of each rebalance with its next heartbeat.
BESIDE: Wanted = {"d": (["0_3"], [])}


class Scripted:
    """Follows a script: its first entry while all four instances are present, then the others in turn."""

    def __init__(self, script: list[Wanted]) -> None:
        self._script, self._decisions = script, 0
        #: Reported standbys by instance, for each decision.
        self.told: list[dict[str, set[str]]] = []

    def assign(self, application: ApplicationMetadata, release: KafkaRelease | None = None) -> LeaderAnswer:
        del release
        clients = application.streams_client_states()
        names = {process: client.consumers[0].split("-")[0] for process, client in clients.items()}
        self.told.append(
            {names[process]: set(map(str, client.previous_standby_tasks)) for process, client in clients.items()}
        )
        self._decisions += len(clients) == 3
        wanted = self._script[min(self._decisions, len(self._script) - 1)]
        return LeaderAnswer(
            TaskAssignment([_given(process, *wanted[names[process]]) for process in clients]), sorted_sets=False
        )


def _given(process: Any, active: list[str], standby: list[str]) -> StreamsClientAssignment:
    tasks = [AssignedTask.active(TaskId.parse(name)) for name in active]
    return StreamsClientAssignment.of(process, tasks + [AssignedTask.standby(TaskId.parse(name)) for name in standby])


def happened(then: Wanted) -> tuple[dict[str, Any], Scripted]:
    """A group of four after ``b`` was killed, and the reports at each decision."""
    events = [*(started(name, threads=1) for name in "abcd"), happens("crash", "b", 20_000)]
    world = episode(events, timings={"open_store_ms": 100})
    scripted = Scripted([FIRST, {**BESIDE, **then}])
    return document_of(simulate(world, scripted), "scripted"), scripted


def test_what_a_thread_gets_while_it_gives_something_up_has_no_input_until_it_has_joined_again() -> None:
    result, _ = happened({"a": (["0_1"], []), "c": (["0_0", "0_2"], [])})
    before, after = result["generations"][-2:]
    assert after["assignment_t_ms"] == before["assignment_t_ms"] + 3_000
    opened = before["assignment_t_ms"] + 100
    assert result["tasks"]["0_1"]["intervals"][-2:] == [
        [before["assignment_t_ms"], opened, "restoring"], [opened, after["assignment_t_ms"], "rebalance"],
    ]  # fmt: skip


def test_what_a_thread_gets_while_it_keeps_everything_runs_as_soon_as_it_is_open() -> None:
    result, _ = happened({"a": (["0_0", "0_1"], []), "c": (["0_2"], [])})
    last = result["generations"][-1]
    assert result["tasks"]["0_1"]["intervals"][-1][1] == last["assignment_t_ms"] + 100


def test_who_gives_something_up_tells_of_that_and_not_of_the_copy_that_it_has_not_opened() -> None:
    _, scripted = happened({"a": (["0_1"], ["0_2"]), "c": (["0_0", "0_2"], ["0_1"])})
    assert scripted.told[-1] == {"a": {"0_0"}, "c": {"0_1"}, "d": set()}


def test_who_asks_for_a_follow_up_has_opened_first_what_it_was_given() -> None:
    # a and d give up tasks and rejoin at once, so the group waits for c alone.
    result, _ = happened({"a": (["0_1", "0_3"], []), "c": (["0_0", "0_2"], ["0_1"]), "d": ([], [])})
    before, after = result["generations"][-2:]
    assert after["assignment_t_ms"] == before["assignment_t_ms"] + 100
