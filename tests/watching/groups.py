"""Small pasts for the rules of `assignor check`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from assignor_lab.capture.histories.timeline import TimelineEntry
from assignor_lab.watching.rebalances import WatchedGroup, WatchedRebalance


def rebalance(
    seconds: float,
    owners: Mapping[str, str],
    *,
    copies: Iterable[tuple[str, str]] = (),
    unowned: Iterable[str] = (),
    gone: tuple[str, ...] = (),
    reason: str = "a reason",
    is_same: bool = True,
    since_s: float = 1,
    allowed_s: int = 0,
    missing: tuple[int, int] | None = None,
    document: Mapping[str, Any] | None = None,
) -> WatchedRebalance:
    entry = TimelineEntry(
        round(seconds * 1000), round(seconds), None, 2, 2, (), gone, (), 1, 0, "none", reason, missing
    )  # fmt: skip
    return WatchedRebalance(
        entry,
        owners,
        frozenset(copies),
        frozenset(unowned),
        is_same and not gone,
        round(since_s * 1000),
        allowed_s * 1000,
        document or {},
    )


def past(*rebalances: WatchedRebalance, protocol: str = "classic") -> WatchedGroup:
    return WatchedGroup("orders", protocol, rebalances)
