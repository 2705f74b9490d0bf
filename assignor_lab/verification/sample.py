"""A sample of recorded decisions, taken while a source of any size is read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import attrs

from assignor_lab.groups.entries import kind_named
from assignor_lab.scenarios import Scenario
from assignor_lab.verification.decisions import group_of
from assignor_lab.verification.verified import MOST_TASKS, Verification, VerificationTerms, verify

__all__ = ["DecisionSample"]

_MOST_GROUPS = 50


@attrs.define
class _Kept:
    """Every n-th decision of a group: n is doubled when they become too many."""

    decisions: list[Scenario] = attrs.field(factory=list)
    tasks: int = 0
    every: int = 1
    seen: int = 0

    def add(self, scenario: Scenario, tasks: int) -> None:
        self.seen += 1
        if (self.seen - 1) % self.every:
            return
        self.decisions.append(scenario)
        self.tasks += tasks
        if self.tasks > 2 * MOST_TASKS and len(self.decisions) > 2:
            self.tasks //= 2
            self.every *= 2
            del self.decisions[1::2]


@attrs.define
class DecisionSample:
    """Decisions of each group at equal distances, with a bounded number of tasks."""

    _groups: dict[tuple[str, str], _Kept] = attrs.field(init=False, factory=dict)

    def passed(self, scenarios: Iterable[Scenario]) -> Iterator[Scenario]:
        for each in scenarios:
            self.add(each)
            yield each

    def add(self, scenario: Scenario) -> None:
        if scenario.observed is None or kind_named(scenario.kind).ownership is None:
            return
        key = scenario.kind, group_of(scenario)
        if key in self._groups or len(self._groups) < _MOST_GROUPS:
            self._groups.setdefault(key, _Kept()).add(scenario, kind_named(scenario.kind).size(scenario)[0])

    @property
    def decisions(self) -> Sequence[Scenario]:
        return [each for kept in self._groups.values() for each in kept.decisions]

    def verified(self, terms: VerificationTerms) -> Verification:
        return verify(self.decisions, terms, recorded=self.recorded)

    @property
    def recorded(self) -> dict[str, int]:
        return {group: kept.seen for (_, group), kept in self._groups.items()}
