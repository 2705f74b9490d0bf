"""Figures of a recorded group for monitoring."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import attrs

from assignment_api.plugins import ConfigSources, Registry
from assignor_lab.capture.histories.group_histories import group_histories
from assignor_lab.capture.histories.past import PastSurroundings, read_past
from assignor_lab.capture.histories.reasons import FOLLOW_UP, PROBING
from assignor_lab.runtime.assignor_calls import OwnProcesses
from assignor_lab.scenarios import Scenario
from assignor_lab.verification.readings import terms_of
from assignor_lab.verification.replays import past_episodes, replay_checks
from assignor_lab.verification.verified import VerifiedGroup, verify
from assignor_lab.watching.findings import unusual_rebalances
from assignor_lab.watching.limits import WatchLimits
from assignor_lab.watching.rebalances import WatchedGroup, WatchedRebalance, watched_groups

__all__ = ["CAUSES", "GroupFigures", "MeasuringTerms", "figures_of_past"]

CAUSES = ("start", "join", "leave", "restart", "probing", "follow_up", "other", "unknown")


@attrs.frozen
class GroupFigures:
    """Figures of one group's recorded past.

    Args:
        moved: Active tasks or jobs moved between two present instances.
        standby_lag: Largest lag in the latest decision, in records.
        unusual: Rule to number of findings.
        played_s: Task-seconds without processing in a play of the past; ``None`` if it cannot be played.
        reproduced: Share of the checked decisions.
    """

    group: str
    rebalances: Mapping[str, int]
    generation: int | None
    instances: int
    members: int
    moved: int
    copies: int
    standby_lag: int | None
    unusual: Mapping[str, int]
    played_s: float | None
    reproduced: float | None
    latest_ms: int


@attrs.frozen(eq=False)
class MeasuringTerms:
    """Terms of the figures."""

    registry: Registry
    config: ConfigSources
    isolation: OwnProcesses | None = None
    limits: WatchLimits = WatchLimits()  # noqa: RUF009


def figures_of_past(folder: Path, terms: MeasuringTerms) -> list[GroupFigures]:
    """Empty without a complete decision."""
    around = PastSurroundings(terms.config.above, on_problem=lambda _: None)
    past = read_past([str(folder)], around)
    decisions = [each for each in past.scenarios if each.observed is not None]
    groups = watched_groups(group_histories(decisions, past.events))
    verified = _verified(decisions, terms, around)
    return [_figures(each, verified.get(each.group), terms.limits) for each in groups]


def _verified(decisions: list[Scenario], terms: MeasuringTerms, around: PastSurroundings) -> dict[str, VerifiedGroup]:
    rules = terms_of(terms.registry, terms.config, terms.isolation, around=around)
    replays = replay_checks(past_episodes(decisions), rules)
    return {each.group: each for each in verify(decisions, rules, replays).groups}


def _figures(group: WatchedGroup, verified: VerifiedGroup | None, limits: WatchLimits) -> GroupFigures:
    entries = [each.entry for each in group.rebalances]
    last = entries[-1]
    checked = 0 if verified is None else verified.checked
    return GroupFigures(
        group=group.group,
        rebalances=Counter(map(_cause, group.rebalances)),
        generation=last.generation,
        instances=last.instances,
        members=last.members,
        moved=sum(each.active_moved for each in entries),
        copies=sum(each.copies_made for each in entries),
        standby_lag=max(_standby_lags(group.rebalances[-1]), default=None),
        unusual=Counter(each.rule for each in unusual_rebalances(group, limits)),
        played_s=None if verified is None or verified.replay is None else verified.replay.downtime_s,
        reproduced=verified.reproduced / checked if verified is not None and checked else None,
        latest_ms=last.time_ms,
    )


def _cause(rebalance: WatchedRebalance) -> str:
    """The membership decides before the wording of a reason."""
    entry = rebalance.entry
    for cause, is_so in (
        ("start", not rebalance.since_ms and not rebalance.is_same_group),
        ("restart", entry.restarted),
        ("join", entry.joined),
        ("leave", entry.gone),
        ("probing", PROBING in entry.inferred_reason or "probing" in entry.reason.lower()),
        ("follow_up", FOLLOW_UP in entry.inferred_reason),
        ("other", entry.reason or entry.inferred_reason),
    ):
        if is_so:
            return cause
    return "unknown"


def _standby_lags(rebalance: WatchedRebalance) -> Iterable[int]:
    shares = {} if rebalance.decision is None else rebalance.decision.shares
    return (lag for share in shares.values() for lag in share.copy_lags.values())
