"""Figures of a recorded group for monitoring."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import attrs

from assignment_api.plugins import ConfigSources, Registry
from assignor_lab.capture.edges.moments import STREAMS
from assignor_lab.capture.histories.group_histories import group_histories
from assignor_lab.capture.histories.past import PastSurroundings, read_past
from assignor_lab.capture.histories.reasons import FOLLOW_UP, PROBING
from assignor_lab.model.events import GroupDeleted, GroupEmptied
from assignor_lab.runtime.assignor_calls import OwnProcesses
from assignor_lab.scenarios import Scenario
from assignor_lab.verification.readings import terms_of
from assignor_lab.verification.replays import past_episodes, verify_past
from assignor_lab.verification.verified import VerifiedGroup
from assignor_lab.watching.findings import unusual_rebalances
from assignor_lab.watching.limits import WatchLimits
from assignor_lab.watching.rebalances import WatchedGroup, WatchedRebalance, watched_groups

__all__ = ["CAUSES", "EVENTS", "GroupFigures", "MeasuringTerms", "figures_of_past"]

CAUSES = ("start", "join", "leave", "restart", "probing", "follow_up", "other", "unknown")
#: Types of events that a recording shows.
EVENTS = (
    "group_deleted", "group_emptied", "group_refilled", "instance_gone", "instance_restarted",
    "instance_restarted_in_session", "instance_started", "protocol_changed", "setting_changed", "topology_changed",
)  # fmt: skip
#: Rebalances of one roll: for each member of a streams group, which joins alone, or for each instance.
_PER_MEMBER, _PER_INSTANCE = 3, 4


@attrs.frozen
class GroupFigures:
    """Figures of one group's recorded past.

    Args:
        events: Type to number, for the types of ``EVENTS``.
        instances: In the latest decision; 0 while the group is empty, and so are ``members``.
        roll: Rebalances of an ordinary roll of all instances, at most.
        moved: Active tasks or jobs moved between two present instances.
        standby_lag: Largest lag of a copy of the latest decision, in records; ``None`` without copies or members.
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
    events: Mapping[str, int] = attrs.field(factory=dict)
    roll: int = 0
    is_deleted: bool = False


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
    return [_figures(each, verified.get(each.group, ()), terms.limits) for each in groups if each.rebalances]


def _verified(
    decisions: list[Scenario], terms: MeasuringTerms, around: PastSurroundings
) -> dict[str, list[VerifiedGroup]]:
    """A group that moved between protocols has several."""
    rules = terms_of(terms.registry, terms.config, terms.isolation, around=around)
    found: dict[str, list[VerifiedGroup]] = {}
    for each in verify_past(decisions, rules, past_episodes(decisions), plays=1).groups:
        found.setdefault(each.whole or each.group, []).append(each)
    return found


def _figures(group: WatchedGroup, verified: Sequence[VerifiedGroup], limits: WatchLimits) -> GroupFigures:
    entries = [each.entry for each in group.rebalances]
    last = entries[-1]
    checked = sum(each.checked for each in verified)
    played = [each.replay.downtime_s for each in verified if each.replay is not None]
    numbers = [
        each.number for each in group.events if isinstance(each, GroupEmptied) and each.at.latest_ms > last.time_ms
    ]
    types = Counter(each.type for each in group.events)
    is_streams = group.protocol == STREAMS
    return GroupFigures(
        group=group.group,
        rebalances=Counter(map(_cause, group.rebalances)),
        generation=numbers[-1] if numbers and numbers[-1] is not None else last.generation,
        instances=0 if group.is_empty else last.instances,
        members=0 if group.is_empty else last.members,
        moved=sum(each.active_moved for each in entries),
        copies=sum(each.copies_made for each in entries),
        standby_lag=None if group.is_empty else max(_standby_lags(group.rebalances[-1]), default=None),
        unusual=Counter(each.rule for each in unusual_rebalances(group, limits)),
        played_s=sum(played) if played else None,
        reproduced=sum(each.reproduced for each in verified) / checked if checked else None,
        latest_ms=last.time_ms,
        events={name: types[name] for name in EVENTS},
        roll=_PER_MEMBER * last.members if is_streams else _PER_INSTANCE * last.instances,
        is_deleted=group.is_empty and any(isinstance(each, GroupDeleted) for each in group.events[-1:]),
    )


def _cause(rebalance: WatchedRebalance) -> str:
    """The membership decides before the wording of a reason."""
    entry = rebalance.entry
    for cause, is_so in (
        (
            "start",
            not rebalance.is_same_group
            and (not rebalance.since_ms or (entry.joined and entry.instances == len(entry.joined))),
        ),
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
    """Of copies that the decision keeps."""
    shares = {} if rebalance.decision is None else rebalance.decision.shares
    return (lag for share in shares.values() for task, lag in share.copy_lags.items() if task in share.copies)
