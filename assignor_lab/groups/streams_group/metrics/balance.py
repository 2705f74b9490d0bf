"""Balance by member: brokers assign tasks to members, so the members' loads are known and not inferred."""

from __future__ import annotations

from collections.abc import Callable
from operator import add, sub

from assignor_lab.groups.metrics.balance import OnMembers, per_member
from assignor_lab.groups.streams_group.placement import ByMember, StreamsGroupPlacement

__all__ = ["ON_MEMBERS"]


def _loads(counts: Callable[[ByMember], list[int]]) -> Callable[[StreamsGroupPlacement], OnMembers]:
    def loads(placement: StreamsGroupPlacement) -> OnMembers:
        held = counts(placement.by_member)
        return OnMembers(max(held), min(held), sum(held), len(held)) if held else OnMembers()

    return loads


_CROWDED = "more where one process has most of the members, whose tasks have their standbys elsewhere."

ON_MEMBERS = (
    *per_member(
        {
            "active": ("active tasks", _loads(lambda of: of.active)),
            "stateful": ("active tasks with state", _loads(lambda of: of.stateful)),
            "stateless": ("active tasks without state", _loads(lambda of: list(map(sub, of.active, of.stateful)))),
            "total": ("tasks, standbys included", _loads(lambda of: list(map(add, of.active, of.standby)))),
        }
    ),
    *per_member(
        {"standby": ("standbys, warm-ups included", _loads(lambda of: of.standby))},
        f"One standby, where they do not divide evenly; {_CROWDED}",
        f"An even share is rounded up to whole standbys; {_CROWDED}",
    ),
)
