"""Search for violated rules and their smallest histories; a seed draws the same ones everywhere."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Container, Iterator
from functools import partial
from typing import Any

import attrs

from assignment_api.conformance.growth import growth_of
from assignment_api.conformance.history import SETTINGS, Capabilities, Event, History
from assignment_api.conformance.kinds.kind import Kind
from assignment_api.conformance.levels import RULES, Level
from assignment_api.conformance.trial import Broken, Trial
from assignment_api.reducing import reduced

__all__ = ["Search", "Searched", "Smallest", "drawn_histories"]

#: Fewest and most events, and most members of a history.
_LARGEST = (0, 6, 4)
#: Limits and attempts of a second search, after a larger history.
_SMALL_EVENTS, _SMALL_MEMBERS, _SMALL_TASKS = 3, 3, 4
_SMALLER = ((0, 0, 4), (1, 3, 3))
_MOST_SMALLER = 600
#: Drawn histories for each one that is tried: most are not smaller.
_DRAWS = 10
#: Most simplifications of one history.
_MOST_REDUCING = 2_000
#: Frequent sizes are repeated.
_TASKS = (0, 0, 1, 1, 2, 3, 3, 3, 5, 8, 12, 12)
_MEMBERS = (0, 1, 2, 2, 3, 3, 4, 4, 6, 7, 8, 9)
_EVENTS = (0, 0, 1, 1, 2, 2, 3, 4, 6)
_SMALL_PART = 3


@attrs.frozen
class Smallest:
    """The smallest history that violates a rule."""

    broken: Broken
    history: History | None
    documents: list[dict[str, Any]]


@attrs.frozen
class Searched:
    """Result of a search."""

    histories: int
    found: tuple[Smallest, ...]
    reached: frozenset[Level]
    has_other_process: bool


@attrs.define(eq=False)
class Search:
    """Searches for violated rules.

    Args:
        known: Expected violations: reported without shrinking.
        stop_after: Number of violated rules that ends the search.
    """

    trial: Trial
    histories: int = 100
    seed: int = 0
    levels: frozenset[Level] = frozenset(Level)
    known: Container[str] = ()
    stop_after: int = 12
    on_history: Callable[[], None] = lambda: None
    #: Called with a violated rule before shrinking.
    on_found: Callable[[str], None] = lambda _rule: None
    _expected: dict[str, Smallest] = attrs.field(factory=dict, init=False)
    _played: int = attrs.field(default=0, init=False)
    _draw: random.Random = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._draw = random.Random(self.seed)  # noqa: S311 - a search, not a secret

    def run(self) -> Searched:
        """Run histories to the end, or to ``stop_after``."""
        found: list[Smallest] = []
        while self._played < self.histories and len(found) < self.stop_after:
            ignored = frozenset(each.broken.rule for each in found)
            smallest = self._next(ignored)
            if smallest is None:
                break
            found.append(smallest)
            if smallest.broken.rule == "in time":
                # Each further history may cost a deadline.
                break
        if Level.BOUNDED in self.levels and not any(each.broken.rule == "in time" for each in found):
            grown = growth_of(self.trial)
            if grown.is_judged:
                self.trial.reached.add(Level.BOUNDED)
            known = {each.broken.rule for each in found}
            for broken, state in grown.found:
                if broken.rule not in known:
                    found.append(Smallest(broken, None, self.trial.kind.documents([state], "growth")))
        found.extend(self._expected.values())
        has_other = self.trial.elsewhere is not None
        return Searched(self._played, tuple(found), frozenset(self.trial.reached), has_other)

    def _next(self, ignored: frozenset[str]) -> Smallest | None:
        while self._played < self.histories:
            history = drawn_history(self.trial.kind, self.trial.capabilities, self._draw)
            self._played += 1
            self.on_history()
            broken = self._first_broken(history, ignored)
            if broken is not None:
                return self._smallest(history, broken, ignored)
        return None

    def _smallest(self, history: History, broken: Broken, ignored: frozenset[str]) -> Smallest:
        self.on_found(broken.rule)
        if broken.rule == "in time":
            return self._smaller_late(history, broken)
        for limits in _SMALLER:
            # A local minimum: search the small ones, too.
            history = self._reduced(history, broken.rule, ignored)
            most = _MOST_SMALLER // 4 if _is_small(history) else _MOST_SMALLER
            history = self._smaller(history, broken.rule, ignored, most, limits)
        history = self._reduced(history, broken.rule, ignored)
        # Again, for the states of its calls; the text may have changed.
        again = next((each for each in self.trial.broken(history) if each.rule == broken.rule), broken)
        return Smallest(again, history, self.trial.kind.documents(self.trial.asked, again.rule.replace(" ", "-")))

    def _shows(self, rule: str, ignored: frozenset[str], history: History) -> bool:
        found = self._first_broken(history, ignored)
        return found is not None and found.rule == rule

    def _reduced(self, history: History, rule: str, ignored: frozenset[str]) -> History:
        simplified = partial(_one_step_smaller, self.trial.kind, self.trial.capabilities)
        return reduced(history, simplified, partial(self._shows, rule, ignored), _MOST_REDUCING)

    def _smaller(
        self, history: History, rule: str, ignored: frozenset[str], most: int, limits: tuple[int, int, int]
    ) -> History:
        """The first drawn history that is smaller and violates the rule, too; otherwise the same one."""
        kind, capabilities = self.trial.kind, self.trial.capabilities
        draws = (drawn_history(kind, capabilities, self._draw, limits) for _ in range(_DRAWS * most))
        smaller = dict.fromkeys(drawn for drawn in draws if drawn.size() < history.size())
        return next((drawn for drawn in [*smaller][:most] if self._shows(rule, ignored, drawn)), history)

    def _smaller_late(self, history: History, broken: Broken) -> Smallest:
        """The first small history past the deadline: shrinking costs a deadline each time."""
        documents = self.trial.kind.documents(self.trial.asked, "in-time")
        groups = dict.fromkeys([*(history.members[:most] for most in (1, 2, 3)), history.members])
        tasks = dict.fromkeys([((1, 0),), ((2, min(1, self.trial.kind.sorts)),), history.tasks])
        for members in groups:
            for counts in tasks if members else ():
                smaller = attrs.evolve(history, members=members, tasks=counts, events=())
                found = self._first_broken(smaller, frozenset())
                if found is not None and found.rule == "in time":
                    return Smallest(found, smaller, self.trial.kind.documents(self.trial.asked, "in-time"))
        return Smallest(broken, history, documents)

    def _first_broken(self, history: History, ignored: frozenset[str]) -> Broken | None:
        for broken in self.trial.broken(history):
            if broken.rule in self.known:
                if broken.rule not in self._expected:
                    documents = self.trial.kind.documents(self.trial.asked, broken.rule.replace(" ", "-"))
                    self._expected[broken.rule] = Smallest(broken, history, documents)
            elif broken.rule not in ignored and (RULES[broken.rule].level in self.levels or broken.rule == "in time"):
                return broken
        return None


def _without(items: tuple[Any, ...], place: int) -> tuple[Any, ...]:
    return (*items[:place], *items[place + 1 :])


def _one_step_smaller(kind: Kind[Any], capabilities: Capabilities, history: History) -> Iterator[History]:
    """The largest step first."""
    least, least_members = _least(kind, capabilities)
    if len(history.events) > 1:
        yield attrs.evolve(history, events=())
    for place in range(len(history.events)):
        shorter = attrs.evolve(history, events=_without(history.events, place))
        (count, sort), *others = history.tasks
        for joined, more in itertools.product(((), (1,), (2,)), (0, 1)):
            members, tasks = (*history.members, *joined), ((count + more, sort), *others)
            yield attrs.evolve(shorter, members=members, tasks=tasks)
    for place in range(len(history.members)) if len(history.members) > least_members else ():
        yield attrs.evolve(history, members=_without(history.members, place))
    for place in range(len(history.tasks)) if len(history.tasks) > 1 else ():
        yield attrs.evolve(history, tasks=_without(history.tasks, place))
    for place, (count, sort) in enumerate(history.tasks):
        for less in [(less, sort) for less in {count // 2, count - 1} if least <= less < count] + [(count, 0)] * (
            sort > 0
        ):
            yield attrs.evolve(history, tasks=(*history.tasks[:place], less, *history.tasks[place + 1 :]))
    simplest: dict[str, Any] = {"warmups": 1} | dict.fromkeys(("standbys", "racks", "delay_ms", *SETTINGS), 0)
    simplest["members"] = (1,) * len(history.members)
    for name, value in simplest.items():
        if getattr(history, name) != value:
            simpler: dict[str, Any] = {name: value}
            yield attrs.evolve(history, **simpler)


def _is_small(history: History) -> bool:
    events, members, tasks, _ = history.size()
    return events <= _SMALL_EVENTS and members <= _SMALL_MEMBERS and tasks <= _SMALL_TASKS


def _least(kind: Kind[Any], capabilities: Capabilities) -> tuple[int, int]:
    """Fewest tasks of a part, and fewest members."""
    return (0 if capabilities.empty else 1), (0 if capabilities.empty and kind.may_be_empty else 1)


def drawn_histories(kind: Kind[Any], capabilities: Capabilities, most: int, seed: int = 0) -> tuple[History, ...]:
    """``most`` histories of a seed."""
    draw = random.Random(seed)  # noqa: S311 - a search, not a secret
    return tuple(drawn_history(kind, capabilities, draw) for _ in range(most))


def drawn_history(
    kind: Kind[Any], capabilities: Capabilities, draw: random.Random, limits: tuple[int, int, int] = _LARGEST
) -> History:
    """A history within limits of its events and members."""
    fewest_events, most_events, most_members = limits
    is_small = limits != _LARGEST
    least, least_members = _least(kind, capabilities)
    tasks = [each for each in _TASKS if each >= least and not (is_small and each > _SMALL_PART)]
    members = [each for each in _MEMBERS if each >= least_members and not (is_small and each > most_members)]
    events = [each for each in _EVENTS if fewest_events <= each <= most_events]
    parts = draw.choice((1, 2, 3) if is_small else kind.parts)
    return History(
        kind=kind.name,
        tasks=tuple((draw.choice(tasks), draw.randint(0, kind.sorts)) for _ in range(parts)),
        members=tuple(draw.randint(1, kind.most_of_member) for _ in range(draw.choice(members))),
        standbys=draw.randint(0, kind.most_standbys if capabilities.standbys else 0),
        warmups=draw.randint(1, 2),
        racks=draw.choice((0, 2)) if capabilities.racks else 0,
        delay_ms=draw.choice(kind.delays),
        events=tuple(
            Event(draw.choice(kind.events), draw.randint(0, 5), draw.randint(0, 2)) for _ in range(draw.choice(events))
        ),
        **{name: draw.randint(0, most) for name, most in kind.settings.items()},
    )
