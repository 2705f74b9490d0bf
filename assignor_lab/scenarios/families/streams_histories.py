"""Families of histories of Streams groups with joins, leaves, crashes and returns.

``streams_histories`` draws groups of all realistic sizes; ``streams_4x40`` always has 4 clients and 40 tasks, for
figures that must not depend on size.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from assignment_api.plugins.entries import ScenarioFamily
from assignor_lab.scenarios.families.draws import Draws
from assignor_lab.scenarios.families.events import CHANGING_SIZE, KEEPING_SIZE, Event, draw_steps
from assignor_lab.scenarios.families.shape import GroupShape, draw_fixed_group, draw_group, draw_group_clients
from assignor_lab.scenarios.families.sizes import work_with
from assignor_lab.scenarios.families.streams_history import StreamsFamilyHistory, drawn_once

__all__ = ["ROUNDS", "streams_4x40", "streams_histories"]

#: Rounds of each history.
ROUNDS = 8

GroupMaker = Callable[[Draws, str], GroupShape]


def _history(
    family: str, seed: int, make_group: GroupMaker, events: Sequence[tuple[int, Event]], strategy: str
) -> StreamsFamilyHistory:
    # The strategy must not reach the draws, because it is a setting and no part of the group.
    group = make_group(Draws(family, seed, "group"), strategy)
    return StreamsFamilyHistory(
        f"{family}-{seed}", group, draw_steps(group, Draws(family, seed, "events"), ROUNDS, events)
    )


def streams_histories(strategy: str = "none") -> ScenarioFamily:
    """Groups of all sizes that grow, shrink, crash and return.

    Args:
        strategy: Value of ``rack.aware.assignment.strategy`` in every state.
    """
    return ScenarioFamily(
        name="streams_histories",
        summary="Streams groups of realistic sizes over 8 rounds of joins, leaves, crashes and returns.",
        rounds=ROUNDS,
        history=drawn_once(lambda seed: _history("streams_histories", seed, draw_group, CHANGING_SIZE, strategy)),
        size=lambda seed: work_with(draw_group_clients(Draws("streams_histories", seed, "group"))),
    )


def streams_4x40(strategy: str = "none") -> ScenarioFamily:
    """Groups of exactly 4 clients and 40 tasks in every round.

    Args:
        strategy: Value of ``rack.aware.assignment.strategy`` in every state.
    """
    return ScenarioFamily(
        name="streams_4x40",
        summary="Streams groups of 4 clients and 40 tasks over 8 rounds of replacements, restarts and lost disks.",
        rounds=ROUNDS,
        history=drawn_once(lambda seed: _history("streams_4x40", seed, draw_fixed_group, KEEPING_SIZE, strategy)),
    )
