"""The player whose answer is one call of one assignor, as most kinds have it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from assignment_api.plugins.selection import EffectiveConfig
from assignment_api.tracing import Traced
from assignor_lab.groups.kind import Asked, FoundAssignor, Reply
from assignor_lab.runtime.asking import AskedAssignor, Asking, OwnProcesses, TracingAssignor, assignor_for
from assignor_lab.runtime.isolation.plugins import origin_of

__all__ = ["OneCall"]

S = TypeVar("S")
A = TypeVar("A")


class OneCall(Generic[S, A]):
    """Lets one assignor answer each state by itself; nothing is kept from round to round.

    Args:
        asking: How assignors of the kind are asked.
        chosen: Who is asked about a state.
        isolation: Who runs in a process of its own, and those processes; ``None``: nobody does.
    """

    def __init__(
        self, asking: Asking[S, A], chosen: Callable[[S], FoundAssignor], isolation: OwnProcesses | None
    ) -> None:
        self._asking = asking
        self._chosen = chosen
        self._isolation = isolation
        #: The latest answer to who is asked: states of a history mostly share a configuration.
        self._asked: tuple[FoundAssignor, EffectiveConfig, Asked] | None = None
        #: Who was called last, and for whom: likewise.
        self._called: tuple[FoundAssignor, Asked, AskedAssignor[S, A]] | None = None

    def asked(self, state: S, config: EffectiveConfig) -> Asked:
        """Who answers, with its own configuration."""
        found, known = self._chosen(state), self._asked
        if known is None or known[0] is not found or known[1] is not config:
            asked = Asked(found.name, found.distribution, config.values_for(found.name), origin_of(found))
            known = self._asked = found, config, asked
        return known[2]

    def answer(self, state: S, asked: Asked) -> Reply[A]:
        """What comes of the call."""
        return Reply(self._calling(state, asked).ask(state))

    def traced(self, state: S, asked: Asked) -> Traced[A] | None:
        """The answer with the steps to it; ``None``: they are not told."""
        called = self._calling(state, asked)
        return called.traced(state) if isinstance(called, TracingAssignor) else None

    def looked_ahead(self, answer: A) -> A:
        """The answer: there is nothing to look ahead to."""
        return answer

    def _calling(self, state: S, asked: Asked) -> AskedAssignor[S, A]:
        found, known = self._chosen(state), self._called
        if known is not None and known[0] is found and known[1] is asked:
            return known[2]
        made = assignor_for(self._asking, found, asked.configs, self._isolation)
        if not self._asking.lives:  # nothing stays with it from one state to the next
            self._called = found, asked, made
        return made
