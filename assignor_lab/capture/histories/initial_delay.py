"""The broker's ``group.initial.rebalance.delay.ms``, as the first decision of a new group bounds it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs

from assignor_lab.capture.edges.moments import DecisionMoment
from assignor_lab.simulation.streams.timings import StreamsTimings

__all__ = ["INITIAL_DELAY", "DelayBound", "initial_delay_bound", "initial_wait_ms"]

INITIAL_DELAY = "group.initial.rebalance.delay.ms"
#: Threads of one process join within this time.
_THREADS_JOIN_MS = 1_000


@attrs.frozen
class DelayBound:
    """The longest delay that a recording allows; the shortest one is 0.

    Args:
        evidence: A sentence without its end.
    """

    longest_ms: int
    evidence: str


def initial_wait_ms(first: DecisionMoment, delay_ms: int) -> int:
    """The wait of an empty group until its first decision: a second member prolongs it once."""
    members = sum(max(1, len(each.members)) for each in first.participants.values())
    return delay_ms * (2 if members > 1 else 1)


def initial_delay_bound(moments: Sequence[DecisionMoment]) -> DelayBound | None:
    """Of a group that was empty before its first decision; ``None`` if nothing contradicts Kafka's default."""
    found = min(_bounds(moments), key=lambda each: each.longest_ms, default=None)
    return found if found is not None and found.longest_ms < StreamsTimings().initial_rebalance_delay_ms else None


def _bounds(moments: Sequence[DecisionMoment]) -> Iterator[DelayBound]:
    first = moments[0]
    if first.prepared_ms is not None:
        waited = first.time_ms - first.prepared_ms
        yield DelayBound(waited, f"the first rebalance of the group took {waited} ms")
    windows = initial_wait_ms(first, 1)
    begun = [each.time_ms for each in first.noted if each.type == "begun" and each.client in _clients(first)]
    if begun:
        waited = first.time_ms - min(begun)
        prolonged = ", and a second member prolongs the delay once" if windows > 1 else ""
        yield DelayBound(
            waited // windows, f"the first decision came {waited} ms after the start of the first threads{prolonged}"
        )
    for later in moments[1:]:
        if later.time_ms - first.time_ms > StreamsTimings().initial_rebalance_delay_ms:
            break
        for process, each in first.participants.items():
            more = later.participants.get(process)
            if more is not None and each.members < more.members:
                shown = f"{len(each.members)} of {len(more.members)} threads of one process"
                yield DelayBound(_THREADS_JOIN_MS, f"the first decision has {shown}, which join together")


def _clients(moment: DecisionMoment) -> set[str | None]:
    return {each.client_id for each in moment.participants.values()}
