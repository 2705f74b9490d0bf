"""Rules of ``group_sticky`` up to Kafka 4.3 (Kafka: the brokers' ``StickyTaskAssignor``).

The rules of both releases are in ``builtin_assignors/_group_sticky_steps``.
"""

from __future__ import annotations

from collections.abc import Sequence

from assignment_api.java import iteration_order_of_spreads
from assignment_api.streams.ids import utf16_key
from builtin_assignors._group_sticky_steps import (
    Choice,
    GroupLayout,
    GroupStickyPlacement,
    Rules,
    previous_standbys,
    spreads_of,
)

__all__ = ["RULES"]


def _first_or_less_loaded(placement: GroupStickyPlacement) -> Choice:
    """The first candidate, unless a later one is less loaded, as a process and as a member.

    Kafka starts from the first candidate without checking whether its process has the task. At the end it checks *that*
    process, even if it chose another candidate (KAFKA-20899). An exact answer has to repeat this.
    """
    loads, counts, process_of = placement.processes.loads, placement.counts, placement.layout.process_of

    def choose(members: Sequence[int], held_by: Sequence[int]) -> int:
        best = members[0]
        first = process_of[best]
        load, count = loads[first], counts[best]
        for member in members[1:]:
            process = process_of[member]
            if loads[process] < load and counts[member] < count and process not in held_by:
                best, load, count = member, loads[process], counts[member]
        return -1 if first in held_by else best

    return choose


def _map_order(layout: GroupLayout) -> Sequence[int]:
    """The processes in the order of a map created for as many entries as there are members."""
    ids = layout.processes
    return iteration_order_of_spreads(spreads_of(ids), len(layout.ids), lambda process: utf16_key(ids[process]))


RULES = Rules(previous_standbys, _first_or_less_loaded, _map_order)
