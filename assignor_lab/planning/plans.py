"""Plans: steps of actions on the instances of a group."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from typing import Any, Literal

import attrs

from assignor_lab.model.streams_episodes import NO_DETAILS, EventDetails
from assignor_lab.simulation.streams.episode import ProtocolOfGroup

__all__ = ["CALM", "GIVEN", "LOOKS_EVERY_MS", "READY", "Action", "Plan", "Starts", "Step", "Wait", "draws_of"]

#: From one look of a plan at a step to the next (ms).
LOOKS_EVERY_MS = 100
#: Source of bounds of the command line.
GIVEN = "given"
#: Standard deviations between the bounds of 90 %.
_WIDTH = 3.29

READY: Literal["ready"] = "ready"
CALM: Literal["calm"] = "calm"
#: The end of a step: its instances are RUNNING, the group is at rest, or this many milliseconds have passed.
Wait = Literal["ready", "calm"] | int


@attrs.frozen
class Action:
    """An action of a step on one instance.

    Args:
        type: ``restart`` (stop, then start), ``add``, ``surge`` (start a successor, then stop), ``remove``, ``kill``,
            or ``event`` (an event of the episode format).
        details: Facts of the event, or of the start of an added instance.
        after_ms: Milliseconds from the beginning of the step.
        leave: Members of a stopped instance leave the group; ``None``: the protocol's default.
        replace: The process comes back with an empty disk and a new process id.
        is_stuck: The process does not come back.
        back_after_ms: For ``kill``: milliseconds until it is started again; ``None``: never.
        event: Type of an ``event``.
        successor: The new instance of a ``surge``.
        partitions: Of a topic that grows, in a consumer group.
        coordinates: The restarted broker is that of the group's coordinator.
        protocol: Protocol of a restarted consumer; empty: its own.
    """

    type: Literal["restart", "add", "surge", "remove", "kill", "event"]
    name: str
    details: EventDetails = NO_DETAILS
    after_ms: int = 0
    leave: bool | None = None
    replace: bool = False
    is_stuck: bool = False
    back_after_ms: int | None = None
    event: str = attrs.field(default="", kw_only=True)
    successor: str = attrs.field(default="", kw_only=True)
    partitions: int = attrs.field(default=0, kw_only=True)
    coordinates: bool = attrs.field(default=True, kw_only=True)
    protocol: str = attrs.field(default="", kw_only=True)


@attrs.frozen
class Step:
    """A step: actions that are begun together.

    Args:
        name: Its name: the instances, as a rule.
        wait: The end of this step; ``None``: the plan's.
        at_ms: Earliest beginning, in milliseconds after that of the first step can be; ``None``: when the step before
            it is over.
    """

    name: str
    actions: tuple[Action, ...]
    wait: Wait | None = None
    at_ms: int | None = None


@attrs.frozen
class Starts:
    """The time from the start of a process until its first join, which differs from start to start.

    Args:
        low_ms: Lower bound of 90 % of the starts.
        source: Origin of the bounds, as the end of a sentence.
    """

    low_ms: int
    high_ms: int
    source: str

    @property
    def median_ms(self) -> int:
        return max(1, round(math.sqrt(self.low_ms * self.high_ms)))

    @property
    def words(self) -> str:
        return f"{self.low_ms / 1000:.1f} to {self.high_ms / 1000:.1f} s in 90 % of starts, {self.source}"

    def drawn(self, random_numbers: random.Random) -> int:
        """The duration of one start, log-normal: 5 % are below and 5 % above the bounds."""
        low, high = math.log(self.low_ms), math.log(self.high_ms)
        return max(1, round(math.exp(random_numbers.gauss((low + high) / 2, (high - low) / _WIDTH))))


@attrs.frozen
class Plan:
    """A plan.

    Args:
        name: ``roll``, ``scale``, ``kill``, ``upgrade``, ``upgrade-protocol`` or ``script``.
        start_ms: From the start of a process until its first thread asks to join; ``None``: the figure of the timings.
        starts: Its distribution; ``None``: around ``start_ms``.
        down_ms: From the end of a process until its successor is started.
        protocol: Protocol that the group speaks from then on; ``None``: the present one.
        parameters: Options of the plan, for documents.
        goes_on: True if the plan goes on after a step that is not over in time.
        rest_within_ms: Longest wait for the group to be at rest, before the first step and after each.
        unit: A member of the group, as sentences name it.
        shares_draws: True if an instance closes and starts as quickly in each order of the steps.
        poll_ms: From one poll of a thread with running tasks to its next one; 0: at once.
    """

    name: str
    steps: tuple[Step, ...]
    wait: Wait = READY
    start_ms: int | None = None
    down_ms: int = 0
    assumptions: tuple[str, ...] = ()
    protocol: ProtocolOfGroup | None = None
    parameters: Mapping[str, Any] = attrs.field(factory=dict)
    goes_on: bool = False
    rest_within_ms: int = 12 * 3_600_000
    unit: str = "instance"
    starts: Starts | None = None
    shares_draws: bool = False
    poll_ms: int = 0


def draws_of(plan: Plan, drawn: random.Random, seed: str, name: str) -> random.Random:
    """The source of an instance's draws.

    Args:
        drawn: The source of all instances, which depends on the order of the steps.
        seed: Seed of the play.
    """
    return random.Random(f"{seed} {name}") if plan.shares_draws else drawn  # noqa: S311 - a simulation, not a secret
