"""The search for a history that breaks a rule, and for the smallest one that does. Hypothesis does both."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import attrs

from assignment_api.conformance.growth import grows_too_fast
from assignment_api.conformance.history import Capabilities, Event, History
from assignment_api.conformance.kinds.kind import Kind
from assignment_api.conformance.trial import Broken, Trial

__all__ = ["Search", "Searched", "Smallest"]

#: Histories that are tried for a fault that costs a deadline each.
_MOST_LOSSES = 12
#: Most events and members of a history.
_LARGEST = (6, 4)
#: A history of this size needs no second search for a smaller one; else these are searched, each so many times.
_SMALL_EVENTS, _SMALL_MEMBERS, _SMALL_TASKS = 3, 3, 4
_SMALLER = ((0, 4), (3, 3))
_MOST_SMALLER = 600


@attrs.frozen
class Smallest:
    """The smallest history that was found to break a rule.

    Args:
        broken: The rule, and what was found.
        history: The history.
        documents: The states that were asked on the way, as scenario documents.
    """

    broken: Broken
    history: History | None
    documents: list[dict[str, Any]]


@attrs.frozen
class Searched:
    """What a search came to.

    Args:
        histories: Histories that were played, those not counted that made another one smaller.
        found: One for each rule that was broken, in the order in which they were found.
        calm_histories: Histories that got as far as the answer to their last event.
        has_other_process: Whether the assignor could be asked in another process.
    """

    histories: int
    found: tuple[Smallest, ...]
    calm_histories: int
    has_other_process: bool


class _BreaksError(Exception):
    """A history that breaks a rule; one subclass for each rule, so that one fault is not shrunk to another."""


@attrs.define(eq=False)
class Search:
    """Searches for broken rules.

    Args:
        trial: Who is tried.
        histories: Histories that are played.
        seed: What they are drawn from.
        stop_after: Rules after which nothing more is searched for.
        on_history: Called before each history.
    """

    trial: Trial
    histories: int = 100
    seed: int = 0
    stop_after: int = 12
    on_history: Callable[[], None] = lambda: None
    _played: int = attrs.field(default=0, init=False)
    _losses: int = attrs.field(default=0, init=False)

    def run(self) -> Searched:
        """Plays histories until all are played, or too much was found."""
        found: list[Smallest] = []
        seed = self.seed
        while self._played < self.histories and len(found) < self.stop_after:
            ignored = frozenset(each.broken.rule for each in found)
            smallest = self._next(ignored, seed)
            if smallest is None:
                break
            found.append(smallest)
            seed += 1
        trouble = grows_too_fast(self.trial.kind, self.trial.subject, self.trial.configs)
        if trouble is not None:
            found.append(Smallest(trouble.broken, None, self.trial.kind.documents([trouble.state], "growth")))
        return Searched(self._played, tuple(found), self.trial.calm_histories, self.trial.elsewhere is not None)

    def _next(self, ignored: frozenset[str], seed: int) -> Smallest | None:
        """The smallest history that breaks a rule that was not broken before."""
        best: list[tuple[History, Broken]] = []
        errors: dict[str, type[_BreaksError]] = {}
        is_shrinking = False
        self._losses = 0

        def judge(history: History) -> None:
            nonlocal is_shrinking
            if not is_shrinking:
                self._played += 1
                self.on_history()
            elif self._losses >= _MOST_LOSSES:
                return
            broken = self.trial.first_broken(history, ignored)
            if broken is None:
                return
            if broken.rule == "in time":
                self._losses += 1
            if is_shrinking and broken.rule != best[0][1].rule:
                return
            is_shrinking = True
            best.append((history, broken))
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
            # One local minimum is not the smallest one: look among the small ones, too.
            smallest = min((each for each, _ in best), key=History.size)
            known_size = smallest.size()
            if not _is_small(smallest):
                self._searched(judge_smaller, seed, _MOST_SMALLER, limits)
        history, broken = min(best, key=lambda each: each[0].size())
        # Played once more: the states that were asked belong to the failure, and what it says may have changed.
        again = next((each for each in self.trial.broken(history) if each.rule == broken.rule), broken)
        return Smallest(again, history, self.trial.kind.documents(self.trial.asked, again.rule.replace(" ", "-")))

    def _searched(
        self, judge: Callable[[History], None], seed: int, most: int, limits: tuple[int, int] = _LARGEST
    ) -> None:
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
        given = hypothesis.given(histories(self.trial.kind, self.trial.capabilities, limits))
        search: Any = hypothesis.seed(seed)(settings(given(judge)))  # type: ignore[no-untyped-call]
        # A fault that comes and goes cannot be made smaller by replaying it: the smallest one so far is told.
        with contextlib.suppress(_BreaksError, hypothesis.errors.Flaky, hypothesis.errors.Unsatisfiable):
            search()


def _is_small(history: History) -> bool:
    events, members, tasks, _ = history.size()
    return events <= _SMALL_EVENTS and members <= _SMALL_MEMBERS and tasks <= _SMALL_TASKS


def histories(kind: Kind[Any], capabilities: Capabilities, limits: tuple[int, int] = _LARGEST) -> Any:
    """Histories of a kind, as a strategy: smaller numbers and shorter lists are simpler.

    Args:
        kind: The kind.
        capabilities: What they may hold.
        limits: Most events, and most members at the beginning.
    """
    from hypothesis import strategies as st

    tasks = st.tuples(st.integers(1, 3), st.integers(0, kind.sorts))
    events, members = limits
    event = st.builds(Event, st.sampled_from(kind.events), st.integers(0, 5), st.integers(0, 2))
    return st.builds(
        History,
        kind=st.just(kind.name),
        tasks=st.lists(tasks, min_size=1, max_size=3).map(tuple),
        members=st.lists(st.integers(1, kind.most_of_member), min_size=1, max_size=members).map(tuple),
        standbys=st.integers(0, 2 if capabilities.standbys else 0),
        warmups=st.integers(1, 2),
        racks=st.sampled_from((0, 2)) if capabilities.racks else st.just(0),
        delay_ms=st.sampled_from(kind.delays),
        events=st.lists(event, max_size=events).map(tuple),
    )
