"""Families of histories of Streams groups with joins, leaves, crashes and returns.

``streams_histories`` draws groups of all realistic sizes; ``streams_4x40`` always has 4 clients and 40 tasks, for
figures that must not depend on size.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from assignor_lab.scenarios.families.draws import DrawnFamily, Draws
from assignor_lab.scenarios.families.events import CHANGING_SIZE, KEEPING_SIZE, Event, draw_steps
from assignor_lab.scenarios.families.shape import GroupShape, draw_fixed_group, draw_group, draw_group_clients
from assignor_lab.scenarios.families.sizes import work_with
from assignor_lab.scenarios.families.streams_history import StreamsFamilyHistory, drawn_once

__all__ = ["drawn"]

GroupMaker = Callable[[Draws, str], GroupShape]


_GROUPS: Mapping[str, tuple[GroupMaker, Sequence[tuple[int, Event]]]] = {
    "streams_histories": (draw_group, CHANGING_SIZE),
    "streams_4x40": (draw_fixed_group, KEEPING_SIZE),
}


def drawn(name: str, _kind: str, rounds: int, strategy: str = "none") -> DrawnFamily:
    """The family of that name.

    Args:
        strategy: Value of ``rack.aware.assignment.strategy`` in every state.
    """
    make_group, events = _GROUPS[name]

    def history(seed: int) -> StreamsFamilyHistory:
        # The strategy must not reach the draws, because it is a setting and no part of the group.
        group = make_group(Draws(name, seed, "group"), strategy)
        steps = draw_steps(group, Draws(name, seed, "events"), rounds, events)
        return StreamsFamilyHistory(f"{name}-{seed}", group, steps)

    return DrawnFamily(drawn_once(history), lambda seed: work_with(draw_group_clients(Draws(name, seed, "group"))))
