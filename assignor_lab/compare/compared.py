"""The comparison of two contenders, state by state, as plain values."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import attrs

from assignor_lab.compare.contenders import Contender, ContenderError, Terms
from assignor_lab.compare.figures import FigureCompared, Rows, compared_figures, metrics_of_headline
from assignor_lab.groups.entries import kind_named
from assignor_lab.groups.holding import Held, HoldingOf
from assignor_lab.groups.kind import Answer, Kind
from assignor_lab.groups.labels import client_labels
from assignor_lab.groups.rows import RowMaker
from assignor_lab.groups.work import WorkItem
from assignor_lab.scenarios import Scenario

__all__ = ["Compared", "Differing", "Side", "StateCompared", "compare"]


@attrs.frozen
class Differing:
    """A task that the two contenders leave to different clients, in some role.

    Args:
        task: The task.
        before: Who ran it, or ``None``: nobody who is still there.
        owners: Who is to run it, of each contender.
        copies: Who is to have a copy of it, of each contender, in the order of the clients.
    """

    task: str
    before: str | None
    owners: tuple[str | None, str | None]
    copies: tuple[tuple[str, ...], tuple[str, ...]]

    @property
    def is_elsewhere(self) -> bool:
        """Whether it runs elsewhere, not only its copies."""
        return self.owners[0] != self.owners[1]


@attrs.frozen
class Side:
    """What one contender makes of one state.

    Args:
        error: Why there is no answer, or ``None``.
        moved: Tasks that somebody ran who is still there, and that another one is to run.
        stopped: Tasks that somebody ran, and that nobody is to run now.
        taken_up: Tasks that nobody ran who is still there, and that somebody is to run.
        not_comparable: Why the answer says nothing of what the contender would really do, or ``None``.
        actives: Client to the number of tasks that it is to run.
        copies: Client to the number of tasks that it is to have a copy of.
    """

    error: str | None
    moved: tuple[str, ...] = ()
    stopped: tuple[str, ...] = ()
    taken_up: tuple[str, ...] = ()
    not_comparable: str | None = None
    actives: Counter[str] = attrs.field(factory=Counter)
    copies: Counter[str] = attrs.field(factory=Counter)


@attrs.frozen
class StateCompared:
    """Two answers to one state.

    Args:
        scenario: Its id.
        round: Its round.
        rounds: How many rounds the scenario has.
        noun: What is held: ``task`` or ``job``.
        tasks: How many there are.
        labels: Client to the name that it is shown under, in the order of the state.
        sides: What each contender makes of it.
        differing: What they do not agree on, in the order of the tasks.
    """

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
        """What they have run by different clients."""
        return tuple(each for each in self.differing if each.is_elsewhere)


@attrs.frozen
class Compared:
    """Two contenders over all states.

    Args:
        names: Their names.
        told: Who or what they are.
        states: The states, in order.
        figures: The five figures.
    """

    names: tuple[str, str]
    told: tuple[str, str]
    states: tuple[StateCompared, ...]
    figures: tuple[FigureCompared, ...]


def compare(
    scenarios: Iterable[Scenario], contenders: tuple[Contender, Contender], terms: Terms, only_round: int | None = None
) -> Compared:
    """Compares two contenders.

    Args:
        scenarios: The states and histories, all of one kind.
        contenders: The two.
        terms: What both share.
        only_round: The only round that is compared; ``None``: all.

    Raises:
        ContenderError: if there is no state, or a contender has no answer to one.
        AssignorLabError: a subclass, where a contender cannot be asked about states of this kind.
    """
    kind: Kind[Any, Any] | None = None
    holding: HoldingOf[Any, Any] | None = None
    states: list[StateCompared] = []
    rows: list[Rows] = []
    makers: list[RowMaker[Any, Any]] = []
    for number, scenario in enumerate(scenarios):
        if kind is None:
            kind = kind_named(scenario.kind)
            holding = _holding(kind, scenario)
            makers = [_maker(kind, scenario, contender, terms) for contender in contenders]
        assert holding is not None
        if kind.name != scenario.kind:
            raise ContenderError(
                f"{scenario.place}: scenario {scenario.id!r} is of kind {scenario.kind!r}, and those before it are of "
                f"kind {kind.name!r}: compare them one kind at a time"
            )
        for pair in _answers(kind, scenario, number, contenders, terms):
            if only_round is None or pair[0].round == only_round:
                states.append(_compared(holding, kind.rounds(scenario), pair))
                rows.append((makers[0].row(pair[0]), makers[1].row(pair[1])))
    if kind is None or not states:
        raise ContenderError("there is no state to be compared: is the file empty, or has it no such round?")
    metrics = {name: found.plugin for name, found in kind.metrics(terms.registry).items()}
    one, other = contenders
    return Compared(
        (one.name, other.name), (one.told, other.told), tuple(states), compared_figures(kind.headline, rows, metrics)
    )


def _holding(kind: Kind[Any, Any], scenario: Scenario) -> HoldingOf[Any, Any]:
    if kind.holding is None:
        raise ContenderError(
            f"{scenario.place}: scenario {scenario.id!r} is of kind {scenario.kind!r}, which is played, not answered: "
            "`assignor replay` and `assignor score` compare how it goes"
        )
    return kind.holding


def _maker(kind: Kind[Any, Any], scenario: Scenario, contender: Contender, terms: Terms) -> RowMaker[Any, Any]:
    known = kind.metrics(terms.registry)
    names = [name for name in metrics_of_headline(kind.headline) if name in known]
    return RowMaker(kind, kind.figures(terms.registry, names, contender.config(scenario, terms)))


def _answers(
    kind: Kind[Any, Any], scenario: Scenario, number: int, contenders: Sequence[Contender], terms: Terms
) -> Iterator[tuple[Answer[Any, Any], Answer[Any, Any]]]:
    item = WorkItem(number, 0, json.dumps(scenario.document), scenario.place.file, scenario.place.line)
    one, other = (contender.answers(kind, scenario, item, terms) for contender in contenders)
    return zip(one, other, strict=True)


def _compared(
    holding: HoldingOf[Any, Any], rounds: int, pair: tuple[Answer[Any, Any], Answer[Any, Any]]
) -> StateCompared:
    state = next((answer.state for answer in pair if answer.state is not None), None)
    scenario = pair[0].scenario
    name = "" if scenario is None else scenario.id
    if state is None:
        sides = tuple(Side(_error(answer)) for answer in pair)
        return StateCompared(name, pair[0].round, rounds, holding.noun, 0, {}, (sides[0], sides[1]), ())
    clients, tasks, before = holding.clients(state), holding.tasks(state), holding.before(state)
    places = {client.process_id: place for place, client in enumerate(clients)}
    afters = [
        holding.after(state, answer.outcome.answer) if answer.outcome.answer is not None else None for answer in pair
    ]
    sides = tuple(
        _side(answer, tasks, before, after) for answer, after in zip(pair, afters, strict=True)
    )  # fmt: skip
    one, other = afters
    differing: tuple[Differing, ...] = ()
    if one is not None and other is not None:
        differing = tuple(_differing(tasks, before, one, other, places))
    return StateCompared(
        name, pair[0].round, rounds, holding.noun, len(tasks), client_labels(clients), (sides[0], sides[1]), differing
    )


def _side(answer: Answer[Any, Any], tasks: Sequence[str], before: Held, after: Held | None) -> Side:
    if after is None:
        return Side(_error(answer))
    moved, stopped, taken_up = [], [], []
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
        elif had != has:
            moved.append(task)
    return Side(None, tuple(moved), tuple(stopped), tuple(taken_up), answer.not_comparable, actives, copies)


def _error(answer: Answer[Any, Any]) -> str:
    failure = answer.outcome.failure
    return "no answer" if failure is None else f"{failure.type}: {failure.message}"


def _differing(
    tasks: Sequence[str], before: Held, one: Held, other: Held, places: dict[str, int]
) -> Iterator[Differing]:
    for task in tasks:
        if one.roles.get(task) != other.roles.get(task):
            copies = [
                tuple(sorted(held.copies(task), key=lambda client: places.get(client, len(places))))
                for held in (one, other)
            ]
            yield Differing(task, before.owner(task), (one.owner(task), other.owner(task)), (copies[0], copies[1]))
