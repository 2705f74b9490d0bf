"""The rules of ``group_sticky`` that are those of Kafka 4.3.1 alone (Kafka: the brokers' ``StickyTaskAssignor``).

What both releases share is in ``builtin_assignors/_group_sticky_steps``.
"""

from __future__ import annotations

from collections.abc import Sequence

from assignment_api.java import iteration_order_of_spreads
from assignment_api.streams.ids import utf16_key
from builtin_assignors._group_sticky_steps import Choice, GroupLayout, Placement, Rules, previous_standbys, spreads_of

__all__ = ["RULES"]


def _first_or_less_loaded(placement: Placement) -> Choice:
    """The first one, unless a later one is less loaded, as a process and as a member.

    Kafka starts from the first one without asking whether its process has the task, and asks about *that* process at
    the end, whoever was chosen meanwhile (KAFKA-20899); an exact answer has to do the same.
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
    """The processes in a map that was made for as many of them as there are members."""
    ids = layout.processes
    return iteration_order_of_spreads(spreads_of(ids), len(layout.ids), lambda process: utf16_key(ids[process]))


RULES = Rules(previous_standbys, _first_or_less_loaded, _map_order)
