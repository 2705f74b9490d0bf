"""Probes of a run: which answers are looked into, and the columns of ``run_metrics`` that come of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assignment_api.plugins import ScenarioFamily
from assignor_lab.groups.kind import Answer, Prober

__all__ = ["Probes"]

#: One item in so many is looked into, in one of its rounds; the first one always is.
EVERY = 100


class Probes:
    """Looks into some of the answers, chosen by number of item and round alone.

    Args:
        prober: What looks into one; ``None``: this kind of group has no such thing.
        families: Name to family, for their numbers of rounds.
    """

    def __init__(self, prober: Prober[Any, Any] | None, families: Mapping[str, ScenarioFamily]) -> None:
        self._prober = prober
        self._families = families

    def columns(self, answer: Answer[Any, Any]) -> Mapping[str, Any]:
        """Columns for the row of ``answer``; none where it is not looked into, or that came to nothing."""
        if self._prober is None or answer.item.number % EVERY or answer.round != self._round(answer):
            return {}
        if answer.asked is None or answer.state is None:
            return {}
        if answer.outcome.loss is not None or answer.outcome.input_mutated:
            return {}
        return self._prober(answer)

    def _round(self, answer: Answer[Any, Any]) -> int:
        family = answer.item.family
        return 0 if family is None else answer.item.number // EVERY % self._families[family].rounds
