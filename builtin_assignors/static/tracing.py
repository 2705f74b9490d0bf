"""Trace of pins: the rule that places each task, as a sentence; the delegate records its own."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from assignment_api import AssignedTaskType, ProcessID
from assignment_api.tracing import RuleStep
from builtin_assignors.static.delegation import Delegated

__all__ = ["StaticSteps"]


class StaticSteps:
    """The steps of one decision; tasks and clients are dense numbers."""

    def __init__(self, tasks: Sequence[str], clients: Sequence[ProcessID], delegate: str) -> None:
        self.steps: list[RuleStep] = []
        self._tasks = tasks
        self._clients = clients
        self._delegate = delegate

    def pinned(self, placed: Mapping[int, int], pins: Mapping[int, int], owners: Mapping[int, Sequence[int]]) -> None:
        """Record pinned tasks on the clients of their pins.

        Args:
            placed: Task to its client.
            pins: Task to the number of its pin, from 1.
            owners: Task to its previous clients.
        """
        for task, client in sorted(placed.items()):
            pin = f"pin {pins[task]} of assignor.static.pins"
            if client in owners.get(task, ()):
                self._add("sp-keep", task, f"{{0}} ran it, {pin} allows that, so it keeps it", client)
            else:
                text = f"{pin} names {{0}}, which has the fewest tasks of the named clients; none of them ran it"
                self._add("sp-pin", task, text, client)

    def unmet(self, tasks: Iterable[int], pins: Mapping[int, int]) -> None:
        for task in tasks:
            text = f"pin {pins[task]} of assignor.static.pins names no client with a thread: it counts as none"
            self._add("sp-unmet", task, text)

    def delegated(self, rest: Collection[str], placed: Delegated) -> None:
        owners = {
            str(task.id): process
            for process, held in placed.tasks.items()
            for task in held
            if task.type is AssignedTaskType.ACTIVE
        }
        for name in rest:
            if name in owners:
                text = f"no pin places it: {self._delegate} places it on {{0}}"
                self.steps.append(RuleStep("sp-delegate", name, text, (str(owners[name]),)))

    def told_by_delegate(self, steps: Iterable[RuleStep]) -> None:
        self.steps += steps

    def standbys(self, placed: Mapping[int, Sequence[int]], pinned: Mapping[int, Collection[int]]) -> None:
        """Record standbys of pinned tasks: on clients of a standby pin, and on others if that has too few.

        Args:
            placed: Task to its standby clients.
            pinned: Task to the clients that its standby pin names.
        """
        for task, clients in sorted(placed.items()):
            for client in clients:
                if client in pinned.get(task, ()):
                    self._add("sp-standby-pin", task, "its standby pin has a copy on {0}", client)
                else:
                    text = "a copy goes to {0}: it had one, or has the fewest tasks of the clients that no pin names"
                    self._add("sp-standby", task, text, client)

    def _add(self, rule: str, task: int, text: str, *clients: int) -> None:
        processes = tuple(str(self._clients[client]) for client in clients)
        self.steps.append(RuleStep(rule, self._tasks[task], text, processes))
