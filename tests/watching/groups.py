"""Small pasts for the rules of `assignor check`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from assignor_lab.capture.histories.timeline import TimelineEntry
from assignor_lab.model.decision import Decision, InstanceShare
from assignor_lab.model.events import GroupEvent
from assignor_lab.model.evidence import Evidence, EvidenceKind
from assignor_lab.model.moment import Moment
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
    assignor: str = "",
    lag: int | None = None,
    recovery_lag: int | None = None,
    followup: str = "none",
) -> WatchedRebalance:
    at_ms = round(seconds * 1000)
    entry = TimelineEntry(at_ms, round(seconds), None, 2, 2, (), gone, (), 1, 0, followup, reason, missing)
    shares = {name: _share(name, owners, copies, lag) for name in {*owners.values(), *(name for _, name in copies)}}
    decision = Decision(
        Moment.at(at_ms), Evidence(EvidenceKind.PLAYED), "classic", round(seconds), shares, followup=followup,
        allowed_ms=allowed_s * 1000, assignor=assignor, recovery_lag=recovery_lag,
    )  # fmt: skip
    return WatchedRebalance(
        entry, owners, frozenset(copies), frozenset(unowned), is_same and not gone, round(since_s * 1000), decision
    )


def _share(name: str, owners: Mapping[str, str], copies: Iterable[tuple[str, str]], lag: int | None) -> InstanceShare:
    held = tuple(task for task, of in copies if of == name)
    active = tuple(task for task, of in owners.items() if of == name)
    return InstanceShare(name, frozenset({name}), active, held, {} if lag is None else dict.fromkeys(held, lag))


def past(*rebalances: WatchedRebalance, protocol: str = "classic", events: Iterable[GroupEvent] = ()) -> WatchedGroup:
    return WatchedGroup("orders", protocol, rebalances, tuple(events))
