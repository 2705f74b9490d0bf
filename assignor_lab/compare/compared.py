"""The comparison of two contenders, state by state, as plain values."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import attrs

from assignment_api.optimum import Gap
from assignor_lab.compare.contenders import ComparedContender, ContenderError, ContenderTerms
from assignor_lab.compare.figures import Rows, compared_figures, metrics_of_headline
from assignor_lab.groups.entries import kind_named
from assignor_lab.groups.kind import ContenderAnswer, GroupKind
from assignor_lab.groups.ownership.labels import client_labels
from assignor_lab.groups.ownership.ownership import Ownership, OwnershipOf
from assignor_lab.groups.runner.rows import RowMaker
from assignor_lab.groups.shown_gaps import shown_gaps
from assignor_lab.groups.work import WorkItem
from assignor_lab.model.comparisons import FigureCompared
from assignor_lab.scenarios import Scenario

__all__ = ["Compared", "Differing", "Side", "StateCompared", "compare"]


@attrs.frozen
class Differing:
    """A task that the two contenders give to different clients, in some role.

    Args:
        copies: Clients with a copy of it, of each contender, in the order of the clients.
    """

    task: str
    before: str | None
    owners: tuple[str | None, str | None]
    copies: tuple[tuple[str, ...], tuple[str, ...]]

    @property
    def is_elsewhere(self) -> bool:
        """True if its active task differs, not only its copies."""
        return self.owners[0] != self.owners[1]


@attrs.frozen
class Side:
    """One contender's answer to one state.

    Args:
        moved: Tasks that move away from a client that is still present.
        stopped: Tasks with an owner before, and none in the answer.
        taken_up: Tasks with an owner in the answer, and no present client before.
        waiting: Tasks without an owner before and in the answer, such as jobs that wait for a lost Connect worker.
        not_comparable: Why the answer may differ from the contender's real decision, or ``None``.
        actives: Client to its number of active tasks.
        gaps: Avoidable part by goal (:func:`assignor_lab.groups.shown_gaps.shown_gaps`); ``None``: unknown.
    """

    error: str | None
    moved: tuple[str, ...] = ()
    stopped: tuple[str, ...] = ()
    taken_up: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    not_comparable: str | None = None
    actives: Counter[str] = attrs.field(factory=Counter)
    copies: Counter[str] = attrs.field(factory=Counter)
    gaps: tuple[Gap, ...] | None = None


@attrs.frozen
class StateCompared:
    """Two answers to one state."""

    scenario: str
    round: int
    rounds: int
    noun: str
    tasks: int
    labels: dict[str, str]
    sides: tuple[Side, Side]
    differing: tuple[Differing, ...]

    @property
    def elsewhere(self) -> tuple[Differing, ...]:
        return tuple(each for each in self.differing if each.is_elsewhere)


@attrs.frozen
class Compared:
    """Two contenders over all states."""

    names: tuple[str, str]
    descriptions: tuple[str, str]
    states: tuple[StateCompared, ...]
    figures: tuple[FigureCompared, ...]


def compare(
    scenarios: Iterable[Scenario],
    contenders: tuple[ComparedContender, ComparedContender],
    terms: ContenderTerms,
    only_round: int | None = None,
) -> Compared:
    """The comparison of two contenders.

    Args:
        only_round: The only round to compare; ``None``: all.

    Raises:
        ContenderError: if there is no state, or a contender has no answer to one.
        AssignorLabError: a subclass, if a contender does not support states of this kind.
    """
    kind: GroupKind[Any, Any] | None = None
    ownership: OwnershipOf[Any, Any] | None = None
    states: list[StateCompared] = []
    rows: list[Rows] = []
    makers: list[RowMaker[Any, Any]] = []
    for number, scenario in enumerate(scenarios):
        if kind is None:
            kind = kind_named(scenario.kind)
            ownership = _ownership(kind, scenario)
            makers = [_maker(kind, scenario, contender, terms) for contender in contenders]
        assert ownership is not None
        if kind.name != scenario.kind:
            raise ContenderError(
                f"{scenario.place}: scenario {scenario.id!r} is of kind {scenario.kind!r}, and those before it are of "
                f"kind {kind.name!r}: compare them one kind at a time"
            )
        for pair in _answers(kind, scenario, number, contenders, terms):
            if only_round is None or pair[0].round == only_round:
                states.append(_compared(kind, ownership, kind.rounds(scenario), pair))
                rows.append((makers[0].row(pair[0]), makers[1].row(pair[1])))
    if kind is None or not states:
        raise ContenderError("there is no state to be compared: is the file empty, or has it no such round?")
    metrics = {name: found.plugin for name, found in kind.metrics(terms.registry).items()}
    one, other = contenders
    return Compared(
        (one.name, other.name),
        (one.description, other.description),
        tuple(states),
        compared_figures(kind.headline, rows, metrics, (one.name, other.name)),
    )


def _ownership(kind: GroupKind[Any, Any], scenario: Scenario) -> OwnershipOf[Any, Any]:
    if kind.ownership is None:
        raise ContenderError(
            f"{scenario.place}: scenario {scenario.id!r} is of kind {scenario.kind!r}, which is played, not answered: "
            "`assignor replay` and `assignor score` compare how it goes"
        )
    return kind.ownership


def _maker(
    kind: GroupKind[Any, Any], scenario: Scenario, contender: ComparedContender, terms: ContenderTerms
) -> RowMaker[Any, Any]:
    known = kind.metrics(terms.registry)
    names = [name for name in metrics_of_headline(kind.headline) if name in known]
    return RowMaker(kind, kind.figures(terms.registry, names, contender.config(scenario, terms)))


def _answers(
    kind: GroupKind[Any, Any],
    scenario: Scenario,
    number: int,
    contenders: Sequence[ComparedContender],
    terms: ContenderTerms,
) -> Iterator[tuple[ContenderAnswer[Any, Any], ContenderAnswer[Any, Any]]]:
    item = WorkItem(number, 0, json.dumps(scenario.document), scenario.place.file, scenario.place.line)
    one, other = (contender.answers(kind, scenario, item, terms) for contender in contenders)
    return zip(one, other, strict=True)


def _compared(
    kind: GroupKind[Any, Any],
    ownership: OwnershipOf[Any, Any],
    rounds: int,
    pair: tuple[ContenderAnswer[Any, Any], ContenderAnswer[Any, Any]],
) -> StateCompared:
    state = next((answer.state for answer in pair if answer.state is not None), None)
    scenario = pair[0].scenario
    name = "" if scenario is None else scenario.id
    if state is None:
        sides = tuple(Side(_error(answer)) for answer in pair)
        return StateCompared(name, pair[0].round, rounds, ownership.noun, 0, {}, (sides[0], sides[1]), ())
    clients, tasks, before = ownership.clients(state), ownership.tasks(state), ownership.before(state)
    places = {client.process_id: place for place, client in enumerate(clients)}
    afters = [
        ownership.after(state, answer.outcome.answer) if answer.outcome.answer is not None else None for answer in pair
    ]
    sides = tuple(
        attrs.evolve(_side(answer, tasks, before, after), gaps=_gaps(kind, state, answer, len(tasks)))
        for answer, after in zip(pair, afters, strict=True)
    )
    one, other = afters
    differing: tuple[Differing, ...] = ()
    if one is not None and other is not None:
        differing = tuple(_differing(tasks, before, one, other, places))
    return StateCompared(
        name, pair[0].round, rounds, ownership.noun, len(tasks), client_labels(clients), (sides[0], sides[1]), differing
    )


def _side(answer: ContenderAnswer[Any, Any], tasks: Sequence[str], before: Ownership, after: Ownership | None) -> Side:
    if after is None:
        return Side(_error(answer))
    moved, stopped, taken_up, waiting = [], [], [], []
    actives, copies = Counter[str](), Counter[str]()
    for task in tasks:
        had, has = before.owner(task), after.owner(task)
        if has is not None:
            actives[has] += 1
        copies.update(after.copies(task))
        if had is None and has is not None:
            taken_up.append(task)
        elif had is not None and has is None:
            stopped.append(task)
        elif had is None:
            waiting.append(task)
        elif had != has:
            moved.append(task)
    return Side(
        None, tuple(moved), tuple(stopped), tuple(taken_up), tuple(waiting), answer.not_comparable, actives, copies
    )


def _gaps(
    kind: GroupKind[Any, Any], state: Any, answer: ContenderAnswer[Any, Any], tasks: int
) -> tuple[Gap, ...] | None:
    given = answer.outcome.answer
    return None if given is None else shown_gaps(kind, state if answer.state is None else answer.state, given, tasks)


def _error(answer: ContenderAnswer[Any, Any]) -> str:
    failure = answer.outcome.failure
    return "no answer" if failure is None else f"{failure.type}: {failure.message}"


def _differing(
    tasks: Sequence[str], before: Ownership, one: Ownership, other: Ownership, places: dict[str, int]
) -> Iterator[Differing]:
    for task in tasks:
        if one.roles.get(task) != other.roles.get(task):
            copies = [
                tuple(sorted(held.copies(task), key=lambda client: places.get(client, len(places))))
                for held in (one, other)
            ]
            yield Differing(task, before.owner(task), (one.owner(task), other.owner(task)), (copies[0], copies[1]))
