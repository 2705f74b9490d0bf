"""The explanation of where an answer leaves one task: what was known, which rules placed it, what would have."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import attrs

from assignment_api import AssignorLabError
from assignment_api.tracing import RuleStep
from assignor_lab.explain.asking_again import Budget, Question, Said
from assignor_lab.explain.would import Search, search
from assignor_lab.groups.changes import ChangesOf, Knob, setting_knobs
from assignor_lab.groups.holding import Client, Held
from assignor_lab.groups.labels import client_labels

__all__ = ["ClientFacts", "ExplainError", "Explained", "Explanation", "explain"]


class ExplainError(AssignorLabError):
    """What is to be explained is not there, or cannot be."""


@attrs.frozen
class ClientFacts:
    """What concerns a task on one client.

    Args:
        client: The client.
        label: The name that it is shown under.
        facts: What the state says, in a few words; empty: nothing.
        before: Its role before, or ``None``.
        after: Its role by the answer, or ``None``.
    """

    client: str
    label: str
    facts: str
    before: str | None
    after: str | None


@attrs.frozen
class Explanation:
    """Why a task is where an answer leaves it.

    Args:
        task: The task.
        before: Who ran it before, or ``None``: nobody who is there.
        after: Who is to run it, or ``None``: nobody.
        why_not: The client that was asked about, or ``None``.
        clients: Those that the state or the answer says anything of, in the order of the state.
        steps: What the assignor's rules did with it, in order; empty where the assignor does not tell.
        kafka: Who is to run it by what Kafka decided, in a tuple; ``None``: that is not known.
        wish: What the changes below lead to, as ``stay on i1``.
        would: Single changes that lead there.
    """

    task: str
    before: str | None
    after: str | None
    why_not: str | None
    clients: tuple[ClientFacts, ...]
    steps: tuple[RuleStep, ...]
    kafka: tuple[str | None] | None
    wish: str
    would: Search


@attrs.frozen
class Explained:
    """What was asked, and the explanations of its tasks.

    Args:
        scenario: Id of the scenario.
        round: The round.
        rounds: How many rounds the scenario has.
        assignor: Who answered.
        named: Who was named; another one where Kafka has somebody else answer in this state.
        noun: What is held: ``task`` or ``job``.
        labels: Client to the name that it is shown under.
        tasks: How many there are.
        moved: Those that ran elsewhere before, in order.
        tells_rules: Whether the assignor tells what its rules did.
        rules: Id of a rule to what it says, as far as the assignor tells it.
        explanations: Of the tasks that were asked about, in order.
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
    tells_rules: bool
    explanations: tuple[Explanation, ...]
    rules: Mapping[str, str] = attrs.field(factory=dict)

    def label(self, client: str | None) -> str:
        """The name that a client is shown under."""
        return "nobody" if client is None else self.labels.get(client, client)


def explain(
    question: Question,
    task: str | None,
    why_not: str | None,
    budget: Callable[[], Budget],
    only: Collection[str] | None = None,
) -> Explained:
    """Explains where a task is left, or every task that moves.

    Args:
        question: What is asked, of whom.
        task: The task; ``None``: every one that ran elsewhere before.
        why_not: Only with a task: why it is not with this client, which is named by its id, its label, its host, or
            the beginning of one of these.
        budget: Gives a budget for each task that is explained, which may be the same one for all.
        only: Which of those that move are explained; ``None``: all.

    Raises:
        ExplainError: if there is no such task or client, or the assignor has no answer, or not the same one twice.
    """
    kind, holding, changes = question.kind, question.holding, question.kind.changes
    if changes is None:
        raise ExplainError(f"{question.scenario.place}: scenarios of kind {kind.name!r} are not explained")
    said = question.asked()
    if said.held is None:
        raise ExplainError(_no_answer(question, said))
    state, after, before = said.state, said.held, holding.before(said.state)
    clients, tasks = holding.clients(state), holding.tasks(state)
    labels = client_labels(clients)
    if task is not None and task not in tasks:
        raise ExplainError(_no_task(question, task, tasks))
    wanted = None if why_not is None else _client(why_not, clients, labels, question)
    moved = tuple(each for each in tasks if before.owner(each) not in (None, after.owner(each)))
    again = question.asked()
    if again.held != after:
        raise ExplainError(
            f"{question.competitor.found.name} answers the same question differently from call to call: nothing that "
            "follows from one call can be told of the next (`assignor conformance` names what differs)"
        )
    if task is not None and wanted is not None and after.owner(task) == wanted:
        raise ExplainError(f"{task} is with {labels[wanted]}: ask about another client with --why-not")
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
        said.by,
        question.competitor.found.name,
        holding.noun,
        labels,
        len(tasks),
        moved,
        steps is not None,
        explanations,
        rules,
    )


def _explained(
    question: Question,
    changes: ChangesOf[Any],
    task: str,
    why_not: str | None,
    asked: tuple[Any, Held, Held],
    labels: Mapping[str, str],
    kafka: Held | None,
    steps: tuple[RuleStep, ...],
    budget: Budget,
) -> Explanation:
    state, before, after = asked
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
    knobs += setting_knobs(question.settings)
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
        return "go to somebody", lambda owner: owner is not None
    if had is None:
        return "go elsewhere", lambda owner: owner is not None and owner != has
    return "leave " + labels[has], lambda owner: owner != has


def _steps(
    question: Question, state: Any, after: Held
) -> tuple[dict[str, tuple[RuleStep, ...]] | None, Mapping[str, str]]:
    """Task to what was done with it, and what the rules say; ``None`` where that is not told, or leads elsewhere."""
    traced = question.traced()
    if traced is None or question.holding.after(state, traced.answer) != after:
        return None, {}
    found: dict[str, list[RuleStep]] = {}
    for step in traced.steps:
        found.setdefault(step.task, []).append(step)
    return {task: tuple(steps) for task, steps in found.items()}, traced.rules


def _decided(question: Question, state: Any) -> Held | None:
    """Who holds what by Kafka's own decision; ``None``: not known."""
    observed = question.scenario.observed
    if observed is None:
        return None
    try:
        answer = question.holding.answer(question.scenario, question.number, state, observed)
    except (AssignorLabError, IndexError):
        return None
    return None if answer is None else question.holding.after(state, answer)


def _no_answer(question: Question, said: Said) -> str:
    assert said.failure is not None
    place = question.kind.place_of_round(question.number)
    where = f"{question.scenario.id}, {place}" if place else question.scenario.id
    return f"{question.competitor.found.name} has no answer to {where}: {said.failure.type}: {said.failure.message}"


def _no_task(question: Question, task: str, tasks: Sequence[str]) -> str:
    listed = ", ".join(tasks[:8]) + (f" and {len(tasks) - 8} more" if len(tasks) > 8 else "")
    noun = question.holding.noun
    return f"{question.scenario.id} has no {noun} {task!r:.80}: it has {listed or f'no {noun} at all'}"


def _client(wanted: str, clients: Iterable[Client], labels: Mapping[str, str], question: Question) -> str:
    """The client that is meant: by its whole name first, then by the beginning of one."""
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
