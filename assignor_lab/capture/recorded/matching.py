"""The leader's decision behind a description of the group."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from assignor_lab.capture.logs.rebalance import LoggedDecision
from assignor_lab.capture.recorded.broker_answers import MemberAnswer
from assignor_lab.capture.recorded.recording import Seen

__all__ = ["DecisionNotFound", "Match", "StaticRestart", "match_decision"]


@attrs.frozen
class Match:
    """The decision whose input and outcome a stable group shows."""

    decision: LoggedDecision


@attrs.frozen
class StaticRestart:
    """A stable group with static members that came back within their session.

    The broker replaces such a member without a rebalance, so no leader saw its new subscription.

    Args:
        replaced: New member id to the one that the leader knew.
    """

    decision: LoggedDecision
    replaced: dict[str, str]

    def __str__(self) -> str:
        members = ", ".join(self.replaced)
        return (
            f"static members came back without a rebalance ({members}): their present reports were not the input "
            "of their assignment"
        )


@attrs.frozen
class DecisionNotFound:
    """No log shows the group's decision."""

    def __str__(self) -> str:
        return "no decision in the logs has this generation and these members: give the logs of all instances"


def match_decision(seen: Seen, decisions: Iterable[LoggedDecision]) -> Match | StaticRestart | DecisionNotFound:
    """By generation and members."""
    answer = seen.answer
    same = [
        decision
        for decision in decisions
        if decision.consumers is not None
        and decision.group in (None, answer.group)
        and (answer.generation is None or decision.generation in (None, answer.generation))
    ]
    members = frozenset(member.member_id for member in answer.members)
    exact = [decision for decision in same if _consumers(decision) == members]
    if exact:
        return Match(_latest(exact, seen.time_ms))
    for decision in reversed(same):
        replaced = _replaced(answer.members, _consumers(decision))
        if replaced is not None:
            return StaticRestart(decision, replaced)
    return DecisionNotFound()


def _consumers(decision: LoggedDecision) -> frozenset[str]:
    return frozenset(consumer for consumers in (decision.consumers or {}).values() for consumer in consumers)


def _latest(decisions: Sequence[LoggedDecision], at_ms: int) -> LoggedDecision:
    """The last decision before the description; clocks may differ, so otherwise the first."""
    times = [None if decision.record.time is None else decision.record.time.epoch_ms() for decision in decisions]
    before = [decision for decision, time in zip(decisions, times, strict=True) if time is None or time <= at_ms]
    return before[-1] if before else decisions[0]


def _replaced(members: Sequence[MemberAnswer], known: frozenset[str]) -> dict[str, str] | None:
    """New to old ids, if all new members are static and have no generation.

    A static member's id is its instance id and a random UUID.
    """
    replaced: dict[str, str] = {}
    gone = sorted(known - {member.member_id for member in members})
    for member in members:
        if member.member_id in known:
            continue
        remembers = member.subscription is not None and member.subscription.generation is not None
        instance = member.instance_id or member.member_id[:-37]
        old = [name for name in gone if name[:-37] == instance and name not in replaced.values()]
        if remembers or len(old) != 1:
            return None
        replaced[member.member_id] = old[0]
    return replaced if len(replaced) == len(gone) else None
