"""Recorded decisions of a group, decided again from their recorded input."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from assignment_api import AssignorLabError
from assignment_api.plugins import ConfigSources, Registry
from assignor_lab.groups.entries import kind_named
from assignor_lab.groups.ownership.labels import client_labels
from assignor_lab.groups.ownership.ownership import Ownership
from assignor_lab.groups.runner.comparison import ComparisonRunner
from assignor_lab.groups.work import WorkItem
from assignor_lab.runtime.assignor_calls import OwnProcesses
from assignor_lab.runtime.invocation import CallFailure
from assignor_lab.scenarios import Scenario

__all__ = ["CheckedDecision", "checked_decisions", "group_of", "kafkas_assignor", "recorded_assignor"]

_MOST_NAMED = 5


@attrs.frozen
class CheckedDecision:
    """The result of one recorded decision that was decided again.

    Args:
        is_exchange: True if every client has as many active tasks as recorded, and not the same ones.
        was_ready: False if nothing was assigned: Kafka calls no assignor while topics are missing.
    """

    scenario: Scenario
    round: int
    assignor: str
    difference: str | None
    not_comparable: str | None = None
    tasks: int = 0
    same_tasks: int = 0
    is_exchange: bool = False
    was_ready: bool = True

    @property
    def is_reproduced(self) -> bool:
        return self.difference is None


def checked_decisions(
    scenarios: Iterable[Scenario],
    registry: Registry,
    config: ConfigSources,
    assignor: str | None = None,
    isolation: OwnProcesses | None = None,
) -> Iterator[CheckedDecision]:
    """Decides each recorded decision again; states without a recorded decision are left out."""
    for number, scenario in enumerate(scenarios):
        if scenario.observed is None:
            continue
        kind = kind_named(scenario.kind)
        ownership = kind.ownership
        if ownership is None:
            continue
        found = kind.find(registry, assignor or recorded_assignor(scenario), may_run_code=True)
        contest = ComparisonRunner(
            kind, [kind.contender(registry, found)], config=config, observed=False, isolation=isolation
        )
        item = WorkItem(number, 0, None, scenario.place.file, scenario.place.line, scenario=scenario)
        for answer in contest.answers(item):
            try:
                recorded = (
                    None
                    if answer.state is None
                    else ownership.answer(scenario, answer.round, answer.state, scenario.observed)
                )
            except AssignorLabError as error:
                yield CheckedDecision(scenario, answer.round, found.name, f"the recording has no valid answer: {error}")
                continue
            if answer.state is not None and recorded is None:
                continue
            result = answer.outcome.result
            if answer.state is None or isinstance(result, CallFailure):
                why = result.message if isinstance(result, CallFailure) else "Kafka would refuse the state"
                yield CheckedDecision(scenario, answer.round, found.name, f"cannot be decided again: {why}")
                continue
            labels = client_labels(ownership.clients(answer.state))
            before, now = ownership.after(answer.state, recorded), ownership.after(answer.state, result)
            yield _checked(scenario, answer.round, found.name, answer.not_comparable, before, now, labels)


def recorded_assignor(scenario: Scenario) -> str:
    """The assignor that the source names, else Kafka's default for its kind."""
    source: Mapping[str, object] = scenario.source or {}
    name = source.get("assignor")
    if isinstance(name, str):
        return name
    return kafkas_assignor(scenario)


def kafkas_assignor(scenario: Scenario) -> str:
    """Kafka's default for the group of a scenario."""
    kind = kind_named(scenario.kind)
    assert kind.ownership is not None
    return kind.usual(scenario) or kind.ownership.default_assignor


def group_of(scenario: Scenario) -> str:
    source: Mapping[str, Any] = scenario.source or {}
    return str(source.get("group", ""))


def _checked(
    scenario: Scenario,
    number: int,
    assignor: str,
    not_comparable: str | None,
    recorded: Ownership,
    decided: Ownership,
    labels: Mapping[str, str],
) -> CheckedDecision:
    tasks = sorted({*recorded.roles, *decided.roles})
    other = [task for task in tasks if _roles(recorded, task) != _roles(decided, task)]
    return CheckedDecision(
        scenario,
        number,
        assignor,
        _difference(recorded, decided, other, labels),
        not_comparable,
        len(tasks),
        len(tasks) - len(other),
        bool(other) and _loads(recorded) == _loads(decided) and _owners(recorded) != _owners(decided),
        any(recorded.roles.values()) or not other,
    )


def _difference(recorded: Ownership, decided: Ownership, other: Sequence[str], labels: Mapping[str, str]) -> str | None:
    if not other:
        return None
    if not any(recorded.roles.values()):
        return "no member got a task: the group was not ready, as before its internal topics are created"
    named = [
        f"{task} was {_place_of(recorded, task, labels)}, and is {_place_of(decided, task, labels)}"
        for task in other[:_MOST_NAMED]
    ]
    more = f"; and {len(other) - _MOST_NAMED} more" if len(other) > _MOST_NAMED else ""
    return "; ".join(named) + more


def _roles(held: Ownership, task: str) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(held.roles.get(task, {}).items()))


def _owners(held: Ownership) -> dict[str, str | None]:
    return {task: held.owner(task) for task in held.roles}


def _loads(held: Ownership) -> Counter[str | None]:
    return Counter(_owners(held).values())


def _place_of(held: Ownership, task: str, labels: Mapping[str, str]) -> str:
    owner, copies = held.owner(task), sorted(labels.get(name, name) for name in held.copies(task))
    place = "with nobody" if owner is None else f"on {labels.get(owner, owner)}"
    return f"{place} with {'a copy' if len(copies) == 1 else 'copies'} on {', '.join(copies)}" if copies else place
