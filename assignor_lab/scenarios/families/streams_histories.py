"""Families of histories of Streams groups with joins, leaves, crashes and returns.

``streams_histories`` draws groups of all realistic sizes; ``streams_4x40`` always has 4 clients and 40 tasks, for
figures that must not depend on size.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from assignment_api.errors import AssignorLabError
from assignment_api.plugins.entries import ScenarioFamily
from assignment_api.streams import TaskAssignment
from assignor_lab.scenarios.families.draws import Draws
from assignor_lab.scenarios.families.events import CHANGING_SIZE, KEEPING_SIZE, Event, draw_steps
from assignor_lab.scenarios.families.shape import Group, draw_fixed_group, draw_group
from assignor_lab.scenarios.families.state import GroupState

__all__ = ["ROUNDS", "HistoryOrderError", "StreamsHistory", "streams_4x40", "streams_histories"]

#: Rounds of each history.
ROUNDS = 8

GroupMaker = Callable[[Draws, str], Group]


class HistoryOrderError(AssignorLabError):
    """The rounds of a history were not asked for one after the other."""


class StreamsHistory:
    """One group over several rounds, as one assignor lives through it.

    Args:
        family: Name of the family; it is part of the ids, and of what is drawn.
        seed: Any whole number.
        make_group: Draws the group.
        events: What can happen to it, with weights.
        strategy: Value of ``rack.aware.assignment.strategy``.
    """

    def __init__(
        self, family: str, seed: int, make_group: GroupMaker, events: Sequence[tuple[int, Event]], strategy: str
    ) -> None:
        self._name = f"{family}-{seed}"
        # The strategy changes the question, not the group: it must not reach the draws.
        self._group = make_group(Draws(family, seed, "group"), strategy)
        self._steps = draw_steps(self._group, Draws(family, seed, "events"), ROUNDS, events)
        self._state = GroupState(self._group)
        self._next = 0

    def round(self, number: int, previous: TaskAssignment | None) -> Mapping[str, Any]:
        """The document of a round; see :class:`assignment_api.plugins.entries.History`.

        Where ``previous`` is ``None`` after the first round, everybody keeps what it had.

        Raises:
            HistoryOrderError: if ``number`` is not the round after the last one.
        """
        if number != self._next or number >= len(self._steps):
            raise HistoryOrderError(
                f"round {number} of {self._name} was asked for where round {self._next} of {len(self._steps)} is next: "
                "make a new history of the seed to start again"
            )
        self._next += 1
        step = self._steps[number]
        if number > 0:
            self._state.give(self._steps[number - 1].members, previous)
        self._state.advance(step)
        return {
            "format": 1,
            "kind": "streams",
            "id": f"{self._name}-round-{number}",
            "config": dict(self._group.config),
            "tasks": self._group.tasks,
            "clients": [self._state.client_document(session) for session in step.members],
            "source": {"time_ms": step.time_ms, "group": self._group.name},
        }


def streams_histories(strategy: str = "none") -> ScenarioFamily:
    """Groups of all sizes that grow, shrink, crash and return.

    Args:
        strategy: Value of ``rack.aware.assignment.strategy`` in every state.
    """
    return ScenarioFamily(
        name="streams_histories",
        summary="Streams groups of realistic sizes over 8 rounds of joins, leaves, crashes and returns.",
        rounds=ROUNDS,
        history=lambda seed: StreamsHistory("streams_histories", seed, draw_group, CHANGING_SIZE, strategy),
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
        history=lambda seed: StreamsHistory("streams_4x40", seed, draw_fixed_group, KEEPING_SIZE, strategy),
    )
