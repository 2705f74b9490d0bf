"""The goal language: a list of goals, the most important first.

``ready, balance(tasks), fill(tasks), moves(bytes), racks(traffic)``. Every goal is a number of which less is better:

* ``ready``: weight of tasks that start on a process not caught up, though one is
* ``balance``: largest load of a process per thread
* ``fill``: average load per thread, less the smallest load of a process per thread
* ``moves``: weight of tasks that leave a present process which ran them
* ``racks``: source partitions, or input, read from another rack
* ``spread``: copies of a task that repeat a tag's value (KIP-708), with standbys at the best places

The word in parentheses is a task's weight: ``tasks`` counts 1, others come from the workload.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from types import MappingProxyType

import attrs

from assignment_api.optimum.errors import GoalError

__all__ = ["DEFAULT_GOALS", "LINEAR", "WEIGHTS", "Goal", "goals_of"]

#: Sums over tasks.
LINEAR = ("ready", "moves", "racks", "spread")
LOADS = ("balance", "fill")
#: Weight to its meaning and source.
WEIGHTS: Mapping[str, str] = MappingProxyType(
    {
        "tasks": "each task is 1",
        "stateful": "each task with state is 1, others are 0",
        "load": "the workload's weight, input or records of a task",
        "bytes": "bytes of state",
        "traffic": "bytes of input a second",
        "partitions": "source partitions",
        "tags": "tags of rack.aware.assignment.tags",
    }
)
_USUAL = {
    "ready": "tasks",
    "balance": "tasks",
    "fill": "tasks",
    "moves": "tasks",
    "racks": "partitions",
    "spread": "tags",
}
_OF_TASKS = ("tasks", "stateful", "load", "bytes", "traffic")
_WEIGHTS_OF = {"racks": ("partitions", "traffic"), "spread": ("tags",)}
_GOAL = re.compile(r"\A([a-z]+)(?:\(([a-z]+)\))?\Z")
_SPACES = re.compile(r" ?([()]) ?")
_MOST = 16


@attrs.frozen
class Goal:
    """One goal.

    Args:
        weight: One of :data:`WEIGHTS`.

    Raises:
        GoalError: if kind or weight is unknown.
    """

    kind: str
    weight: str = ""

    def __attrs_post_init__(self) -> None:
        if self.kind not in _USUAL:
            raise GoalError(f"unknown goal {self.kind!r}: expected one of {', '.join(_USUAL)}")
        if not self.weight:
            object.__setattr__(self, "weight", _USUAL[self.kind])
        if self.weight not in WEIGHTS:
            raise GoalError(f"unknown weight {self.weight!r} of goal {self.kind}: expected one of {', '.join(WEIGHTS)}")
        possible = _WEIGHTS_OF.get(self.kind, _OF_TASKS)
        if self.weight not in possible:
            raise GoalError(f"goal {self.kind} cannot have weight {self.weight!r}: expected {' or '.join(possible)}")

    def __str__(self) -> str:
        return self.kind if self.kind == "ready" else f"{self.kind}({self.weight})"


def goals_of(text: str) -> tuple[Goal, ...]:
    """Goals of a text with commas.

    Raises:
        GoalError: if it is empty or too long, a goal is unknown, or one occurs twice.
    """
    return _parsed(text)


@functools.lru_cache(maxsize=256)
def _parsed(text: str) -> tuple[Goal, ...]:
    parts = [part for part in text.split(",") if part.strip()] if len(text) <= 1_000 else []
    if not 0 < len(parts) <= _MOST:
        raise GoalError(f"expected 1 to {_MOST} goals separated by commas, for example: {DEFAULT_GOALS['streams']}")
    goals: list[Goal] = []
    for part in parts:
        found = _GOAL.match(_SPACES.sub(r"\1", " ".join(part.split())))
        if found is None:
            raise GoalError(f"malformed goal {part.strip()[:60]!r}: expected a name, or a name with (weight)")
        goal = Goal(found[1], found[2] or "")
        if goal in goals:
            raise GoalError(f"goal {goal} occurs twice")
        goals.append(goal)
    return tuple(goals)


#: By kind of group. Brokers and Connect leaders know no lags; Connect has no racks.
DEFAULT_GOALS: Mapping[str, str] = MappingProxyType(
    {
        "streams": "ready, balance(tasks), fill(tasks), moves(tasks), racks(partitions), spread(tags)",
        "streams-group": "balance(tasks), fill(tasks), moves(tasks)",
        "connect": "balance(tasks), fill(tasks), moves(tasks)",
        "consumer": "balance(tasks), fill(tasks), moves(tasks), racks(partitions)",
        "consumer-group": "balance(tasks), fill(tasks), moves(tasks)",
    }
)
