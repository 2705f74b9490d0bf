"""Figures beside Kafka's own assignor: warnings for poor answers, none for Kafka's own."""

from __future__ import annotations

from typing import Any

import pytest

from assignment_api import ApplicationMetadata, ProcessID, TaskAssignor, TaskId
from assignment_api.conformance import KINDS, InProcessSubject, StreamsAssignorConformance, Trial
from assignment_api.conformance.history import Event, History, document_of
from assignment_api.conformance.quality import warnings_of
from assignment_api.connect import Jobs, Rebalance, WorkerAssignment
from assignment_api.group import GroupSpec, MemberAssignment, TopologyDescriber
from builtin_assignors.connect_incremental import IncrementalCooperativeAssignor
from builtin_assignors.group_sticky import GroupStickyTaskAssignor
from builtin_assignors.high_availability import HighAvailabilityTaskAssignor
from tests.assignment_api.conformance.faults import Faultless, LosesATask, Placed
from tests.assignment_api.conformance.kind_faults import OfConnect, OfGroup, Targets


def subject(assignor: type[TaskAssignor]) -> InProcessSubject[ApplicationMetadata]:
    return InProcessSubject(assignor.__name__, assignor, KINDS["streams"].answering)


class GivesAllToTheFirst(Faultless):
    def actives(self, application: ApplicationMetadata, clients: list[ProcessID]) -> Placed:
        return {client: sorted(application.all_tasks()) if client == clients[0] else [] for client in clients}


class GivesAllToTheNewest(Faultless):
    """Moves every task, with its state, to each new client."""

    def actives(self, application: ApplicationMetadata, clients: list[ProcessID]) -> Placed:
        return {client: sorted(application.all_tasks()) if client == clients[-1] else [] for client in clients}


class DealsAnew(Faultless):
    """Moves most tasks whenever the number of clients changes."""

    def actives(self, application: ApplicationMetadata, clients: list[ProcessID]) -> Placed:
        placed: dict[ProcessID, list[TaskId]] = {client: [] for client in clients}
        for number, task in enumerate(sorted(application.all_tasks())):
            placed[clients[-1 - number % len(clients)]].append(task)
        return placed


class ReversesOnALeave(DealsAnew):
    """Passes every task on when a client with tasks has gone."""

    def actives(self, application: ApplicationMetadata, clients: list[ProcessID]) -> Placed:
        states = application.streams_client_states().values()
        ran = sum(len(client.previous_active_tasks) for client in states)
        if not ran or ran == len(application.all_tasks()):
            return Faultless.actives(self, application, clients)
        owners = {task: number for number, client in enumerate(clients) for task in self.previous(application, client)}
        placed: Placed = {client: [] for client in clients}
        for task in sorted(application.all_tasks()):
            placed[clients[(owners.get(task, 0) + 1) % len(clients)]].append(task)
        return placed

    def previous(self, application: ApplicationMetadata, client: ProcessID) -> tuple[TaskId, ...]:
        return application.streams_client_states()[client].previous_active_tasks


@pytest.mark.parametrize(
    ("assignor", "figures"),
    [
        (GivesAllToTheFirst, {"balance", "idle", "racks"}),
        (GivesAllToTheNewest, {"join", "balance", "idle", "restored"}),
        (DealsAnew, {"join", "restored", "racks"}),
        (ReversesOnALeave, {"leave"}),
        (HighAvailabilityTaskAssignor, set()),
    ],
)
def test_a_clearly_worse_figure_is_a_warning(assignor: type[TaskAssignor], figures: set[str]) -> None:
    trial = Trial(KINDS["streams"], subject(assignor))
    found = {
        each.figure: each for each in warnings_of(trial, subject(HighAvailabilityTaskAssignor), "high_availability")
    }
    assert figures <= found.keys()
    assert bool(figures) == bool(found)
    for warning in found.values():
        assert "; high_availability " in warning.found
        assert len(warning.history["members"]) <= 4


class GivesAllToTheFirstMember(OfGroup):
    def changed(self, targets: Targets, group: GroupSpec, topology: TopologyDescriber) -> Targets:
        every = {each: tuple(range(topology.max_num_input_partitions(each))) for each in topology.subtopologies()}
        return {member: MemberAssignment(every if member == min(targets) else {}) for member in targets}


class GivesNewJobsToTheFirstWorker(OfConnect):
    """Stops nothing for balance."""

    def changed(self, workers: dict[str, WorkerAssignment], rebalance: Rebalance) -> dict[str, WorkerAssignment]:
        new = Jobs()
        for told in workers.values():
            new = new.plus(told.assigned)
        return {worker: WorkerAssignment(new if worker == min(workers) else Jobs()) for worker in workers}


@pytest.mark.parametrize(
    ("kind", "assignor", "reference"),
    [
        ("streams-group", GivesAllToTheFirstMember, GroupStickyTaskAssignor),
        ("connect", GivesNewJobsToTheFirstWorker, IncrementalCooperativeAssignor),
    ],
)
def test_each_kind_is_compared_with_its_own_assignor_of_kafka(
    kind: str, assignor: type[Any], reference: type[Any]
) -> None:
    poor, kafkas = (InProcessSubject("it", each, KINDS[kind].answering) for each in (assignor, reference))
    found = {each.figure for each in warnings_of(Trial(KINDS[kind], poor), kafkas, "Kafka's")}
    assert {"balance", "idle"} <= found
    assert warnings_of(Trial(KINDS[kind], kafkas), kafkas, "Kafka's") == ()


class DealsAnewInACrowd(DealsAnew):
    """Moves most tasks in groups of seven clients or more, which no fixed group has."""

    def actives(self, application: ApplicationMetadata, clients: list[ProcessID]) -> Placed:
        deals = super().actives if len(clients) >= 7 else Faultless().actives
        return deals(application, clients)


@pytest.mark.slow
def test_drawn_histories_show_what_small_groups_hide() -> None:
    trial = Trial(KINDS["streams"], subject(DealsAnewInACrowd))
    reference = subject(HighAvailabilityTaskAssignor)
    assert not {"join", "leave"} & {each.figure for each in warnings_of(trial, reference, "high_availability")}
    crowd = History("streams", ((12, 1),), (1,) * 7, events=(Event("join"), Event("leave"), Event("join")))
    found = {each.figure: each for each in warnings_of(trial, reference, "high_availability", [crowd] * 24)}
    assert found["join"].history == document_of(crowd)
    assert len(found["join"].history["events"]) == 3


@pytest.mark.slow
def test_a_test_class_warns_of_poor_quality(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assignment_api.conformance.growth.SIZES", (4, 8))
    case: type[StreamsAssignorConformance] = type(
        "Case", (StreamsAssignorConformance,), {"assignor": GivesAllToTheFirst}
    )
    report = case.report(histories=1)
    assert "balance" in [warning.figure for warning in report.warnings]
    assert all("high_availability" in warning.text() for warning in report.warnings)


def test_a_group_that_loses_a_task_at_its_event_has_no_figures() -> None:
    trial = Trial(KINDS["streams"], subject(LosesATask))
    found = warnings_of(trial, subject(HighAvailabilityTaskAssignor), "high_availability")
    assert all(warning.reference == "high_availability" for warning in found)
