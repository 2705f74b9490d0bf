"""Trace of the brokers' sticky assignors: the rule that places each task, as a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from assignment_api.tracing import RuleStep

__all__ = ["GroupSteps"]


class GroupSteps:
    """The steps of one decision."""

    def __init__(self, tasks: Sequence[str], members: Sequence[str]) -> None:
        self.steps: list[RuleStep] = []
        self._tasks = tasks
        self._members = members
        self._placed: set[int] = set()
        self._standbys = 0

    def kept(self, owners: Sequence[int], previous: Sequence[int], quota: int) -> None:
        for task, (owner, had) in enumerate(zip(owners, previous, strict=True)):
            if owner >= 0:
                self._add("gs-keep", task, "{0} had it, and keeps it within its even share of active tasks", owner)
            elif had >= 0:
                text = f"{{0}} had it, but has its even share of active tasks already (now {quota} for each member)"
                self._add("gs-full", task, text, had)
        self._note(owners)

    def promoted(self, owners: Sequence[int]) -> None:
        text = "{0} has its state (it had a copy or, from Kafka 4.4 on, reported an offset), and room in its even share"
        self._new("gs-promote", owners, text)

    def filled(self, owners: Sequence[int]) -> None:
        """Record the rest, on the least loaded processes."""
        text = "it goes to the process with the fewest tasks for its members, and there to {0}, which has the fewest"
        self._new("gs-fill", owners, text)

    def standbys(self, rule: str, placed: Sequence[int]) -> None:
        """Record standbys.

        Args:
            placed: All standbys, each as its member times the number of tasks plus its task.
        """
        text = {
            "gs-standby-keep": "a standby goes to {0}, which had the task or has its state, in a process without it, "
            "within its even share of all tasks",
            "gs-standby-fill": "a standby goes to the process without the task that has the fewest tasks for its "
            "members, and there to {0}",
        }[rule]
        for standby in placed[self._standbys :]:
            member, task = divmod(standby, len(self._tasks))
            self._add(rule, task, text, member)
        self._standbys = len(placed)

    def _new(self, rule: str, owners: Sequence[int], text: str) -> None:
        for task, owner in enumerate(owners):
            if owner >= 0 and task not in self._placed:
                self._add(rule, task, text, owner)
        self._note(owners)

    def _note(self, owners: Sequence[int]) -> None:
        self._placed = {task for task, owner in enumerate(owners) if owner >= 0}

    def _add(self, rule: str, task: int, text: str, member: int) -> None:
        self.steps.append(RuleStep(rule, self._tasks[task], text, (self._members[member],)))
