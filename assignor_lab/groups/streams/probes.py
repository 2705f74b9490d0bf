"""Probes of a run: which answers are looked into, and the columns of ``run_metrics`` that come of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from assignment_api.plugins import FoundTaskAssignor, ScenarioFamily
from assignor_lab.groups.streams.contest import Answer
from assignor_lab.groups.streams.isolation import IsolatedAssignor
from assignor_lab.groups.streams.probing import Prober
from assignor_lab.runtime.isolation.limits import Limits

__all__ = ["Probes"]

#: One item in so many is looked into, in one of its rounds; the first one always is.
EVERY = 100


class Probes:
    """Looks into some of the answers, chosen by number of item and round alone.

    Args:
        limits: What one call may use.
        families: Name to family, for their numbers of rounds.
    """

    def __init__(self, limits: Limits, families: Mapping[str, ScenarioFamily]) -> None:
        self._prober = Prober(limits)
        self._families = families

    def columns(self, answer: Answer) -> dict[str, Any]:
        """Columns for the row of ``answer``; none where it is not looked into, or that came to nothing."""
        asked = answer.asked
        if answer.item.number % EVERY or answer.round != self._round(answer):
            return {}
        if not isinstance(asked, (FoundTaskAssignor, IsolatedAssignor)) or answer.application is None:
            return {}
        if answer.outcome.loss is not None or answer.outcome.input_mutated:
            return {}
        found = self._prober.probe(asked.name, asked.distribution, answer.application, answer.configs, answer.outcome)
        return {} if found is None else attrs.asdict(found)

    def _round(self, answer: Answer) -> int:
        family = answer.item.family
        return 0 if family is None else answer.item.number // EVERY % self._families[family].rounds
