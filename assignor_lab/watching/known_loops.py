"""Kafka's known loops of rebalances, recognised in a recorded chain. The documentation describes each of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import attrs

from assignor_lab.capture.edges.moments import CLASSIC, STREAMS
from assignor_lab.model.history import PARTITIONS
from assignor_lab.watching.rebalances import WatchedGroup, WatchedRebalance

__all__ = ["KNOWN_LOOPS", "KnownLoop", "named_loop"]


@attrs.frozen
class KnownLoop:
    """A loop of Kafka."""

    remedy: str
    explains: Callable[[WatchedGroup, Sequence[WatchedRebalance]], bool]


def named_loop(group: WatchedGroup, chain: Sequence[WatchedRebalance]) -> str | None:
    return next((name for name, loop in KNOWN_LOOPS.items() if loop.explains(group, chain)), None)


def _has_swinging_copies(group: WatchedGroup, chain: Sequence[WatchedRebalance]) -> bool:
    """True if copies move in each target while no active task moves."""
    pairs = list(pairwise(chain))
    return (
        group.protocol == STREAMS
        and bool(pairs)
        and all(before.owners == after.owners and before.copies != after.copies for before, after in pairs)
    )


def _is_fallback(group: WatchedGroup, chain: Sequence[WatchedRebalance]) -> bool:
    return group.protocol == CLASSIC and all("fallback" in _assignor(each) for each in chain)


def _is_sticky(group: WatchedGroup, chain: Sequence[WatchedRebalance]) -> bool:
    return (
        group.protocol == CLASSIC
        and group.moves != PARTITIONS
        and any(each.entry.active_moved or each.entry.copies_made for each in chain)
        and all("sticky" in _assignor(each) for each in chain)
    )


def _is_cooperative(group: WatchedGroup, chain: Sequence[WatchedRebalance]) -> bool:
    """True if plain consumers hand partitions over without an end (apache/kafka 13920)."""
    return (
        group.moves == PARTITIONS
        and group.protocol == CLASSIC
        and any(each.unowned for each in chain)
        and all("cooperative" in _assignor(each) for each in chain)
    )


def _has_low_recovery_lag(group: WatchedGroup, chain: Sequence[WatchedRebalance]) -> bool:
    """True if copies lag in each round, beyond the limit or, if that is unknown, without an end."""
    if group.protocol != CLASSIC or group.moves == PARTITIONS or not chain:
        return False
    return all(map(_has_lagging_copy, chain)) or _keeps_lagging(chain)


def _has_lagging_copy(rebalance: WatchedRebalance) -> bool:
    decision = rebalance.decision
    if decision is None or decision.recovery_lag is None:
        return False
    return any(lag > decision.recovery_lag for share in decision.shares.values() for lag in share.copy_lags.values())


def _keeps_lagging(chain: Sequence[WatchedRebalance]) -> bool:
    """True if one copy stays where it is, lags in each round, and its lag does not shrink by half."""
    first, *others = (each.decision for each in chain)
    if first is None or not others:
        return False
    for task, name in first.copies:
        lags = [
            0 if each is None or name not in each.shares else each.shares[name].copy_lags.get(task, 0)
            for each in others
        ]
        if all(lags) and max(lags[len(lags) // 2 :]) * 2 >= lags[0]:
            return True
    return False


def _assignor(rebalance: WatchedRebalance) -> str:
    return "" if rebalance.decision is None else rebalance.decision.assignor


#: Name to loop, the most specific first. Names are those of the documentation page *Known behaviours of Kafka*.
KNOWN_LOOPS: Mapping[str, KnownLoop] = {
    "KAFKA-15106": KnownLoop("give all members the same topics, or set another strategy: cooperative-sticky of Kafka "
                             "3.5 and of client libraries moves partitions without an end", _is_cooperative),
    "KAFKA-21166": KnownLoop("set streams.num.standby.replicas of the group so that standbys divide evenly, or to 0",
                             _has_swinging_copies),
    "FallbackPriorTaskAssignor": KnownLoop("configure another assignor: this one is Kafka's fallback", _is_fallback),
    "StickyTaskAssignor": KnownLoop("configure the high availability assignor", _is_sticky),
    "acceptable.recovery.lag": KnownLoop("set it above the records that arrive while a copy restores",
                                         _has_low_recovery_lag),
}  # fmt: skip
