"""Search with Hypothesis for violated rules and their smallest histories."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Container, Iterable, Iterator
from typing import Any

import attrs

from assignment_api.conformance.growth import growth_of
from assignment_api.conformance.history import SETTINGS, Capabilities, Event, History
from assignment_api.conformance.kinds.kind import Kind
from assignment_api.conformance.levels import RULES, Level
from assignment_api.conformance.trial import Broken, Trial

__all__ = ["Search", "Searched", "Smallest", "drawn_histories"]

#: Most events and members of a history.
_LARGEST = (6, 4)
#: Limits and attempts of a second search, after a larger history.
_SMALL_EVENTS, _SMALL_MEMBERS, _SMALL_TASKS = 3, 3, 4
_SMALLER = ((0, 4), (3, 3))
_MOST_SMALLER = 600
#: Histories of one run of Hypothesis.
_RUN = 50
#: Frequent sizes are repeated. Lists of Hypothesis are empty in half of all cases.
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


class _BreaksError(Exception):
    """One subclass for each rule, so that one fault is not shrunk to another."""


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
    _runs: int = attrs.field(default=0, init=False)

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
        best: list[tuple[History, Broken]] = []
        late: list[Smallest] = []
        errors: dict[str, type[_BreaksError]] = {}
        is_shrinking = False

        def judge(history: History) -> None:
            nonlocal is_shrinking
            if not is_shrinking:
                self._played += 1
                self.on_history()
            elif late:
                return
            broken = self._first_broken(history, ignored)
            if broken is None:
                return
            if is_shrinking and broken.rule != best[0][1].rule:
                return
            if not is_shrinking:
                self.on_found(broken.rule)
            is_shrinking = True
            best.append((history, broken))
            if broken.rule == "in time":
                late.append(self._smaller_late(history, broken))
            error = errors.setdefault(broken.rule, type("_Breaks", (_BreaksError,), {}))
            raise error(broken.found)

        def judge_smaller(history: History) -> None:
            if history.size() < known_size:
                judge(history)

        while not best and self._played < self.histories:
            # Hypothesis varies earlier examples: several runs cover more.
            before = self._played
            self._searched(judge, min(_RUN, self.histories - before))
            if self._played == before:
                break
        if not best:
            return None
        if late:
            return late[0]
        rule = best[0][1].rule
        for limits in _SMALLER:
            # A local minimum: search the small ones, too.
            history, broken = min(best, key=lambda each: each[0].size())
            history = self._reduced(history, rule, ignored)
            best.append((history, broken))
            known_size = history.size()
            if not _is_small(history):
                self._searched(judge_smaller, _MOST_SMALLER, limits)
            elif len(history.events) > limits[0]:
                self._searched(judge_smaller, _MOST_SMALLER // 4, limits)
        history, broken = min(best, key=lambda each: each[0].size())
        history = self._reduced(history, rule, ignored)
        # Again, for the states of its calls; the text may have changed.
        again = next((each for each in self.trial.broken(history) if each.rule == broken.rule), broken)
        return Smallest(again, history, self.trial.kind.documents(self.trial.asked, again.rule.replace(" ", "-")))

    def _reduced(self, history: History, rule: str, ignored: frozenset[str]) -> History:
        """Hypothesis can end before all needless parts are removed."""
        while True:
            for smaller in _one_step_smaller(history):
                found = self._first_broken(smaller, ignored)
                if found is not None and found.rule == rule:
                    history = smaller
                    break
            else:
                return history

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

    def _searched(self, judge: Callable[[History], None], most: int, limits: tuple[int, int] = _LARGEST) -> None:
        seed = 1_000 * self.seed + self._runs
        self._runs += 1
        _draw(judge, histories(self.trial.kind, self.trial.capabilities, limits), seed, most)


def _draw(judge: Callable[[History], None], strategy: Any, seed: int, most: int) -> None:
    import hypothesis
    from hypothesis import HealthCheck, Phase, Verbosity

    settings = hypothesis.settings(
        max_examples=max(most, 1),
        database=None,
        deadline=None,
        derandomize=False,
        phases=(Phase.generate, Phase.shrink),
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
        print_blob=False,
    )
    search: Any = hypothesis.seed(seed)(settings(hypothesis.given(strategy)(judge)))  # type: ignore[no-untyped-call]
    # A fault that comes and goes cannot be shrunk: keep the smallest so far.
    expected = (_BreaksError, hypothesis.errors.Flaky, hypothesis.errors.Unsatisfiable)
    with _without_constants_of_modules(), contextlib.suppress(*expected):
        search()


@contextlib.contextmanager
def _without_constants_of_modules() -> Iterator[None]:
    """Prevent that Hypothesis draws constants of loaded modules (and searches them for seconds)."""
    from hypothesis.internal.conjecture import providers

    found, cache = getattr(providers, "_get_local_constants", None), getattr(providers, "CONSTANTS_CACHE", None)
    if found is None or cache is None:
        # Releases before 6.131 draw none.
        yield
        return
    from hypothesis.internal.constants_ast import Constants

    providers._get_local_constants = Constants
    providers.CONSTANTS_CACHE = type(cache)(1024)
    try:
        yield
    finally:
        providers._get_local_constants, providers.CONSTANTS_CACHE = found, cache


def _without(items: tuple[Any, ...], place: int) -> tuple[Any, ...]:
    return (*items[:place], *items[place + 1 :])


def _one_step_smaller(history: History) -> Iterator[History]:
    """The largest step first."""
    if len(history.events) > 1:
        yield attrs.evolve(history, events=())
    for place in range(len(history.events)):
        shorter = attrs.evolve(history, events=_without(history.events, place))
        (count, sort), *others = history.tasks
        for joined, more in itertools.product(((), (1,), (2,)), (0, 1)):
            members, tasks = (*history.members, *joined), ((count + more, sort), *others)
            yield attrs.evolve(shorter, members=members, tasks=tasks)
    for place in range(len(history.members)) if len(history.members) > 1 else ():
        yield attrs.evolve(history, members=_without(history.members, place))
    for place in range(len(history.tasks)) if len(history.tasks) > 1 else ():
        yield attrs.evolve(history, tasks=_without(history.tasks, place))
    for place, (count, sort) in enumerate(history.tasks):
        for less in [(less, sort) for less in {count // 2, count - 1} if 0 <= less < count] + [(count, 0)] * (sort > 0):
            yield attrs.evolve(history, tasks=(*history.tasks[:place], less, *history.tasks[place + 1 :]))
    least: dict[str, Any] = {"warmups": 1} | dict.fromkeys(("standbys", "racks", "delay_ms", *SETTINGS), 0)
    least["members"] = (1,) * len(history.members)
    for name, value in least.items():
        if getattr(history, name) != value:
            simpler: dict[str, Any] = {name: value}
            yield attrs.evolve(history, **simpler)


def _is_small(history: History) -> bool:
    events, members, tasks, _ = history.size()
    return events <= _SMALL_EVENTS and members <= _SMALL_MEMBERS and tasks <= _SMALL_TASKS


def drawn_histories(kind: Kind[Any], capabilities: Capabilities, most: int, seed: int = 0) -> tuple[History, ...]:
    """``most`` histories of a seed; they depend on the version of Hypothesis."""
    drawn: list[History] = []

    def keep(history: History) -> None:
        drawn.append(history)

    _draw(keep, histories(kind, capabilities), seed, most)
    return tuple(drawn)


def histories(kind: Kind[Any], capabilities: Capabilities, limits: tuple[int, int] = _LARGEST) -> Any:
    """Strategy for histories; smaller numbers and shorter lists are simpler."""
    from hypothesis import strategies as st

    most_events, most_members = limits
    is_small = limits != _LARGEST
    least = 0 if capabilities.empty else 1
    least_members = 0 if capabilities.empty and kind.may_be_empty else 1

    def several(item: Any, counts: Iterable[int]) -> Any:
        return st.sampled_from(tuple(counts)).flatmap(lambda count: st.tuples(*[item] * count))

    tasks = st.sampled_from([each for each in _TASKS if each >= least and not (is_small and each > _SMALL_PART)])
    members = [each for each in _MEMBERS if each >= least_members and not (is_small and each > most_members)]
    events = [each for each in _EVENTS if each <= most_events]
    event = st.builds(Event, st.sampled_from(kind.events), st.integers(0, 5), st.integers(0, 2))
    return st.builds(
        History,
        kind=st.just(kind.name),
        tasks=several(st.tuples(tasks, st.integers(0, kind.sorts)), (1, 2, 3) if is_small else kind.parts),
        members=several(st.integers(1, kind.most_of_member), members),
        standbys=st.integers(0, kind.most_standbys if capabilities.standbys else 0),
        warmups=st.integers(1, 2),
        racks=st.sampled_from((0, 2)) if capabilities.racks else st.just(0),
        delay_ms=st.sampled_from(kind.delays),
        **{name: st.integers(0, most) for name, most in kind.settings.items()},
        events=several(event, events),
    )
