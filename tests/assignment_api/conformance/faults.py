"""Assignors with one fault each, around one that has none: what the kit has to find."""

from __future__ import annotations

import itertools
import random
import time
from typing import Any

from assignment_api import (
    ApplicationMetadata,
    AssignedTask,
    ProcessID,
    StreamsClientAssignment,
    TaskAssignment,
    TaskAssignor,
    TaskId,
)

__all__ = ["FAULTS", "Faultless"]

Placed = dict[ProcessID, list[TaskId]]


class Faultless(TaskAssignor):
    """Leaves a task where it was, gives the others to who has least; standbys on the following clients."""

    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        clients = sorted(application.streams_client_states())
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
    """Rotates by the hour: two calls in a row agree."""

    def actives(self, application: ApplicationMetadata, clients: list[ProcessID]) -> Placed:
        turn = int(time.time() // 3_600) % len(clients)
        return super().actives(application, [*clients[turn:], *clients[:turn]])


class FollowsTheHashOrder(Faultless):
    """Walks a set of texts."""

    def actives(self, application: ApplicationMetadata, clients: list[ProcessID]) -> Placed:
        placed: Placed = {client: [] for client in clients}
        texts = {f"{task}" for task in application.all_tasks()}
        for number, text in enumerate(texts):
            placed[clients[number % len(clients)]].append(TaskId.parse(text))
        return placed


class RemembersCalls(Faultless):
    """Counts its calls in a class attribute."""

    calls = 0

    def actives(self, application: ApplicationMetadata, clients: list[ProcessID]) -> Placed:
        RemembersCalls.calls += 1
        turn = RemembersCalls.calls % len(clients)
        placed: Placed = {client: [] for client in clients}
        for number, task in enumerate(sorted(application.all_tasks())):
            placed[clients[(number + turn) % len(clients)]].append(task)
        return placed


class LosesATask(Faultless):
    """The last client of three or more loses one of its tasks."""

    def answer(self, application: ApplicationMetadata, actives: Placed, standbys: Placed) -> TaskAssignment:
        last = [*actives][-1]
        if len(actives) >= 3 and actives[last]:
            actives[last].pop()
        return super().answer(application, actives, standbys)


class RunsATaskTwice(Faultless):
    """A task that two clients had stays on both."""

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
    """Passes everything on to the next client in each rebalance, in turns of ``period``."""

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
    """Looks at all triples of tasks with all pairs of clients."""

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


#: Fault to the rules of which the kit has to name one.
FAULTS: dict[type[Faultless], set[str]] = {
    MutatesItsInput: {"input untouched"},
    ReadsTheClock: {"no clock"},
    FollowsTheHashOrder: {"any process"},
    RemembersCalls: {"nothing kept"},
    LosesATask: {"nothing lost"},
    RunsATaskTwice: {"accepted"},
    CopiesBesideTheActive: {"copies elsewhere"},
    OscillatesWithPeriodTwo: {"at rest"},
    OscillatesWithPeriodThree: {"at rest"},
    IsSlowBySize: {"growth"},
    AnswersInAnotherType: {"right types"},
    RaisesOnOneClient: {"answers"},
    DrawsAtRandom: {"no chance"},
}
