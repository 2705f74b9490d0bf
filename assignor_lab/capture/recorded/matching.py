"""Matching: the decision of a leader that a description of the group shows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from assignor_lab.capture.logs.rebalance import Decision
from assignor_lab.capture.recorded.broker_answers import MemberAnswer
from assignor_lab.capture.recorded.recording import Seen

__all__ = ["DecisionNotFound", "Match", "StaticRestart", "match_decision"]


@attrs.frozen
class Match:
    """The decision whose input and outcome a stable group shows.

    Args:
        decision: The decision.
    """

    decision: Decision


@attrs.frozen
class StaticRestart:
    """A stable group in which static members have come back within their session.

    The broker replaces such a member, metadata included, without a rebalance: what it says was nobody's input.

    Args:
        decision: The decision whose outcome the others still show.
        replaced: New member id to the one that the leader knew.
    """

    decision: Decision
    replaced: dict[str, str]

    def __str__(self) -> str:
        members = ", ".join(self.replaced)
        return (
            f"static members came back without a rebalance ({members}): what they say now was not the input of "
            "the assignment that they hold"
        )


@attrs.frozen
class DecisionNotFound:
    """No log shows how this group was assigned."""

    def __str__(self) -> str:
        return "no decision in the logs has this generation and these members: give the logs of all instances"


def match_decision(seen: Seen, decisions: Iterable[Decision]) -> Match | StaticRestart | DecisionNotFound:
    """Finds the decision of a stable group by its generation and members.

    Args:
        seen: A description of a stable group.
        decisions: What leaders have logged, in the order of time.
    """
    answer = seen.answer
    same = [
        decision
        for decision in decisions
        if decision.consumers is not None
        and decision.group in (None, answer.group)
        and decision.generation in (None, answer.generation)
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


def _consumers(decision: Decision) -> frozenset[str]:
    return frozenset(consumer for consumers in (decision.consumers or {}).values() for consumer in consumers)


def _latest(decisions: Sequence[Decision], at_ms: int) -> Decision:
    """The last one before the description; log and recording may have clocks that differ, so the first one at worst."""
    times = [None if decision.record.time is None else decision.record.time.epoch_ms() for decision in decisions]
    before = [decision for decision, time in zip(decisions, times, strict=True) if time is None or time <= at_ms]
    return before[-1] if before else decisions[0]


def _replaced(members: Sequence[MemberAnswer], known: frozenset[str]) -> dict[str, str] | None:
    """New to old member ids, if static members that remember no generation are all that is new.

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
