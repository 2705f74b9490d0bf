"""Search with Hypothesis for a history that violates a rule, and for the smallest such history."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Container
from typing import Any

import attrs

from assignment_api.conformance.growth import growth_of
from assignment_api.conformance.history import SETTINGS, Capabilities, Event, History
from assignment_api.conformance.kinds.kind import Kind
from assignment_api.conformance.levels import Level
from assignment_api.conformance.trial import Broken, Trial

__all__ = ["Search", "Searched", "Smallest", "drawn_histories"]

#: Most events and members of a history.
_LARGEST = (6, 4)
#: A larger history causes a second search among histories of this size, with so many attempts each.
_SMALL_EVENTS, _SMALL_MEMBERS, _SMALL_TASKS = 3, 3, 4
_SMALLER = ((0, 4), (3, 3))
_MOST_SMALLER = 600
#: Numbers of tasks of a large sub-topology, and of members of a crowd.
_MANY_TASKS = (5, 8, 12)
_CROWD = (7, 9)


@attrs.frozen
class Smallest:
    """The smallest history that violates a rule.

    Args:
        broken: The rule, and the finding.
        documents: The states of all calls, as scenario documents.
    """

    broken: Broken
    history: History | None
    documents: list[dict[str, Any]]


@attrs.frozen
class Searched:
    """Result of a search.

    Args:
        found: One finding for each violated rule, in the order of discovery.
        reached: Levels whose rules have been judged.
        has_other_process: Whether the assignor could be called in another process.
    """

    histories: int
    found: tuple[Smallest, ...]
    reached: frozenset[Level]
    has_other_process: bool


class _BreaksError(Exception):
    """A history that violates a rule; one subclass for each rule, so that one fault is not shrunk to another."""


@attrs.define(eq=False)
class Search:
    """Searches for violated rules.

    Args:
        trial: The assignor under test.
        histories: Number of histories.
        seed: Seed of the histories.
        levels: Levels to judge.
        known: Rules whose violation is expected: the first history is reported as it is, not the smallest one.
        stop_after: Number of violated rules that ends the search.
    """

    trial: Trial
    histories: int = 100
    seed: int = 0
    levels: frozenset[Level] = frozenset(Level)
    known: Container[str] = ()
    stop_after: int = 12
    on_history: Callable[[], None] = lambda: None
    #: Called with the rule when a violation is found, before it is shrunk.
    on_found: Callable[[str], None] = lambda _rule: None
    _expected: dict[str, Smallest] = attrs.field(factory=dict, init=False)
    _played: int = attrs.field(default=0, init=False)

    def run(self) -> Searched:
        """Run histories until all are done, or too many rules are violated."""
        found: list[Smallest] = []
        seed = self.seed
        while self._played < self.histories and len(found) < self.stop_after:
            ignored = frozenset(each.broken.rule for each in found)
            smallest = self._next(ignored, seed)
            if smallest is None:
                break
            found.append(smallest)
            if smallest.broken.rule == "in time":
                # Each further history may cost a deadline.
                break
            seed += 1
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

    def _next(self, ignored: frozenset[str], seed: int) -> Smallest | None:
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

        self._searched(judge, seed, self.histories - self._played)
        if not best:
            return None
        history, broken = min(best, key=lambda each: each[0].size())
        for limits in _SMALLER if broken.rule != "in time" else ():
            # One local minimum is not the smallest one: search the small ones, too.
            smallest = min((each for each, _ in best), key=History.size)
            known_size = smallest.size()
            if not _is_small(smallest):
                self._searched(judge_smaller, seed, _MOST_SMALLER, limits)
        if late:
            return late[0]
        history, broken = min(best, key=lambda each: each[0].size())
        history = self._reduced(history, broken.rule, ignored)
        # Run once more: the failure needs the states of its calls, and its text may have changed.
        again = next((each for each in self.trial.broken(history) if each.rule == broken.rule), broken)
        return Smallest(again, history, self.trial.kind.documents(self.trial.asked, again.rule.replace(" ", "-")))

    def _reduced(self, history: History, rule: str, ignored: frozenset[str]) -> History:
        """The history without parts and settings that the violation does not need; Hypothesis can end before it."""
        least: dict[str, Any] = {"warmups": 1} | dict.fromkeys(("standbys", "racks", "delay_ms", *SETTINGS), 0)
        least["tasks"] = tuple(part for part in history.tasks if part[0]) or history.tasks[:1]
        least["members"] = (1,) * len(history.members)
        for name, value in least.items():
            reduced = attrs.evolve(history, **{name: value})
            if reduced != history:
                found = self._first_broken(reduced, ignored)
                if found is not None and found.rule == rule:
                    history = reduced
        return history

    def _smaller_late(self, history: History, broken: Broken) -> Smallest:
        """The first of a few small histories that passes the deadline, too: shrinking costs a deadline each time."""
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
        """The first violated rule that is neither ignored nor expected."""
        for broken in self.trial.broken(history):
            if broken.rule in self.known:
                if broken.rule not in self._expected:
                    documents = self.trial.kind.documents(self.trial.asked, broken.rule.replace(" ", "-"))
                    self._expected[broken.rule] = Smallest(broken, history, documents)
            elif broken.rule not in ignored:
                return broken
        return None

    def _searched(
        self, judge: Callable[[History], None], seed: int, most: int, limits: tuple[int, int] = _LARGEST
    ) -> None:
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
    # A fault that comes and goes cannot be shrunk by a replay: keep the smallest one so far.
    with contextlib.suppress(_BreaksError, hypothesis.errors.Flaky, hypothesis.errors.Unsatisfiable):
        search()


def _is_small(history: History) -> bool:
    events, members, tasks, _ = history.size()
    return events <= _SMALL_EVENTS and members <= _SMALL_MEMBERS and tasks <= _SMALL_TASKS


def drawn_histories(kind: Kind[Any], capabilities: Capabilities, most: int, seed: int = 0) -> tuple[History, ...]:
    """``most`` histories of a seed, which depend on the version of Hypothesis."""
    drawn: list[History] = []

    def keep(history: History) -> None:
        drawn.append(history)

    _draw(keep, histories(kind, capabilities), seed, most)
    return tuple(drawn)


def histories(kind: Kind[Any], capabilities: Capabilities, limits: tuple[int, int] = _LARGEST) -> Any:
    """Histories of a kind, as a strategy: smaller numbers and shorter lists are simpler.

    Args:
        capabilities: Claims that limit the contents.
        limits: Most events, and most members at the beginning.
    """
    from hypothesis import strategies as st

    events, members = limits
    is_small = limits != _LARGEST
    least = 0 if capabilities.empty else 1
    few = st.integers(least, 3)
    # One sub-topology in eight is large, and one group in eight is a crowd: sizes that small ones never reach.
    counts = few if is_small else st.one_of(*[few] * 7, st.sampled_from(_MANY_TASKS))
    tasks = st.tuples(counts, st.integers(0, kind.sorts))
    member = st.integers(1, kind.most_of_member)
    group = st.lists(member, min_size=0 if capabilities.empty and kind.may_be_empty else 1, max_size=members)
    if not is_small:
        crowd = st.lists(member, min_size=_CROWD[0], max_size=_CROWD[1])
        group = st.one_of(*[group] * 7, crowd)
    event = st.builds(Event, st.sampled_from(kind.events), st.integers(0, 5), st.integers(0, 2))
    return st.builds(
        History,
        kind=st.just(kind.name),
        tasks=st.lists(tasks, min_size=1, max_size=3).map(tuple),
        members=group.map(tuple),
        standbys=st.integers(0, 2 if capabilities.standbys else 0),
        warmups=st.integers(1, 2),
        racks=st.sampled_from((0, 2)) if capabilities.racks else st.just(0),
        delay_ms=st.sampled_from(kind.delays),
        **{name: st.integers(0, most) for name, most in kind.settings.items()},
        events=st.lists(event, max_size=events).map(tuple),
    )
