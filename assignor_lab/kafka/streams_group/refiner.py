"""The coming refiner: an assignor's target, with moves of state held back behind warm-ups. In no release.

See :mod:`assignor_lab.kafka.streams_group.warmups` for the source of its rules, and for the decisions before this one:
which moves wait. Here the warm-ups that may be, all members together, go to those that deserve them most.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs

from assignor_lab.kafka.streams_group.reconciliation import Standing
from assignor_lab.kafka.streams_group.tasks import NO_TASKS, Tasks
from assignor_lab.kafka.streams_group.warmups import Move, Situation, decided, situation

__all__ = ["Refiner"]


@attrs.frozen(eq=False)
class Refiner:
    """Refines targets.

    Args:
        warmups: ``group.streams.num.warmup.replicas``; 0: targets stay as they are.
        acceptable_lag: ``group.streams.acceptable.recovery.lag``, in records.
        stateful: Tasks with state.
        order: Sorts tasks as Kafka does.
    """

    warmups: int
    acceptable_lag: int
    stateful: frozenset[int]
    order: Callable[[int], Any]

    def refined(
        self,
        targets: Mapping[str, Tasks],
        standings: Mapping[str, Standing],
        offsets: Mapping[str, Mapping[int, int]],
        ends: Mapping[str, Mapping[int, int]],
    ) -> Mapping[str, Tasks]:
        """What members are to have meanwhile.

        Args:
            targets: Member to its target.
            standings: Member to where it stands.
            offsets: Member to the offsets that it reported last.
            ends: Member to the changelogs' ends that it reported with them.
        """
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
        self, now: Situation, waiting: Sequence[Move], granted: Sequence[tuple[int, str]]
    ) -> tuple[set[int], set[int]]:
        """Tasks that get a warm-up, or keep theirs, and tasks that are warmed by a standby that is there anyway."""
        busy = _busy(now, granted)
        more = _load_after_grants(now, granted)
        borrowed = {
            move.task
            for move in waiting
            if move.copy is not None and not move.copy.is_warmup and move.copy.member == move.target
        }
        candidates = [move for move in waiting if move.task not in borrowed]
        planted: set[int] = set()

        def priority(move: Move) -> tuple[Any, ...]:
            # A plant that is not paid for does not warm at all; a standby on a sibling does so where it is.
            is_sibling = move.copy is not None and not move.copy.is_warmup
            here, there = move.process, now.process_of[move.owner]
            loads = (now.load(here, more.get(here, 0)), -now.load(there, more.get(there, 0)))
            return (_tier(move, busy), is_sibling, *loads, self.order(move.task))

        while candidates and len(planted) < self.warmups:
            # Each plant makes its process busier, which changes the order of the rest.
            best = min(candidates, key=priority)
            candidates.remove(best)
            planted.add(best.task)
            if best.copy is None:
                more[best.process] = more.get(best.process, 0) + 1
        borrowed.update(move.task for move in candidates if move.copy is not None and not move.copy.is_warmup)
        return planted, borrowed


def _tier(move: Move, busy: set[str]) -> int:
    """Warm-ups that go on come first, then new ones; last those of members that restore an active task meanwhile."""
    can_progress = move.target not in busy
    if move.copy is not None and move.copy.is_warmup:
        return 0 if can_progress or move.copy.has_begun else 2
    return 1 if can_progress else 3


def _busy(now: Situation, granted: Sequence[tuple[int, str]]) -> set[str]:
    """Members that restore an active task, or will with what moves now: their warm-ups stand still."""
    found = {holder.member for holder in now.active.values() if holder.is_restoring}
    for task, target in granted:
        process, holder = now.process_of[target], now.active.get(task)
        is_there = now.copy_on(process, task) is not None
        if not is_there and (holder is None or now.process_of[holder.member] != process):
            found.add(target)
    return found


def _load_after_grants(now: Situation, granted: Sequence[tuple[int, str]]) -> dict[str, int]:
    """Process to the tasks that it has more once those have moved that move now."""
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
    now: Situation, targets: Mapping[str, Tasks], waiting: Sequence[Move], borrowed: set[int], stateful: frozenset[int]
) -> list[tuple[str, int]]:
    """Standbys that have to wait: beside the active task of their process, or in place of one that is borrowed."""
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
    """What is added to and taken from targets."""

    def __init__(self) -> None:
        self._added: dict[str, list[set[int]]] = {}
        self._taken: dict[str, list[set[int]]] = {}

    def add(self, member: str, **role: int) -> None:
        """A member gets a task in a role."""
        _put(self._added, member, role)

    def take(self, member: str, **role: int) -> None:
        """A member does not get a task in a role."""
        _put(self._taken, member, role)

    def on(self, targets: Mapping[str, Tasks]) -> dict[str, Tasks]:
        """``targets`` with all of it."""
        found = dict(targets)
        for member in dict.fromkeys((*self._added, *self._taken)):
            taken, added = _tasks(self._taken.get(member)), _tasks(self._added.get(member))
            found[member] = (found.get(member, NO_TASKS) - taken) | added
        return found


_ROLES = ("active", "standby", "warmup")


def _put(patches: dict[str, list[set[int]]], member: str, role: Mapping[str, int]) -> None:
    for name, task in role.items():
        patches.setdefault(member, [set(), set(), set()])[_ROLES.index(name)].add(task)


def _tasks(roles: list[set[int]] | None) -> Tasks:
    return NO_TASKS if roles is None else Tasks(*map(frozenset, roles))
