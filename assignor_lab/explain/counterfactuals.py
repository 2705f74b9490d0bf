"""The smallest single changes that lead elsewhere, each confirmed by a call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import attrs

from assignor_lab.explain.changed_calls import Budget, ChangedCall, Question
from assignor_lab.groups.changes import CLASSES, InputChange, Knob

__all__ = ["ChangeSearch", "Counterfactual", "search"]

#: Calls of a bisection: enough for any 64-bit number.
MOST_HALVINGS = 64
#: Shown changes of one class.
MOST_OF_A_CLASS = 2


@attrs.frozen
class Counterfactual:
    """A change, and the owner after it.

    Args:
        before_it: The nearest value without this effect, in words; ``None``: it is no number, or no bisection was made.
    """

    change: InputChange
    owner: str | None
    before_it: str | None = None


@attrs.frozen
class ChangeSearch:
    """The result of a search for changes.

    Args:
        tried: Class of change to the number of tried ones, in the order of
            :data:`~assignor_lab.groups.changes.CLASSES`.
        stopped: Reason of an early end, or ``None``.
    """

    found: tuple[Counterfactual, ...]
    calls: int
    tried: dict[str, int]
    stopped: str | None = None


class _StoppedError(Exception):
    """The budget is spent; the text has the reason."""


def search(
    question: Question,
    knobs: Iterable[Knob],
    task: str,
    is_wished: Callable[[str | None], bool],
    budget: Budget,
    concerned: frozenset[str | None] = frozenset(),
) -> ChangeSearch:
    """Searches single changes that lead to a wished owner of a task.

    Args:
        concerned: Clients whose inputs are tried first within a class.
    """
    rank = {kind: place for place, kind in enumerate(CLASSES)}
    ordered = sorted(knobs, key=lambda knob: (rank[knob.what], knob.concerns not in concerned))
    run = _Run(question, task, is_wished, budget)
    found: list[Counterfactual] = []
    stopped = None
    try:
        for knob in ordered:
            if sum(would.change.what == knob.what for would in found) < MOST_OF_A_CLASS:
                found += run.turned(knob)
    except _StoppedError as stop:
        stopped = str(stop)
    return ChangeSearch(tuple(found), budget.spent, run.tried, stopped)


class _Run:
    def __init__(
        self, question: Question, task: str, is_wished: Callable[[str | None], bool], budget: Budget
    ) -> None:  # fmt: skip
        self._question = question
        self._task = task
        self._is_wished = is_wished
        self._budget = budget
        self.tried: dict[str, int] = {}

    def turned(self, knob: Knob) -> Iterator[Counterfactual]:
        """The smallest change of one input with the wished result, or nothing."""
        for value in knob.values:
            change = knob.at(value)
            owner = self._owner_after(change)
            if owner is not None and self._is_wished(owner[0]):
                if knob.now is None:
                    yield Counterfactual(change, owner[0])
                else:
                    yield self._nearest(knob, knob.now, value, Counterfactual(change, owner[0]))
                return

    def _nearest(self, knob: Knob, missed: int, hit: int, would: Counterfactual) -> Counterfactual:
        """Bisects between a value without the wished result and one with it, until they are neighbours."""
        for _ in range(MOST_HALVINGS):
            if abs(hit - missed) <= 1:
                break
            middle = (missed + hit) // 2
            change = knob.at(middle)
            owner = self._owner_after(change)
            if owner is not None and self._is_wished(owner[0]):
                hit, would = middle, Counterfactual(change, owner[0])
            else:
                missed = middle
        return attrs.evolve(would, before_it=f"{missed:,}") if missed != knob.now and abs(hit - missed) == 1 else would

    def _owner_after(self, change: InputChange) -> tuple[str | None] | None:
        """The task's owner after a change, in a tuple; ``None``: there is no answer then.

        Raises:
            _StoppedError: if the budget is spent.
        """
        outcome: ChangedCall | None = self._question.kept(change)
        if outcome is None:
            if self._budget.is_spent:
                raise _StoppedError(
                    "the time was over" if self._budget.is_late else f"{self._budget.calls} calls were made"
                )
            self._budget.spent += 1
            outcome = self._question.asked(change)
        self.tried[change.what] = self.tried.get(change.what, 0) + 1
        if outcome.is_lost:
            assert outcome.failure is not None
            raise _StoppedError(f"the assignor gave no answer once more: {outcome.failure.message}")
        return None if outcome.held is None else (outcome.held.owner(self._task),)
