"""The goal language: a list of goals, the most important first.

``ready, balance(tasks), fill(tasks), moves(bytes), racks(traffic)``. Every goal is a number of which less is better:

* ``ready``: weight of tasks that start on a process not caught up, though one is
* ``balance``: largest load of a process per thread
* ``fill``: average load per thread, less the smallest load of a process per thread
* ``moves``: weight of tasks that leave a present process which ran them
* ``racks``: source partitions, or input, read from another rack
* ``spread``: copies of a task that repeat a tag's value (KIP-708), with standbys at the best places

The word in parentheses is a task's weight: ``tasks`` counts 1, others come from the workload.

``balance(load) within 5 %`` has a slack: later goals choose among all placements at most 5 % above its bound. Weights
of a load with a slack are rounded to a twentieth of their mean.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from fractions import Fraction
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
        "connectors": "each connector is 1, in a problem of connectors alone",
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
_OF_TASKS = ("tasks", "stateful", "connectors", "load", "bytes", "traffic")
_WEIGHTS_OF = {"racks": ("partitions", "traffic"), "spread": ("tags",)}
_GOAL = re.compile(r"\A([a-z]+)(?:\(([a-z]+)\))?(?: ?within ([0-9]{1,3}(?:\.[0-9]{1,4})?) ?%)?\Z")
#: Goals with slack: a share of the others may have no meaning, since their best value is 0.
_WITH_SLACK = ("balance", "moves", "racks")
_SPACES = re.compile(r" ?([()]) ?")
_MOST = 16


@attrs.frozen
class Goal:
    """One goal.

    Args:
        weight: One of :data:`WEIGHTS`.
        slack: Share by which the value may exceed the best one, 0 to 1.

    Raises:
        GoalError: if kind or weight is unknown, or the slack impossible.
    """

    kind: str
    weight: str = ""
    slack: Fraction = Fraction(0)

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
        if self.slack and self.kind not in _WITH_SLACK:
            raise GoalError(f"goal {self.kind} cannot have a slack: {', '.join(_WITH_SLACK)} can")
        if not 0 <= self.slack <= 1:
            raise GoalError(f"goal {self.kind}: expected a slack from 0 to 100 %, not {float(100 * self.slack):g} %")

    def __str__(self) -> str:
        name = self.kind if self.kind == "ready" else f"{self.kind}({self.weight})"
        return f"{name} within {float(100 * self.slack):g} %" if self.slack else name


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
            raise GoalError(
                f"malformed goal {part.strip()[:60]!r}: expected a name, or a name with (weight), then perhaps "
                "'within 5 %'"
            )
        goal = Goal(found[1], found[2] or "", Fraction(found[3] or 0) / 100)
        if any((goal.kind, goal.weight) == (each.kind, each.weight) for each in goals):
            raise GoalError(f"goal {goal} occurs twice")
        goals.append(goal)
    return tuple(goals)


#: By kind of group. Brokers and Connect leaders know no lags; Connect has no racks.
DEFAULT_GOALS: Mapping[str, str] = MappingProxyType(
    {
        "streams": "ready, balance(tasks), fill(tasks), moves(tasks), racks(partitions), spread(tags)",
        "streams-group": "balance(tasks), fill(tasks), moves(tasks)",
        # Kafka balances them apart.
        "connect": "balance(tasks), fill(tasks), moves(tasks), "
        "balance(connectors), fill(connectors), moves(connectors)",
        "consumer": "balance(tasks), fill(tasks), moves(tasks), racks(partitions)",
        "consumer-group": "balance(tasks), fill(tasks), moves(tasks)",
    }
)
