from __future__ import annotations

import itertools
import math
import os
import random
import socket
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

from assignment_api import (
    LATEST_OFFSET,
    ApplicationMetadata,
    AssignedTask,
    AssignmentError,
    ConsumerAssignments,
    GroupSubscription,
    ProcessID,
    StreamsClientAssignment,
    TaskAssignment,
    TaskAssignmentError,
    TaskAssignor,
    TaskId,
)

__all__ = ["FAULTS", "Faultless"]

Placed = dict[ProcessID, list[TaskId]]


class Faultless(TaskAssignor):
    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        clients = sorted(application.streams_client_states())
        if not clients and type(self).__name__ != "NeedsAClient":
            raise TaskAssignmentError("no client can run a task")
        actives = self.actives(application, clients)
        standbys = self.standbys(application, clients, actives)
        return self.answer(application, actives, standbys)

    def actives(self, application: ApplicationMetadata, clients: list[ProcessID]) -> Placed:
        placed: Placed = {client: [] for client in clients}
        taken: set[TaskId] = set()
        for client in clients:
            for task in application.streams_client_states()[client].previous_active_tasks:
                if task in application.all_tasks() and task not in taken:
                    placed[client].append(task)
                    taken.add(task)
        for task in sorted(application.all_tasks()):
            if task not in taken:
                placed[min(clients, key=lambda client: (len(placed[client]), client))].append(task)
        return placed

    def standbys(self, application: ApplicationMetadata, clients: list[ProcessID], actives: Placed) -> Placed:
        placed: Placed = {client: [] for client in clients}
        copies = min(application.assignment_configs().num_standby_replicas, len(clients) - 1)
        for place, client in enumerate(clients):
            for task in actives[client]:
                if task in application.stateful_tasks():
                    for following in range(1, copies + 1):
                        placed[clients[(place + following) % len(clients)]].append(task)
        return placed

    def answer(self, application: ApplicationMetadata, actives: Placed, standbys: Placed) -> TaskAssignment:
        return TaskAssignment(
            StreamsClientAssignment.of(
                client,
                [*map(AssignedTask.active, actives[client]), *map(AssignedTask.standby, standbys[client])],
            )
            for client in actives
        )


class MutatesItsInput(Faultless):
    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        answer = super().assign(application)
        if len(application.streams_client_states()) > 1:
            application._clients = dict([*application._clients.items()][:-1])
        return answer


class ReadsTheClock(Faultless):
    def actives(self, application: ApplicationMetadata, clients: list[ProcessID]) -> Placed:
        turn = int(time.time() // 3_600) % len(clients)
        return super().actives(application, [*clients[turn:], *clients[:turn]])


class FollowsTheHashOrder(Faultless):
    def actives(self, application: ApplicationMetadata, clients: list[ProcessID]) -> Placed:
        placed: Placed = {client: [] for client in clients}
        texts = {f"{task}" for task in application.all_tasks()}
        for number, text in enumerate(texts):
            placed[clients[number % len(clients)]].append(TaskId.parse(text))
        return placed


class RemembersCalls(Faultless):
    calls = 0

    def actives(self, application: ApplicationMetadata, clients: list[ProcessID]) -> Placed:
        RemembersCalls.calls += 1
        turn = RemembersCalls.calls % len(clients)
        placed: Placed = {client: [] for client in clients}
        for number, task in enumerate(sorted(application.all_tasks())):
            placed[clients[(number + turn) % len(clients)]].append(task)
        return placed


class LosesATask(Faultless):
    def answer(self, application: ApplicationMetadata, actives: Placed, standbys: Placed) -> TaskAssignment:
        last = [*actives][-1]
        if len(actives) >= 3 and actives[last]:
            actives[last].pop()
        return super().answer(application, actives, standbys)


class RunsATaskTwice(Faultless):
    def answer(self, application: ApplicationMetadata, actives: Placed, standbys: Placed) -> TaskAssignment:
        first, *others = actives
        if others and len(actives[first]) >= 2 and actives[first][0] not in standbys[others[0]]:
            actives[others[0]].append(actives[first][0])
        return super().answer(application, actives, standbys)


class CopiesBesideTheActive(Faultless):
    """The copies of two clients are swapped: each is beside its active, which needs two assignments of one client."""

    def answer(self, application: ApplicationMetadata, actives: Placed, standbys: Placed) -> TaskAssignment:
        answer = super().answer(application, actives, {client: [] for client in actives})
        extra = [
            StreamsClientAssignment.of(client, map(AssignedTask.standby, held))
            for client, held in actives.items()
            if held and application.assignment_configs().num_standby_replicas
            for held in [[task for task in held if task in application.stateful_tasks()]]
            if held
        ]
        return TaskAssignment([*answer.assignments, *extra])


class _Oscillates(Faultless):
    period = 2

    def actives(self, application: ApplicationMetadata, clients: list[ProcessID]) -> Placed:
        placed: Placed = {client: [] for client in clients}
        states = application.streams_client_states()
        for task in sorted(application.all_tasks()):
            before = next((n for n, each in enumerate(clients) if task in states[each].previous_active_tasks), -1)
            placed[clients[(before + 1) % min(self.period, len(clients))]].append(task)
        return placed


class OscillatesWithPeriodTwo(_Oscillates):
    period = 2


class OscillatesWithPeriodThree(_Oscillates):
    period = 3

    def actives(self, application: ApplicationMetadata, clients: list[ProcessID]) -> Placed:
        if len(clients) < 3:
            return Faultless.actives(self, application, clients)
        return super().actives(application, clients)


class IsSlowBySize(Faultless):
    """Iterates over all triples of tasks with all pairs of clients."""

    def actives(self, application: ApplicationMetadata, clients: list[ProcessID]) -> Placed:
        tasks = sorted(application.all_tasks())
        sum(1 for _ in itertools.product(tasks, tasks, tasks, clients))
        return super().actives(application, clients)


class AnswersInAnotherType(Faultless):
    def answer(self, application: ApplicationMetadata, actives: Placed, standbys: Placed) -> Any:
        if len(actives) < 2:
            return super().answer(application, actives, standbys)
        return {str(client): list(map(str, tasks)) for client, tasks in actives.items()}


class RaisesOnOneClient(Faultless):
    def actives(self, application: ApplicationMetadata, clients: list[ProcessID]) -> Placed:
        if len(clients) == 1:
            return {clients[1]: []}
        return super().actives(application, clients)


class DrawsAtRandom(Faultless):
    def actives(self, application: ApplicationMetadata, clients: list[ProcessID]) -> Placed:
        placed: Placed = {client: [] for client in clients}
        for task in sorted(application.all_tasks()):
            placed[random.choice(clients)].append(task)
        return placed


class DropsTheNameOfTheTopology(Faultless):
    def answer(self, application: ApplicationMetadata, actives: Placed, standbys: Placed) -> TaskAssignment:
        unnamed = {
            client: [TaskId(task.subtopology, task.partition) for task in held] for client, held in actives.items()
        }
        return super().answer(application, unnamed, {client: [] for client in actives})


class NeedsAClient(Faultless):
    def actives(self, application: ApplicationMetadata, clients: list[ProcessID]) -> Placed:
        len(application.all_tasks()) // len(clients)
        return super().actives(application, clients)


class NeedsATask(Faultless):
    def actives(self, application: ApplicationMetadata, clients: list[ProcessID]) -> Placed:
        max(application.all_tasks())
        return super().actives(application, clients)


class KnowsOneDigitOnly(Faultless):
    """Loses every partition from 10 on."""

    def answer(self, application: ApplicationMetadata, actives: Placed, standbys: Placed) -> TaskAssignment:
        kept = {client: [task for task in held if task.partition < 10] for client, held in actives.items()}
        return super().answer(application, kept, standbys)


class LosesPartitionsOfLargeGroups(Faultless):
    """Loses every partition from 300 on, which no history has."""

    def answer(self, application: ApplicationMetadata, actives: Placed, standbys: Placed) -> TaskAssignment:
        kept = {client: [task for task in held if task.partition < 300] for client, held in actives.items()}
        return super().answer(application, kept, standbys)


class ChangesLargeGroups(Faultless):
    def actives(self, application: ApplicationMetadata, clients: list[ProcessID]) -> Placed:
        placed = super().actives(application, clients)
        if len(clients) > 20:
            application._clients = dict([*application._clients.items()][:-1])
        return placed


class KnowsSixClients(Faultless):
    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        clients = sorted(application.streams_client_states())[:6]
        actives = self.actives(application, clients)
        return self.answer(application, actives, self.standbys(application, clients, actives))


class ComparesHosts(Faultless):
    """Has no order for addresses."""

    def actives(self, application: ApplicationMetadata, clients: list[ProcessID]) -> Placed:
        states = application.streams_client_states()
        hosts: list[Any] = [{"host": states[client].host_info} for client in clients if states[client].host_info]
        hosts.sort()
        return super().actives(application, clients)


class ForgetsCopiesWithTags(Faultless):
    def standbys(self, application: ApplicationMetadata, clients: list[ProcessID], actives: Placed) -> Placed:
        if application.assignment_configs().rack_aware_assignment_tags:
            return {client: [] for client in clients}
        return super().standbys(application, clients, actives)


class LosesTasksOfOtherRacks(Faultless):
    def answer(self, application: ApplicationMetadata, actives: Placed, standbys: Placed) -> TaskAssignment:
        if application.assignment_configs().rack_aware_assignment_strategy == "balance_subtopology":
            for client, held in actives.items():
                rack = application.streams_client_states()[client].rack_id
                held[:] = [task for task in held if rack in self.racks(application, task)]
        return super().answer(application, actives, standbys)

    def racks(self, application: ApplicationMetadata, task: TaskId) -> set[str]:
        sources = application.task_infos()[task].source_partitions()
        return {rack for source in sources for rack in source.rack_ids or ()}


class KeepsVanishedTasks(Faultless):
    def actives(self, application: ApplicationMetadata, clients: list[ProcessID]) -> Placed:
        placed = super().actives(application, clients)
        for client in clients:
            previous = application.streams_client_states()[client].previous_active_tasks
            placed[client] += [task for task in previous if task not in application.all_tasks()]
        return placed


class BelievesEveryOwner(Faultless):
    def actives(self, application: ApplicationMetadata, clients: list[ProcessID]) -> Placed:
        placed = super().actives(application, clients)
        for client in clients:
            for task in application.streams_client_states()[client].previous_active_tasks:
                if task in application.all_tasks() and task not in placed[client]:
                    placed[client].append(task)
        return placed


class NeedsEveryWeight(Faultless):
    def actives(self, application: ApplicationMetadata, clients: list[ProcessID]) -> Placed:
        workload = application.workload()
        if workload is not None:
            sum(workload.tasks[task].weight or 0 for task in application.all_tasks())
        return super().actives(application, clients)


class AddsUpUnknownLags(Faultless):
    """Treats -3 as a number of offsets."""

    def actives(self, application: ApplicationMetadata, clients: list[ProcessID]) -> Placed:
        if application.compute_task_lags():
            for client in application.streams_client_states().values():
                for lag in client.stateful_tasks_to_lag_sums().values():
                    math.sqrt(0 if lag == LATEST_OFFSET else lag)
        return super().actives(application, clients)


class ExpectsTheFirstClientToLead(Faultless):
    def actives(self, application: ApplicationMetadata, clients: list[ProcessID]) -> Placed:
        placed = super().actives(application, clients)
        if application.leader_process_id() != next(iter(application.streams_client_states()), None):
            placed[clients[-1]].clear()
        return placed


class ReadsTheProcessFromConsumers(Faultless):
    """A static member keeps the names of its consumers when its process id changes."""

    def answer(self, application: ApplicationMetadata, actives: Placed, standbys: Placed) -> TaskAssignment:
        states = application.streams_client_states()
        named = {client: ProcessID(UUID(int=int(states[client].consumers[0].split("-")[1]) + 1)) for client in actives}
        moved = {named[client]: held for client, held in actives.items()}
        return super().answer(application, moved, {named[client]: held for client, held in standbys.items()})


class CalculatesWithTexts(Faultless):
    def configure(self, configs: Mapping[str, Any]) -> None:
        assert configs["num.standby.replicas"] >= 0


class RaisesInItsCallback(Faultless):
    def on_assignment_computed(
        self, assignment: ConsumerAssignments, subscription: GroupSubscription, error: AssignmentError
    ) -> None:
        max(len(member.partitions) for member in assignment.members.values() if member.partitions)


class RemembersItsCallback(Faultless):
    """Rotates by the number of callbacks."""

    calls = 0

    def on_assignment_computed(
        self, assignment: ConsumerAssignments, subscription: GroupSubscription, error: AssignmentError
    ) -> None:
        RemembersItsCallback.calls += 1

    def actives(self, application: ApplicationMetadata, clients: list[ProcessID]) -> Placed:
        turn = RemembersItsCallback.calls % max(len(clients), 1)
        placed: Placed = {client: [] for client in clients}
        for number, task in enumerate(sorted(application.all_tasks())):
            placed[clients[(number + turn) % len(clients)]].append(task)
        return placed


class MakesNoStandbys(Faultless):
    def standbys(self, application: ApplicationMetadata, clients: list[ProcessID], actives: Placed) -> Placed:
        return {client: [] for client in clients}


class WarmsUpWithoutEnd(Faultless):
    """One copy more than configured, without a follow-up."""

    def standbys(self, application: ApplicationMetadata, clients: list[ProcessID], actives: Placed) -> Placed:
        placed = super().standbys(application, clients, actives)
        if application.assignment_configs().num_standby_replicas == 0 and len(clients) > 1:
            stateful = [task for task in actives[clients[0]] if task in application.stateful_tasks()]
            placed[clients[1]] += stateful[:1]
        return placed


class WarmsUpTooMany(Faultless):
    """As many warm-ups as there are tasks, with a follow-up."""

    def standbys(self, application: ApplicationMetadata, clients: list[ProcessID], actives: Placed) -> Placed:
        placed = super().standbys(application, clients, actives)
        if application.assignment_configs().num_standby_replicas == 0 and len(clients) > 1:
            placed[clients[1]] += [task for task in actives[clients[0]] if task in application.stateful_tasks()]
        return placed

    def answer(self, application: ApplicationMetadata, actives: Placed, standbys: Placed) -> TaskAssignment:
        answer = super().answer(application, actives, standbys)
        return TaskAssignment([each.with_followup_rebalance(0) for each in answer.assignments])


class _FollowsUp(Faultless):
    """Requests one follow-up for a new client."""

    def deadline_ms(self, application: ApplicationMetadata) -> int:
        raise NotImplementedError

    def answer(self, application: ApplicationMetadata, actives: Placed, standbys: Placed) -> TaskAssignment:
        states = application.streams_client_states()
        is_new = any(not states[client].previous_active_tasks for client, held in actives.items() if held)
        answer = super().answer(application, actives, standbys)
        if not is_new:
            return answer
        return TaskAssignment(
            [each.with_followup_rebalance(self.deadline_ms(application)) for each in answer.assignments]
        )


class FollowsUpAfterADuration(_FollowsUp):
    def deadline_ms(self, application: ApplicationMetadata) -> int:
        return application.assignment_configs().probing_rebalance_interval_ms


class FollowsUpInNanoseconds(_FollowsUp):
    def deadline_ms(self, application: ApplicationMetadata) -> int:
        return application.current_time_ms() * 1_000_000


class FollowsUpBeforeTheEpoch(_FollowsUp):
    def deadline_ms(self, application: ApplicationMetadata) -> int:
        return -1


class SwapsTheKeys(Faultless):
    """Each assignment is under the process id of another client."""

    def answer(self, application: ApplicationMetadata, actives: Placed, standbys: Placed) -> TaskAssignment:
        answer = super().answer(application, actives, standbys)
        keys = [each.process_id for each in answer.assignments]
        return TaskAssignment(dict(zip([*keys[1:], *keys[:1]], answer.assignments, strict=True)))


class LoopsThreeTimesOverTasks(Faultless):
    def actives(self, application: ApplicationMetadata, clients: list[ProcessID]) -> Placed:
        tasks = range(len(application.all_tasks()))
        sum(1 for _ in itertools.product(tasks, tasks, tasks))
        return super().actives(application, clients)


class ChangesTags(Faultless):
    def actives(self, application: ApplicationMetadata, clients: list[ProcessID]) -> Placed:
        for client in application.streams_client_states().values():
            if client.client_tags:
                object.__setattr__(client, "client_tags", {})
        return super().actives(application, clients)


class WaitsForAnEvent(Faultless):
    def actives(self, application: ApplicationMetadata, clients: list[ProcessID]) -> Placed:
        threading.Event().wait(0.000_1)
        return super().actives(application, clients)


class ReadsTheClockInAThread(Faultless):
    def actives(self, application: ApplicationMetadata, clients: list[ProcessID]) -> Placed:
        thread = threading.Thread(target=time.time)
        thread.start()
        thread.join()
        return super().actives(application, clients)


class MakesAGeneratorWithoutASeed(Faultless):
    def actives(self, application: ApplicationMetadata, clients: list[ProcessID]) -> Placed:
        return super().actives(application, clients if random.Random().random() >= 0 else clients[::-1])


#: Fault to its rule, and to the most events, members and tasks of its shrunk history. None: a single state shows it.
class IgnoresNamesOfTopologies(Faultless):
    def actives(self, application: ApplicationMetadata, clients: list[ProcessID]) -> Placed:
        by_number = {(task.subtopology, task.partition): task for task in sorted(application.all_tasks())}
        return {client: list(by_number.values()) if client == clients[0] else [] for client in clients}


class KnowsFourThreads(Faultless):
    def actives(self, application: ApplicationMetadata, clients: list[ProcessID]) -> Placed:
        for state in application.streams_client_states().values():
            ("one", "two", "three", "four")[state.num_stream_threads - 1]
        return super().actives(application, clients)


class KnowsThreeSubtopologies(Faultless):
    def actives(self, application: ApplicationMetadata, clients: list[ProcessID]) -> Placed:
        for task in application.all_tasks():
            ("a", "b", "c")[task.subtopology]
        return super().actives(application, clients)


class KnowsTwoStandbys(Faultless):
    def standbys(self, application: ApplicationMetadata, clients: list[ProcessID], actives: Placed) -> Placed:
        placed: Placed = {client: [] for client in clients}
        copies = min(application.assignment_configs().num_standby_replicas, len(clients) - 1, 2)
        for place, client in enumerate(clients):
            for task in filter(application.stateful_tasks().__contains__, actives[client]):
                for following in range(1, copies + 1):
                    placed[clients[(place + following) % len(clients)]].append(task)
        return placed


class ExpectsPositiveStandbys(Faultless):
    def actives(self, application: ApplicationMetadata, clients: list[ProcessID]) -> Placed:
        math.sqrt(application.assignment_configs().num_standby_replicas)
        return super().actives(application, clients)


class DividesByTheRecoveryLag(Faultless):
    def actives(self, application: ApplicationMetadata, clients: list[ProcessID]) -> Placed:
        assert 1 / application.assignment_configs().acceptable_recovery_lag
        return super().actives(application, clients)


class ComparesRacks(Faultless):
    def actives(self, application: ApplicationMetadata, clients: list[ProcessID]) -> Placed:
        racks: list[Any] = [each.rack_id for each in application.streams_client_states().values()]
        if any(racks):
            sorted(racks)
        return super().actives(application, clients)


class FollowsTheFirstTag(Faultless):
    def actives(self, application: ApplicationMetadata, clients: list[ProcessID]) -> Placed:
        states = application.streams_client_states()
        clients = sorted(clients, key=lambda each: (list(states[each].client_tags.items())[:1], each), reverse=True)
        placed: Placed = {client: [] for client in clients}
        turn = 1 if [*states[clients[0]].client_tags][:1] == ["zone"] else 0
        for number, task in enumerate(sorted(application.all_tasks())):
            placed[clients[(number + turn) % len(clients)]].append(task)
        return placed


class CachesInItsClass(Faultless):
    cache: dict[int, int] = {}  # noqa: RUF012 - the fault

    def actives(self, application: ApplicationMetadata, clients: list[ProcessID]) -> Placed:
        turn = self.cache.setdefault(len(clients), len(application.all_tasks()))
        turned = turn % len(clients)
        placed: Placed = {client: [] for client in clients}
        for number, task in enumerate(sorted(application.all_tasks())):
            placed[clients[(number + turned) % len(clients)]].append(task)
        return placed


class _ReadsTheMachine(Faultless):
    def read(self) -> object:
        raise NotImplementedError

    def actives(self, application: ApplicationMetadata, clients: list[ProcessID]) -> Placed:
        self.read()
        return super().actives(application, clients)


class ReadsTheHostName(_ReadsTheMachine):
    def read(self) -> object:
        return socket.gethostname()


class ReadsTheEnvironment(_ReadsTheMachine):
    def read(self) -> object:
        return os.environ.get("ZONE")


class ReadsTheUptime(_ReadsTheMachine):
    def read(self) -> object:
        return Path("/proc/uptime").read_text(encoding="ascii")


class ReadsTheFolder(_ReadsTheMachine):
    def read(self) -> object:
        return Path.cwd()


FAULTS: dict[type[Faultless], tuple[str, tuple[int, int, int] | None]] = {
    MutatesItsInput: ("input untouched", (0, 2, 0)),
    ReadsTheClock: ("no clock", (0, 1, 0)),
    FollowsTheHashOrder: ("any process", (0, 2, 3)),
    RemembersCalls: ("nothing kept", (0, 2, 1)),
    LosesATask: ("nothing lost", (0, 3, 3)),
    RunsATaskTwice: ("accepted", (0, 2, 3)),
    CopiesBesideTheActive: ("copies elsewhere", (0, 1, 1)),
    OscillatesWithPeriodTwo: ("at rest", (0, 2, 1)),
    OscillatesWithPeriodThree: ("at rest", (0, 3, 1)),
    IsSlowBySize: ("growth", None),
    AnswersInAnotherType: ("right types", (0, 2, 0)),
    RaisesOnOneClient: ("answers", (0, 1, 0)),
    DrawsAtRandom: ("no chance", (0, 1, 1)),
    DropsTheNameOfTheTopology: ("accepted", (0, 1, 1)),
    NeedsATask: ("answers", (0, 1, 0)),
    KnowsOneDigitOnly: ("nothing lost", (0, 1, 11)),
    LosesPartitionsOfLargeGroups: ("nothing lost", None),
    ChangesLargeGroups: ("input untouched", None),
    KnowsSixClients: ("accepted", (0, 7, 0)),
    ComparesHosts: ("answers", (0, 2, 0)),
    ForgetsCopiesWithTags: ("copies made", (0, 2, 1)),
    LosesTasksOfOtherRacks: ("nothing lost", (0, 1, 2)),
    KeepsVanishedTasks: ("accepted", (1, 1, 1)),
    BelievesEveryOwner: ("accepted", (1, 2, 2)),
    NeedsEveryWeight: ("answers", (0, 1, 1)),
    AddsUpUnknownLags: ("answers", (1, 2, 2)),
    ExpectsTheFirstClientToLead: ("nothing lost", (1, 2, 2)),
    ReadsTheProcessFromConsumers: ("accepted", (1, 1, 0)),
    CalculatesWithTexts: ("answers", (0, 1, 0)),
    RaisesInItsCallback: ("callback", (0, 1, 0)),
    RemembersItsCallback: ("nothing kept", (0, 2, 1)),
    MakesNoStandbys: ("copies made", (0, 2, 1)),
    WarmsUpWithoutEnd: ("copies asked for", (0, 2, 1)),
    WarmsUpTooMany: ("copies asked for", (0, 2, 3)),
    FollowsUpAfterADuration: ("point in time", (0, 1, 1)),
    FollowsUpInNanoseconds: ("point in time", (0, 1, 1)),
    FollowsUpBeforeTheEpoch: ("point in time", (0, 1, 1)),
    SwapsTheKeys: ("answers", (0, 2, 0)),
    LoopsThreeTimesOverTasks: ("growth", None),
    ChangesTags: ("input untouched", (0, 1, 0)),
    WaitsForAnEvent: ("no clock", (0, 1, 0)),
    ReadsTheClockInAThread: ("no clock", (0, 1, 0)),
    MakesAGeneratorWithoutASeed: ("no chance", (0, 1, 0)),
    IgnoresNamesOfTopologies: ("nothing lost", (0, 1, 2)),
    KnowsFourThreads: ("answers", (0, 1, 0)),
    KnowsThreeSubtopologies: ("answers", (0, 1, 1)),
    KnowsTwoStandbys: ("copies made", (0, 4, 1)),
    ExpectsPositiveStandbys: ("answers", (0, 1, 0)),
    DividesByTheRecoveryLag: ("answers", (0, 1, 0)),
    ComparesRacks: ("answers", (0, 2, 0)),
    FollowsTheFirstTag: ("any order", (0, 2, 1)),
    CachesInItsClass: ("any process", (0, 2, 1)),
    ReadsTheHostName: ("no machine", (0, 1, 0)),
    ReadsTheEnvironment: ("no machine", (0, 1, 0)),
    ReadsTheUptime: ("no machine", (0, 1, 0)),
    ReadsTheFolder: ("no machine", (0, 1, 0)),
}
