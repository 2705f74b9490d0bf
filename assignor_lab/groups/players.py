"""The player whose answer is one call of one assignor, as most kinds have it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from assignment_api.plugins.selection import EffectiveConfig
from assignor_lab.groups.kind import Asked, FoundAssignor, Reply
from assignor_lab.runtime.asking import Asking, OwnProcesses, assignor_for

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

    def asked(self, state: S, config: EffectiveConfig) -> Asked:
        """Who answers, with its own configuration."""
        found = self._chosen(state)
        return Asked(found.name, found.distribution, config.values_for(found.name))

    def answer(self, state: S, asked: Asked) -> Reply[A]:
        """What comes of the call."""
        return Reply(assignor_for(self._asking, self._chosen(state), asked.configs, self._isolation).ask(state))

    def looked_ahead(self, answer: A) -> A:
        """The answer: there is nothing to look ahead to."""
        return answer
