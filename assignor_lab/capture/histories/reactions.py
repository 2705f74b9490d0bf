"""Intervals of the streams protocol that recorded assignments of members bound.

A member learns of a new target with its next heartbeat, so its wait is less than one interval. A member that was fenced
sent its last heartbeat at its last change of tasks or later.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs

from assignor_lab.capture.edges.moments import DecisionMoment
from assignor_lab.simulation.streams.timings import StreamsTimings

__all__ = ["Reactions", "learned_heartbeat_ms", "longest_streams_session_ms"]

#: Kafka's default is contradicted if all waits would be as short by chance more seldom than this.
_CHANCE = 0.01
#: A change this soon after a target came with the heartbeat that led to it.
_AT_ONCE_MS = 20


@attrs.frozen
class Reactions:
    """Waits of members for new targets.

    Args:
        longest_ms: Lower bound of the heartbeat interval.
        interval_ms: The likeliest interval: the roundest time from the longest wait on.
    """

    count: int
    longest_ms: int
    interval_ms: int


def learned_heartbeat_ms(moments: Sequence[DecisionMoment]) -> Reactions | None:
    """``None`` if the waits do not contradict Kafka's default."""
    waits = list(_waits(moments))
    default_ms = StreamsTimings().streams_heartbeat_interval_ms
    if not waits or max(waits) >= default_ms or (max(waits) / default_ms) ** len(waits) >= _CHANCE:
        return None
    return Reactions(len(waits), max(waits), _roundest(max(waits), max(waits) * (len(waits) + 2) // len(waits)))


def _roundest(least: int, most: int) -> int:
    """The smallest number with the fewest digits before its zeros: people set such intervals."""
    sizes = (int("1" + "0" * zeros) for zeros in range(len(str(most)), -1, -1))
    return next(found for size in sizes if (found := -(-least // size) * size) <= most)


def _waits(moments: Sequence[DecisionMoment]) -> Iterator[int]:
    """From a target to the first change of each member that was there before."""
    changes = sorted((each.time_ms, each.member) for moment in moments for each in moment.input.member_tasks)
    for place, moment in enumerate(moments[1:], start=1):
        until_ms = moments[place + 1].time_ms if place + 1 < len(moments) else None
        there = {member for each in moments[place - 1].participants.values() for member in each.members}
        for at_ms, member in changes:
            if at_ms <= moment.time_ms or member not in there or (until_ms is not None and at_ms > until_ms):
                continue
            there.discard(member)
            if at_ms - moment.time_ms > _AT_ONCE_MS:
                yield at_ms - moment.time_ms


def longest_streams_session_ms(moments: Sequence[DecisionMoment], heartbeat_ms: int) -> int | None:
    """Upper bound of ``streams.session.timeout.ms``; ``None`` if no session ended.

    A member that was fenced within a heartbeat interval of its last change was fenced for another reason.
    """
    changes = [(each.time_ms, each.member) for moment in moments for each in moment.input.member_tasks]
    found = []
    for place, moment in enumerate(moments):
        for noted in moment.noted:
            if noted.type != "fenced" or not place:
                continue
            members = {
                member
                for each in moments[place - 1].participants.values()
                if each.client_id == noted.client
                for member in each.members
            }
            seen = [at for at, member in changes if member in members and at < noted.time_ms]
            if seen:
                found.append(noted.time_ms - max(seen))
    return min((each for each in found if each > heartbeat_ms), default=None)
