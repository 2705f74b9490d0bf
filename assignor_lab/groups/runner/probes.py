"""Probes of a run: the inspected answers, and their columns of ``run_metrics``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assignment_api.plugins import ScenarioFamily
from assignor_lab.groups.kind import ContenderAnswer, Prober

__all__ = ["Probes"]

#: One item in so many is inspected, in one of its rounds; the first one always is.
EVERY = 100


class Probes:
    """Inspects some of the answers, chosen by number of item and round alone."""

    def __init__(self, prober: Prober[Any, Any] | None, families: Mapping[str, ScenarioFamily]) -> None:
        self._prober = prober
        self._families = families

    def columns(self, answer: ContenderAnswer[Any, Any]) -> Mapping[str, Any]:
        if self._prober is None or answer.item.number % EVERY or answer.round != self._round(answer):
            return {}
        if answer.asked is None or answer.state is None:
            return {}
        if answer.outcome.loss is not None or answer.outcome.input_mutated:
            return {}
        return self._prober(answer)

    def _round(self, answer: ContenderAnswer[Any, Any]) -> int:
        family = answer.item.family
        return 0 if family is None else answer.item.number // EVERY % self._families[family].rounds
