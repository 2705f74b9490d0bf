"""Trace of a placement: differences between the placements before and after each rule."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from assignment_api.tracing import RuleStep

__all__ = ["SILENT", "StepsTaken"]


class _Silent:
    def __getattr__(self, name: str) -> Callable[..., None]:
        self.__dict__[name] = _ignored  # the next call finds it without this one
        return _ignored


def _ignored(*_: object, **__: object) -> None:
    pass


#: An observer of any assignor that records nothing.
SILENT: Any = _Silent()


class StepsTaken:
    """The steps of one decision; tasks and clients are dense numbers.

    Args:
        existing: The tasks that there are; ``None``: all of them.
    """

    def __init__(
        self, tasks: Sequence[str], clients: Sequence[str], existing: Collection[int] | None = None
    ) -> None:  # fmt: skip
        self.steps: list[RuleStep] = []
        self.tasks = tasks
        self.clients = clients
        self.existing = frozenset(range(len(tasks)) if existing is None else existing)
        self._owners: dict[int, int] = {}
        self._standbys: list[set[int]] = [set() for _ in clients]

    @property
    def owned(self) -> Collection[int]:
        return self._owners

    def add(self, rule: str, task: int, text: str, *clients: int) -> None:
        """Record a step; see :class:`assignment_api.tracing.RuleStep`."""
        self.steps.append(RuleStep(rule, self.tasks[task], text, tuple([self.clients[client] for client in clients])))

    def placed(
        self,
        rule: str,
        active: Sequence[Collection[int]],
        given: str,
        moved: str = "",
    ) -> None:
        """Record new owners of active tasks.

        Args:
            given: Text for a task without a previous owner; ``{0}`` is the new one.
            moved: Text for a task that moves from ``{0}`` to ``{1}``.
        """
        owners = {task: client for client, held in enumerate(active) for task in held}
        for task in sorted(owners):
            before, after = self._owners.get(task), owners[task]
            if before is None:
                self.add(rule, task, given, after)
            elif before != after:
                self.add(rule, task, moved, before, after)
        self._owners = owners

    def copied(self, rule: str, standby: Sequence[Collection[int]], given: str, moved: str = "") -> None:
        """Record new owners of standby tasks.

        Args:
            given: Text for an additional copy on ``{0}``.
            moved: Text for a copy that moves from ``{0}`` to ``{1}``.
        """
        gained: dict[int, list[int]] = {}
        lost: dict[int, list[int]] = {}
        for client, held in enumerate(standby):
            for task in set(held) - self._standbys[client]:
                gained.setdefault(task, []).append(client)
            for task in self._standbys[client] - set(held):
                lost.setdefault(task, []).append(client)
        for task in sorted(gained):
            sources = sorted(lost.get(task, ()))
            for place, client in enumerate(sorted(gained[task])):
                if place < len(sources):
                    self.add(rule, task, moved or given, *((sources[place], client) if moved else (client,)))
                else:
                    self.add(rule, task, given, client)
        self._standbys = [set(held) for held in standby]

    def settled(self, active: Sequence[Collection[int]], standby: Sequence[Collection[int]]) -> None:
        """Take a placement as known, after its changes were recorded one by one."""
        self._owners = {task: client for client, held in enumerate(active) for task in held}
        self._standbys = [set(held) for held in standby]
