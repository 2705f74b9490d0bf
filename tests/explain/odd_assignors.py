"""Assignors that are hard to explain: one that changes its mind, one that hangs in its fourth call."""

from __future__ import annotations

import os
import time
from itertools import count

from assignment_api import (
    ApplicationMetadata,
    AssignedTask,
    RuleStep,
    StreamsClientAssignment,
    TaskAssignment,
    TaskAssignor,
    Traced,
)

_calls = count(1)


def _all_on(place: int, application: ApplicationMetadata) -> TaskAssignment:
    everything = tuple(AssignedTask.active(task) for task in application.all_tasks())
    clients = list(application.streams_client_states())
    return TaskAssignment(
        [StreamsClientAssignment(client, everything if at == place else ()) for at, client in enumerate(clients)]
    )


class LeastLag(TaskAssignor):
    """Every task on the client with the least lag, or the last one of several."""

    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        application.compute_task_lags()
        clients = list(application.streams_client_states().values())
        held: dict[int, list[AssignedTask]] = {place: [] for place in range(len(clients))}
        for task in application.all_tasks():
            lags = [client.stateful_tasks_to_lag_sums().get(task, 0) for client in clients]
            best = max(place for place, lag in enumerate(lags) if lag == min(lags))
            held[best].append(AssignedTask.active(task))
        return TaskAssignment(
            [StreamsClientAssignment(client.process_id, held[place]) for place, client in enumerate(clients)]
        )


class TellsItsRules(LeastLag):
    """As ``LeastLag``, with steps: the first of them right, the second one broken."""

    def traced(self, application: ApplicationMetadata) -> Traced[TaskAssignment]:
        answer, steps = self.assign(application), []
        for client in answer.assignments:
            for task in client.active_tasks():
                steps.append(RuleStep("least-lag", str(task), "it lags least on {0}", (str(client.process_id),)))
                steps.append(RuleStep("broken", str(task), "nobody knows {1}"))
        rules = {"least-lag": "Where the lag is least.", "broken": 7, "of-nobody": "No step has it."}
        return Traced(answer, steps, rules)  # type: ignore[arg-type]


class TellsAnotherStory(LeastLag):
    """Its steps lead to another answer than its own."""

    def traced(self, application: ApplicationMetadata) -> Traced[TaskAssignment]:
        return Traced(_all_on(0, application), [RuleStep("story", "0_3", "it was so")])


class TellsFormats(LeastLag):
    def traced(self, application: ApplicationMetadata) -> Traced[TaskAssignment]:
        answer = self.assign(application)
        owner = next(str(client.process_id) for client in answer.assignments if client.active_tasks())
        return Traced(answer, [RuleStep("format", "0_3", "{0}{0.__class__}{0:>999999999}{{}}{", (owner,))])


class TellsNonsense(LeastLag):
    """Returns invalid steps."""

    def traced(self, application: ApplicationMetadata) -> Traced[TaskAssignment]:
        return Traced(self.assign(application), [RuleStep(7, None, ["x"], 3)])  # type: ignore[arg-type]


class TellsAndHangs(LeastLag):
    """Answers, but hangs with its steps."""

    def traced(self, application: ApplicationMetadata) -> Traced[TaskAssignment]:
        time.sleep(3_600)
        return Traced(self.assign(application), [])


class TellsAndDies(LeastLag):
    """Its process ends when it should return its steps."""

    def traced(self, application: ApplicationMetadata) -> Traced[TaskAssignment]:
        os._exit(3)


class ChangesItsMind(TaskAssignor):
    """Everything on one client, and on another one in the next call."""

    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        return _all_on(next(_calls) % len(application.streams_client_states()), application)


class HangsLater(TaskAssignor):
    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        if next(_calls) >= 4:
            time.sleep(3_600)
        return _all_on(0, application)


class Hangs(TaskAssignor):
    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        time.sleep(3_600)
        return _all_on(0, application)
