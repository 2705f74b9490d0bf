"""The explanation of one task's place in an answer."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import attrs

from assignment_api import AssignorLabError
from assignment_api.optimum import Gap
from assignment_api.tracing import RuleStep
from assignor_lab.explain.changed_calls import Budget, ChangedCall, Question
from assignor_lab.explain.counterfactuals import ChangeSearch, search
from assignor_lab.groups.changes import ChangesOf, Knob, setting_knobs
from assignor_lab.groups.ownership.labels import client_labels
from assignor_lab.groups.ownership.ownership import Ownership, PossibleOwner
from assignor_lab.groups.shown_gaps import shown_gaps

__all__ = ["ClientFacts", "ExplainError", "Explained", "Explanation", "explain"]


class ExplainError(AssignorLabError):
    """The subject of an explanation is missing, or cannot be explained."""


@attrs.frozen
class ClientFacts:
    """Facts of a task on one client."""

    client: str
    label: str
    facts: str
    before: str | None
    after: str | None


@attrs.frozen
class Explanation:
    """The reasons of a task's place in an answer.

    Args:
        clients: Clients with facts in the state or the answer, in the order of the state.
        steps: The rules' steps for it, in order; empty if the assignor reports none.
        kafka: Its owner in Kafka's decision, in a tuple; ``None``: unknown.
        wish: The result of the changes below, as ``stay on i1``.
        would: Single changes with that result.
    """

    task: str
    before: str | None
    after: str | None
    why_not: str | None
    clients: tuple[ClientFacts, ...]
    steps: tuple[RuleStep, ...]
    kafka: tuple[str | None] | None
    wish: str
    would: ChangeSearch


@attrs.frozen
class Explained:
    """A state with the explanations of its tasks.

    Args:
        given: The tasks that the answer places and that no client of the state ran before.
        named: The requested assignor; another one if Kafka replaces it in this state.
        tells_rules: True if the assignor reports its rules.
        rules: Id of a rule to its text, if the assignor provides it.
        idle: Labels of the clients without any task.
        is_kafkas: True for the assignor that Kafka uses by default for groups of this kind.
        limits: Sentences on the number of tasks; empty unless clients are without any as there are fewer tasks.
        gaps: Avoidable part of the answer by goal (:func:`~assignor_lab.groups.shown_gaps.shown_gaps`), if known.
    """

    scenario: str
    round: int
    rounds: int
    assignor: str
    named: str
    noun: str
    labels: Mapping[str, str]
    tasks: int
    moved: tuple[str, ...]
    given: tuple[str, ...]
    tells_rules: bool
    explanations: tuple[Explanation, ...]
    rules: Mapping[str, str] = attrs.field(factory=dict)
    gaps: tuple[Gap, ...] | None = None
    idle: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    is_kafkas: bool = True

    def label(self, client: str | None) -> str:
        return "nobody" if client is None else self.labels.get(client, client)


def explain(
    question: Question,
    task: str | None,
    why_not: str | None,
    budget: Callable[[], Budget],
    only: Collection[str] | None = None,
) -> Explained:
    """Explains the place of one task, or of every task that moves.

    Args:
        task: The task; ``None``: every task with another owner before.
        why_not: Only with a task: the client where it is not. Its id, its label, its host, or the beginning of one of
            these names it.
        only: Which of the moved tasks are explained; ``None``: all.

    Raises:
        ExplainError: if the task or client is missing, or the assignor has no answer, or has two different ones.
    """
    kind, ownership, changes = question.kind, question.ownership, question.kind.changes
    if changes is None:
        raise ExplainError(f"{question.scenario.place}: scenarios of kind {kind.name!r} are not explained")
    outcome = question.asked()
    if outcome.held is None:
        raise ExplainError(_no_answer(question, outcome))
    state, after, before = outcome.state, outcome.held, ownership.before(outcome.state)
    clients, tasks = ownership.clients(state), ownership.tasks(state)
    labels = client_labels(clients)
    if task is not None and task not in tasks:
        raise ExplainError(_no_task(question, task, tasks))
    wanted = None if why_not is None else _client(why_not, clients, labels, question)
    moved = tuple(each for each in tasks if before.owner(each) not in (None, after.owner(each)))
    again = question.asked()
    if again.held != after:
        raise ExplainError(
            f"{question.contender.found.name} answers differently from call to call for the same input: one call "
            "does not explain the next (`assignor conformance` names the differences)"
        )
    if task is not None and wanted is not None and after.owner(task) == wanted:
        raise ExplainError(f"{task} is with {labels[wanted]}: name another client with --why-not")
    busy = {client for roles in after.roles.values() for client in roles}
    idle = tuple(label for client, label in labels.items() if client not in busy)
    kafka, (steps, rules) = _decided(question, state), _steps(question, state, after)
    explanations = tuple(
        _explained(
            question,
            changes,
            each,
            wanted,
            (state, before, after),
            labels,
            kafka,
            (steps or {}).get(each, ()),
            budget(),
        )
        for each in ((task,) if task is not None else moved if only is None else filter(only.__contains__, moved))
    )
    return Explained(
        question.scenario.id,
        question.number,
        kind.rounds(question.scenario),
        outcome.by,
        question.contender.found.name,
        ownership.noun,
        labels,
        len(tasks),
        moved,
        tuple(each for each in tasks if before.owner(each) is None is not after.owner(each)),
        steps is not None,
        explanations,
        rules,
        shown_gaps(kind, state, outcome.answer, len(tasks)),
        idle,
        tuple(kind.task_limits(question.scenario)) if idle and _members(clients) > len(tasks) else (),
        question.contender.found.name.partition("@")[0] == ownership.default_assignor,
    )


def _members(clients: Sequence[PossibleOwner]) -> int:
    """Consumers, one at least for each client."""
    return sum(max(1, len(each.consumers)) for each in clients)


def _explained(
    question: Question,
    changes: ChangesOf[Any],
    task: str,
    why_not: str | None,
    answered: tuple[Any, Ownership, Ownership],
    labels: Mapping[str, str],
    kafka: Ownership | None,
    steps: tuple[RuleStep, ...],
    budget: Budget,
) -> Explanation:
    state, before, after = answered
    had, has = before.owner(task), after.owner(task)
    facts = changes.facts(state, task)
    clients = tuple(
        ClientFacts(client, label, facts.get(client, ""), before.role(task, client), after.role(task, client))
        for client, label in labels.items()
        if client in (had, has, why_not) or client in facts or after.role(task, client) is not None
    )
    wish, is_wished = _wish(had, has, why_not, labels)
    knobs: list[Knob] = list(
        changes.knobs(question.scenario, question.number, state, task, lambda client: labels.get(client, client))
    )
    knobs += setting_knobs(question.settings, question.declared)
    would = search(question, knobs, task, is_wished, budget, frozenset((had, has, why_not)))
    decided = None if kafka is None else (kafka.owner(task),)
    return Explanation(task, had, has, why_not, clients, steps, decided, wish, would)


def _wish(
    had: str | None, has: str | None, why_not: str | None, labels: Mapping[str, str]
) -> tuple[str, Callable[[str | None], bool]]:
    if why_not is not None:
        verb = "stay on" if why_not == had else "go to"
        return f"{verb} {labels[why_not]}", lambda owner: owner == why_not
    if had is not None and had != has:
        return f"stay on {labels[had]}", lambda owner: owner == had
    if has is None:
        return "go to a client", lambda owner: owner is not None
    if had is None:
        return "go elsewhere", lambda owner: owner is not None and owner != has
    return "leave " + labels[has], lambda owner: owner != has


def _steps(
    question: Question, state: Any, after: Ownership
) -> tuple[dict[str, tuple[RuleStep, ...]] | None, Mapping[str, str]]:
    traced = question.traced()
    if traced is None or question.ownership.after(state, traced.answer) != after:
        return None, {}
    found: dict[str, list[RuleStep]] = {}
    for step in traced.steps:
        found.setdefault(step.task, []).append(step)
    return {task: tuple(steps) for task, steps in found.items()}, traced.rules


def _decided(question: Question, state: Any) -> Ownership | None:
    observed = question.scenario.observed
    if observed is None:
        return None
    try:
        answer = question.ownership.answer(question.scenario, question.number, state, observed)
    except (AssignorLabError, IndexError):
        return None
    return None if answer is None else question.ownership.after(state, answer)


def _no_answer(question: Question, outcome: ChangedCall) -> str:
    assert outcome.failure is not None
    place = question.kind.place_of_round(question.number)
    where = f"{question.scenario.id}, {place}" if place else question.scenario.id
    return (
        f"{question.contender.found.name} has no answer to {where}: {outcome.failure.type}: {outcome.failure.message}"
    )


def _no_task(question: Question, task: str, tasks: Sequence[str]) -> str:
    listed = ", ".join(tasks[:8]) + (f" and {len(tasks) - 8} more" if len(tasks) > 8 else "")
    noun = question.ownership.noun
    return f"{question.scenario.id} has no {noun} {task!r:.80}: it has {listed or f'no {noun} at all'}"


def _client(wanted: str, clients: Iterable[PossibleOwner], labels: Mapping[str, str], question: Question) -> str:
    """The named client: by a whole name first, then by the beginning of one."""
    names = {
        client.process_id: [name for name in (client.process_id, labels[client.process_id], client.host) if name]
        for client in clients
    }
    whole = [client for client, own in names.items() if wanted in own]
    found = whole or [client for client, own in names.items() if any(name.startswith(wanted) for name in own)]
    if len(found) == 1:
        return found[0]
    meant = "means several clients" if found else "is no client"
    raise ExplainError(
        f"--why-not {wanted!r:.80} {meant} of {question.scenario.id}: it has {', '.join(labels.values())}"
    )
