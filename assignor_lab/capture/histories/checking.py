"""Recorded decisions decided again: how many come out as recorded, and what is otherwise in the others."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

import attrs

from assignment_api import AssignorLabError
from assignment_api.plugins import ConfigSources, Registry
from assignor_lab.groups.contest import Contest
from assignor_lab.groups.entries import kind_named
from assignor_lab.groups.holding import Held
from assignor_lab.groups.labels import client_labels
from assignor_lab.groups.work import WorkItem
from assignor_lab.runtime.asking import OwnProcesses
from assignor_lab.runtime.invocation import Failure
from assignor_lab.scenarios import Scenario

__all__ = ["CheckedDecision", "checked_decisions"]

#: Tasks that a sentence names.
_MOST_NAMED = 5


@attrs.frozen
class CheckedDecision:
    """What came of deciding a recorded decision again.

    Args:
        scenario: The decision.
        round: Round of the history, where the scenario is one.
        assignor: Who decided again.
        difference: What is otherwise than recorded, in a sentence; ``None``: nothing.
        not_comparable: Why the answer says nothing of what would really have been decided; ``None``: it does.
    """

    scenario: Scenario
    round: int
    assignor: str
    difference: str | None
    not_comparable: str | None = None


def checked_decisions(
    scenarios: Iterable[Scenario],
    registry: Registry,
    config: ConfigSources,
    assignor: str | None = None,
    isolation: OwnProcesses | None = None,
) -> Iterator[CheckedDecision]:
    """Decides each recorded decision again; scenarios of which it is not known what was decided are passed over.

    Args:
        scenarios: Recorded decisions of any kind.
        registry: The plugins.
        config: Configuration around each scenario's own.
        assignor: Who decides; ``None``: whom the source names, else Kafka's default for the kind of group.
        isolation: Who runs in a process of its own, and those processes.

    Raises:
        UnknownPluginError: if there is no such assignor.
    """
    for number, scenario in enumerate(scenarios):
        if scenario.observed is None:
            continue
        kind = kind_named(scenario.kind)
        holding = kind.holding
        if holding is None:
            continue
        found = kind.find(registry, assignor or _named(scenario) or holding.default_assignor, may_run_code=True)
        contest = Contest(kind, [kind.competitor(registry, found)], config=config, observed=False, isolation=isolation)
        item = WorkItem(number, 0, json.dumps(scenario.document), scenario.place.file, scenario.place.line)
        for answer in contest.answers(item):
            try:
                recorded = (
                    None
                    if answer.state is None
                    else holding.answer(scenario, answer.round, answer.state, scenario.observed)
                )
            except AssignorLabError as error:
                yield CheckedDecision(scenario, answer.round, found.name, f"what was recorded is no answer: {error}")
                continue
            if answer.state is not None and recorded is None:
                continue
            result = answer.outcome.result
            if answer.state is None or isinstance(result, Failure):
                why = result.message if isinstance(result, Failure) else "the state is none that Kafka would accept"
                yield CheckedDecision(scenario, answer.round, found.name, f"cannot be decided again: {why}")
                continue
            labels = client_labels(holding.clients(answer.state))
            difference = _difference(holding.after(answer.state, recorded), holding.after(answer.state, result), labels)
            yield CheckedDecision(scenario, answer.round, found.name, difference, answer.not_comparable)


def _named(scenario: Scenario) -> str | None:
    """The assignor that decided, as the source names it."""
    source: Mapping[str, object] = scenario.source or {}
    name = source.get("assignor")
    return name if isinstance(name, str) else None


def _difference(recorded: Held, decided: Held, labels: Mapping[str, str]) -> str | None:
    tasks = sorted({*recorded.roles, *decided.roles})
    other = [task for task in tasks if _sets(recorded, task) != _sets(decided, task)]
    if not other:
        return None
    if not any(recorded.roles.values()):
        return "nobody was given anything: the group was not ready, as before its internal topics are made"
    named = [
        f"{task} was {_told(recorded, task, labels)}, and is {_told(decided, task, labels)}"
        for task in other[:_MOST_NAMED]
    ]
    more = f"; and {len(other) - _MOST_NAMED} more" if len(other) > _MOST_NAMED else ""
    return "; ".join(named) + more


def _sets(held: Held, task: str) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(held.roles.get(task, {}).items()))


def _told(held: Held, task: str, labels: Mapping[str, str]) -> str:
    owner, copies = held.owner(task), sorted(labels.get(name, name) for name in held.copies(task))
    told = "with nobody" if owner is None else f"on {labels.get(owner, owner)}"
    return f"{told} with {'a copy' if len(copies) == 1 else 'copies'} on {', '.join(copies)}" if copies else told
