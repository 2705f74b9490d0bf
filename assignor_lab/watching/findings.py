"""Rebalances out of the ordinary, by five rules."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import attrs

from assignor_lab.documents.wording import listed, natural_order, plural
from assignor_lab.watching.known_loops import KNOWN_LOOPS, named_loop
from assignor_lab.watching.limits import WatchLimits
from assignor_lab.watching.rebalances import WatchedGroup, WatchedRebalance

__all__ = ["RULES", "Unusual", "unusual_rebalances"]

_MOST_NAMED = 3


@attrs.frozen
class Unusual:
    """A rebalance out of the ordinary."""

    rule: str
    group: str
    time_ms: int
    generation: int | None
    value: float
    limit: float
    sentence: str
    known: str | None = None

    @property
    def remedy(self) -> str | None:
        return None if self.known is None else KNOWN_LOOPS[self.known].remedy

    def document(self) -> dict[str, Any]:
        return {**attrs.asdict(self), "remedy": self.remedy}


def unusual_rebalances(group: WatchedGroup, limits: WatchLimits) -> list[Unusual]:
    """By time, then in the order of ``RULES``."""
    found = [each for rule in RULES.values() for each in rule(group, limits)]
    return sorted(found, key=lambda each: each.time_ms)


# --- rules ----------------------------------------------------------------------------------------


def _unexplained(group: WatchedGroup, limits: WatchLimits) -> Iterator[Unusual]:
    """Rebalances without a cause. Soon after another one with the same members, a rebalance is a follow-up."""
    count = 0
    for each in group.rebalances[1:]:
        entry = each.entry
        if entry.reason or entry.inferred_reason or entry.missing is not None or not each.is_late:
            continue
        count += 1
        if count > limits.unexplained:
            yield _unusual(
                "no known cause", group, each, count, limits.unexplained, "The rebalance has no known cause."
            )


def _endless(group: WatchedGroup, limits: WatchLimits) -> Iterator[Unusual]:
    for chain in _chains(group):
        for is_probing, limit, noun in (
            (False, limits.followups, "follow-up"),
            (True, limits.probings, "probing rebalance"),
        ):
            own = [each for each in chain if each.is_late is is_probing]
            if len(own) <= limit:
                continue
            sentence = f"{plural(len(own), noun)}, one after the other, with the same members."
            loop = named_loop(group, chain)
            yield attrs.evolve(_unusual("endless follow-ups", group, own[limit], len(own), limit, sentence), known=loop)


def _chains(group: WatchedGroup) -> Iterator[list[WatchedRebalance]]:
    """Longest runs of rebalances with the members of their predecessor."""
    chain: list[WatchedRebalance] = []
    for each in group.rebalances:
        if each.is_same_group:
            chain.append(each)
        elif chain:
            yield chain
            chain = []
    if chain:
        yield chain


def _back_and_forth(group: WatchedGroup, limits: WatchLimits) -> Iterator[Unusual]:
    """Tasks that return to an instance that gave them away, while the members stay the same."""
    window_ms = limits.window_seconds * 1_000
    moves: dict[str, tuple[str, str]] = {}
    returns: dict[str, deque[int]] = {}
    reported: set[str] = set()
    owners: dict[str, str] = {}
    for each in group.rebalances:
        exceeding = []
        there = {*each.owners.values()} | {name for _, name in each.copies}
        for task, owner in each.owners.items():
            before = owners.get(task, owner)
            owners[task] = owner
            if before == owner:
                continue
            if before not in there and before in {*each.entry.gone, *each.entry.restarted}:
                moves.pop(task, None)
                continue
            # A member that came or went is a cause of moves.
            if each.is_same_group and moves.get(task) == (owner, before):
                recent = returns.setdefault(task, deque())
                recent.append(each.entry.time_ms)
                while recent[0] < each.entry.time_ms - window_ms:
                    recent.popleft()
                if len(recent) > limits.returns and task not in reported:
                    exceeding.append((task, owner, before, len(recent)))
                    reported.add(task)
            moves[task] = before, owner
        if exceeding:
            tasks = sorted({task for task, *_ in exceeding}, key=natural_order)
            names = sorted({name for _, *both, _ in exceeding for name in both}, key=natural_order)
            count = max(count for *_, count in exceeding)
            sentence = f"{_named(tasks)} moved back and forth between {_named(names)}."
            yield _unusual("back and forth", group, each, count, limits.returns, sentence)


def _flapping(group: WatchedGroup, limits: WatchLimits) -> Iterator[Unusual]:
    window_ms = limits.window_seconds * 1_000
    departures: dict[str, deque[int]] = {}
    for each in group.rebalances:
        for name in (*each.entry.gone, *each.entry.restarted):
            recent = departures.setdefault(name, deque())
            recent.append(each.entry.time_ms)
            while recent[0] < each.entry.time_ms - window_ms:
                recent.popleft()
            if len(recent) == limits.departures + 1:
                sentence = f"{name} left or restarted {len(recent)} times within {limits.window_seconds} s."
                yield _unusual("flapping instance", group, each, len(recent), limits.departures, sentence)


def _unowned(group: WatchedGroup, limits: WatchLimits) -> Iterator[Unusual]:
    """Tasks without an owner for too long, or after the last rebalance."""
    since: dict[str, WatchedRebalance] = {}
    allowed_ms = limits.unowned_seconds * 1_000
    for each in group.rebalances:
        ended = [(task, begin) for task, begin in since.items() if task not in each.unowned]
        yield from _too_long(group, ended, each.entry.time_ms, allowed_ms, limits)
        since = {task: since.get(task, each) for task in each.unowned}
    last = group.rebalances[-1]
    left = sorted(last.unowned, key=natural_order) if not last.allowed_ms else []
    if left:
        sentence = f"{_named(left)} had no owner after the last rebalance."
        yield _unusual("tasks without owner", group, last, len(left), 0, sentence)


def _too_long(
    group: WatchedGroup,
    ended: Iterable[tuple[str, WatchedRebalance]],
    now_ms: int,
    allowed_ms: int,
    limits: WatchLimits,
) -> Iterator[Unusual]:
    late: dict[WatchedRebalance, list[str]] = {}
    for task, begin in ended:
        if now_ms - begin.entry.time_ms > allowed_ms + begin.allowed_ms:
            late.setdefault(begin, []).append(task)
    for begin, tasks in late.items():
        seconds = (now_ms - begin.entry.time_ms) / 1_000
        sentence = f"{_named(sorted(tasks, key=natural_order))} had no owner for {seconds:.0f} s."
        yield _unusual("tasks without owner", group, begin, seconds, limits.unowned_seconds, sentence)


RULES: dict[str, Callable[[WatchedGroup, WatchLimits], Iterator[Unusual]]] = {
    "no known cause": _unexplained,
    "endless follow-ups": _endless,
    "back and forth": _back_and_forth,
    "flapping instance": _flapping,
    "tasks without owner": _unowned,
}


def _unusual(
    rule: str, group: WatchedGroup, rebalance: WatchedRebalance, value: float, limit: float, sentence: str
) -> Unusual:
    entry = rebalance.entry
    return Unusual(rule, group.group, entry.time_ms, entry.generation, value, limit, sentence)


def _named(names: list[str]) -> str:
    more = len(names) - _MOST_NAMED
    return listed([*names[:_MOST_NAMED], *([f"{more} more"] if more > 0 else [])])
