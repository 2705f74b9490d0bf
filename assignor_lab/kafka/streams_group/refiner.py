"""Refiner of Kafka's development branch: delays moves of state in a target until warm-ups are done. In no release.

:mod:`assignor_lab.kafka.streams_group.warmups` has the source of its rules, and the earlier decision: which moves wait.
Here the allowed number of warm-ups, for all members together, goes to the moves with the highest priority.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs

from assignor_lab.kafka.streams_group.reconciliation import Standing
from assignor_lab.kafka.streams_group.tasks import NO_TASKS, TasksByRole
from assignor_lab.kafka.streams_group.warmups import PendingMove, Situation, decided, situation

__all__ = ["Refiner"]


@attrs.frozen(eq=False)
class Refiner:
    """Refines targets.

    Args:
        warmups: ``group.streams.num.warmup.replicas``; 0: targets stay unchanged.
    """

    warmups: int
    acceptable_lag: int
    stateful: frozenset[int]
    order: Callable[[int], Any]

    def refined(
        self,
        targets: Mapping[str, TasksByRole],
        standings: Mapping[str, Standing],
        offsets: Mapping[str, Mapping[int, int]],
        ends: Mapping[str, Mapping[int, int]],
    ) -> Mapping[str, TasksByRole]:
        """Tasks of members until their targets are ready."""
        if not self.warmups:
            return targets
        now = situation(standings, offsets, ends, self.stateful, self.acceptable_lag)
        waiting, granted = decided(now, targets, self.stateful, self.order)
        if not waiting:
            return targets
        planted, borrowed = self._budget(now, waiting, granted)
        patches = _Patches()
        for move in waiting:
            patches.add(move.owner, active=move.task)
            patches.take(move.target, active=move.task)
            if move.task in borrowed and move.copy is not None:
                patches.add(move.copy.member, standby=move.task)
            if move.task in planted:
                patches.add(move.target, warmup=move.task)
        for member, task in _held_back(now, targets, waiting, borrowed, self.stateful):
            patches.take(member, standby=task)
        return patches.on(targets)

    def _budget(
        self, now: Situation, waiting: Sequence[PendingMove], granted: Sequence[tuple[int, str]]
    ) -> tuple[set[int], set[int]]:
        """Tasks that get or keep a warm-up, and tasks whose existing standby serves as one."""
        busy = _busy(now, granted)
        more = _load_after_grants(now, granted)
        borrowed = {
            move.task
            for move in waiting
            if move.copy is not None and not move.copy.is_warmup and move.copy.member == move.target
        }
        candidates = [move for move in waiting if move.task not in borrowed]
        planted: set[int] = set()

        def priority(move: PendingMove) -> tuple[Any, ...]:
            # A new warm-up outside the budget does not start; a standby on a sibling restores anyway.
            is_sibling = move.copy is not None and not move.copy.is_warmup
            here, there = move.process, now.process_of[move.owner]
            loads = (now.load(here, more.get(here, 0)), -now.load(there, more.get(there, 0)))
            return (_tier(move, busy), is_sibling, *loads, self.order(move.task))

        while candidates and len(planted) < self.warmups:
            # Each new warm-up makes its process busier, which changes the order of the rest.
            best = min(candidates, key=priority)
            candidates.remove(best)
            planted.add(best.task)
            if best.copy is None:
                more[best.process] = more.get(best.process, 0) + 1
        borrowed.update(move.task for move in candidates if move.copy is not None and not move.copy.is_warmup)
        return planted, borrowed


def _tier(move: PendingMove, busy: set[str]) -> int:
    """Running warm-ups first, then new ones, last those of members that are restoring an active task."""
    can_progress = move.target not in busy
    if move.copy is not None and move.copy.is_warmup:
        return 0 if can_progress or move.copy.has_begun else 2
    return 1 if can_progress else 3


def _busy(now: Situation, granted: Sequence[tuple[int, str]]) -> set[str]:
    """Members that restore an active task, now or after the present moves: their warm-ups stand still."""
    found = {holder.member for holder in now.active.values() if holder.is_restoring}
    for task, target in granted:
        process, holder = now.process_of[target], now.active.get(task)
        is_there = now.copy_on(process, task) is not None
        if not is_there and (holder is None or now.process_of[holder.member] != process):
            found.add(target)
    return found


def _load_after_grants(now: Situation, granted: Sequence[tuple[int, str]]) -> dict[str, int]:
    """Process to its additional tasks after the present moves."""
    more: dict[str, int] = {}
    for task, target in granted:
        process, holder = now.process_of[target], now.active.get(task)
        if holder is not None:
            old = now.process_of[holder.member]
            more[old] = more.get(old, 0) - 1
        if now.copy_on(process, task) is None:
            more[process] = more.get(process, 0) + 1
    return more


def _held_back(
    now: Situation,
    targets: Mapping[str, TasksByRole],
    waiting: Sequence[PendingMove],
    borrowed: set[int],
    stateful: frozenset[int],
) -> list[tuple[str, int]]:
    """Standbys that have to wait: in the process of their active task, or in the place of a borrowed one."""
    kept_on = {move.task: now.process_of[move.owner] for move in waiting}
    first: dict[int, str] = {}
    undelivered: set[int] = set()
    found: list[tuple[str, int]] = []
    for member, target in targets.items():
        process = now.process_of.get(member)
        for task in target.standby & stateful:
            if process is not None and kept_on.get(task) == process:
                found.append((member, task))
            if task not in borrowed:
                continue
            if process is None or kept_on.get(task) == process:
                undelivered.add(task)
            elif now.copy_on(process, task) is None:
                first[task] = min(member, first.get(task, member))
    return found + [(member, task) for task, member in first.items() if task not in undelivered]


class _Patches:
    def __init__(self) -> None:
        self._added: dict[str, list[set[int]]] = {}
        self._taken: dict[str, list[set[int]]] = {}

    def add(self, member: str, **role: int) -> None:
        _put(self._added, member, role)

    def take(self, member: str, **role: int) -> None:
        _put(self._taken, member, role)

    def on(self, targets: Mapping[str, TasksByRole]) -> dict[str, TasksByRole]:
        found = dict(targets)
        for member in dict.fromkeys((*self._added, *self._taken)):
            taken, added = _tasks(self._taken.get(member)), _tasks(self._added.get(member))
            found[member] = (found.get(member, NO_TASKS) - taken) | added
        return found


_ROLES = ("active", "standby", "warmup")


def _put(patches: dict[str, list[set[int]]], member: str, role: Mapping[str, int]) -> None:
    for name, task in role.items():
        patches.setdefault(member, [set(), set(), set()])[_ROLES.index(name)].add(task)


def _tasks(roles: list[set[int]] | None) -> TasksByRole:
    return NO_TASKS if roles is None else TasksByRole(*map(frozenset, roles))
