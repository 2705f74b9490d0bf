"""Steps that were taken while tasks were placed: the placement after each rule compared with that before it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from assignment_api.tracing import RuleStep

__all__ = ["StepsTaken"]


class StepsTaken:
    """The steps of one decision; tasks and clients are dense numbers.

    Args:
        tasks: Text of each task.
        clients: Text of each client.
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
        """The tasks that somebody runs, as far as it was told."""
        return self._owners

    def add(self, rule: str, task: int, text: str, *clients: int) -> None:
        """Notes a step; see :class:`assignment_api.tracing.RuleStep`."""
        self.steps.append(RuleStep(rule, self.tasks[task], text, tuple([self.clients[client] for client in clients])))

    def placed(
        self,
        rule: str,
        active: Sequence[Collection[int]],
        given: str,
        moved: str = "",
    ) -> None:
        """Notes who runs a task now that did not before.

        Args:
            rule: The rule.
            active: Active tasks of each client.
            given: What is said of a task that nobody had; ``{0}`` is who has it now.
            moved: What is said of a task that goes from ``{0}`` to ``{1}``.
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
        """Notes who has a copy of a task now that did not before.

        Args:
            rule: The rule.
            standby: Standby tasks of each client.
            given: What is said of a copy that ``{0}`` gets and nobody gives up.
            moved: What is said of a copy that goes from ``{0}`` to ``{1}``.
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
        """Takes a placement as known, whose changes were noted one by one."""
        self._owners = {task: client for client, held in enumerate(active) for task in held}
        self._standbys = [set(held) for held in standby]
