"""The smallest single changes that would have led elsewhere, each told only after the assignor was asked about it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import attrs

from assignor_lab.explain.asking_again import Budget, Question, Said
from assignor_lab.groups.changes import CLASSES, Change, Knob

__all__ = ["Search", "Would", "search"]

#: Calls that halving the way to a number may take: enough for any 64-bit number.
MOST_HALVINGS = 64
#: Changes of one class that are told.
MOST_OF_A_CLASS = 2


@attrs.frozen
class Would:
    """A change, and what the assignor answered after it.

    Args:
        change: The change.
        owner: Who would run the task then, or ``None``: nobody.
        before_it: The nearest value on the way to it at which the answer is still another one, in words; ``None``: it
            is not a number, or was not looked for.
    """

    change: Change
    owner: str | None
    before_it: str | None = None


@attrs.frozen
class Search:
    """What came of looking for changes.

    Args:
        found: Those that would have led where it was wished, the smallest first.
        calls: How often the assignor was asked.
        tried: Class of change to how many were tried, in the order of :data:`~assignor_lab.groups.changes.CLASSES`.
        stopped: Why the search ended before everything was tried, or ``None``.
    """

    found: tuple[Would, ...]
    calls: int
    tried: dict[str, int]
    stopped: str | None = None


class _StoppedError(Exception):
    """Nothing more may be asked; the text says why."""


def search(
    question: Question,
    knobs: Iterable[Knob],
    task: str,
    is_wished: Callable[[str | None], bool],
    budget: Budget,
    concerned: frozenset[str | None] = frozenset(),
) -> Search:
    """Looks for single changes after which a task is where it was wished.

    Args:
        question: What was asked.
        knobs: What can be changed.
        task: The task.
        is_wished: Whether that is who should run it.
        budget: What may be spent.
        concerned: Clients whose knobs are tried before those of the same class of others.
    """
    rank = {what: place for place, what in enumerate(CLASSES)}
    ordered = sorted(knobs, key=lambda knob: (rank[knob.what], knob.concerns not in concerned))
    run = _Run(question, task, is_wished, budget)
    found: list[Would] = []
    stopped = None
    try:
        for knob in ordered:
            if sum(would.change.what == knob.what for would in found) < MOST_OF_A_CLASS:
                found += run.turned(knob)
    except _StoppedError as stop:
        stopped = str(stop)
    return Search(tuple(found), budget.spent, run.tried, stopped)


class _Run:
    """One search under way."""

    def __init__(
        self, question: Question, task: str, is_wished: Callable[[str | None], bool], budget: Budget
    ) -> None:  # fmt: skip
        self._question = question
        self._task = task
        self._is_wished = is_wished
        self._budget = budget
        self.tried: dict[str, int] = {}

    def turned(self, knob: Knob) -> Iterator[Would]:
        """The change of a knob with the smallest difference that leads where it was wished, or nothing."""
        for value in knob.values:
            change = knob.at(value)
            owner = self._owner_after(change)
            if owner is not None and self._is_wished(owner[0]):
                if knob.now is None:
                    yield Would(change, owner[0])
                else:
                    yield self._nearest(knob, knob.now, value, Would(change, owner[0]))
                return

    def _nearest(self, knob: Knob, missed: int, hit: int, would: Would) -> Would:
        """Halves the way between a value that does not lead there and one that does, until they are neighbours."""
        for _ in range(MOST_HALVINGS):
            if abs(hit - missed) <= 1:
                break
            middle = (missed + hit) // 2
            change = knob.at(middle)
            owner = self._owner_after(change)
            if owner is not None and self._is_wished(owner[0]):
                hit, would = middle, Would(change, owner[0])
            else:
                missed = middle
        return attrs.evolve(would, before_it=f"{missed:,}") if missed != knob.now and abs(hit - missed) == 1 else would

    def _owner_after(self, change: Change) -> tuple[str | None] | None:
        """Who runs the task after a change, in a tuple; ``None``: there is no answer then.

        Raises:
            _StoppedError: if nothing more may be asked.
        """
        said: Said | None = self._question.kept(change)
        if said is None:
            if self._budget.is_spent:
                raise _StoppedError(
                    "the time was over" if self._budget.is_late else f"{self._budget.calls} calls were made"
                )
            self._budget.spent += 1
            said = self._question.asked(change)
        self.tried[change.what] = self.tried.get(change.what, 0) + 1
        if said.is_lost:
            assert said.failure is not None
            raise _StoppedError(f"the assignor gave no answer once more: {said.failure.message}")
        return None if said.held is None else (said.held.owner(self._task),)
