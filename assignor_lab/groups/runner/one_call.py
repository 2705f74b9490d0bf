"""The player of most kinds: one call of one assignor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from assignment_api.plugins.selection import EffectiveConfig
from assignment_api.tracing import Traced
from assignor_lab.groups.kind import AnsweringAssignor, ContenderReply, FoundAssignor
from assignor_lab.runtime.assignor_calls import (
    AssignorCalls,
    CalledAssignor,
    OwnProcesses,
    TracingAssignor,
    assignor_for,
)
from assignor_lab.runtime.isolation.plugins import origin_of

__all__ = ["OneCall"]

S = TypeVar("S")
A = TypeVar("A")


class OneCall(Generic[S, A]):
    """Lets one assignor answer each state by itself; nothing is kept from round to round.

    Args:
        chosen: Selects the assignor for a state.
    """

    def __init__(
        self, asking: AssignorCalls[S, A], chosen: Callable[[S], FoundAssignor], isolation: OwnProcesses | None
    ) -> None:
        self._asking = asking
        self._chosen = chosen
        self._isolation = isolation
        self._asked: tuple[FoundAssignor, EffectiveConfig, AnsweringAssignor] | None = None
        self._called: tuple[FoundAssignor, AnsweringAssignor, CalledAssignor[S, A]] | None = None

    def asked(self, state: S, config: EffectiveConfig) -> AnsweringAssignor:
        found, known = self._chosen(state), self._asked
        if known is None or known[0] is not found or known[1] is not config:
            chosen = AnsweringAssignor(found.name, found.distribution, config.values_of(found), origin_of(found))
            known = self._asked = found, config, chosen
        return known[2]

    def answer(self, state: S, chosen: AnsweringAssignor) -> ContenderReply[A]:
        return ContenderReply(self._calling(state, chosen).ask(state))

    def traced(self, state: S, chosen: AnsweringAssignor) -> Traced[A] | None:
        """The answer with its steps; ``None`` if they are not reported."""
        called = self._calling(state, chosen)
        return called.traced(state) if isinstance(called, TracingAssignor) else None

    def looked_ahead(self, answer: A) -> A:
        return answer

    def _calling(self, state: S, chosen: AnsweringAssignor) -> CalledAssignor[S, A]:
        found, known = self._chosen(state), self._called
        if known is not None and known[0] is found and known[1] is chosen:
            return known[2]
        made = assignor_for(self._asking, found, chosen.configs, self._isolation)
        if not self._asking.lives:  # nothing stays with it from one state to the next
            self._called = found, chosen, made
        return made
