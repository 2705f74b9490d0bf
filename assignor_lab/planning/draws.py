"""The speed of the machine, which is unknown and drawn for each play."""

from __future__ import annotations

import math
import random

import attrs

from assignor_lab.planning.plans import Plan
from assignor_lab.simulation.streams.timings import StreamsTimings

__all__ = ["drawn_timings", "restart_timings"]

#: From an assignment until a restarted process has opened its stores, which are on its disk. Recorded: RUNNING 0.26 to
#: 0.48 s after the assignment, in rolling restarts of A, P1 and P10. A first start takes longer.
_REOPEN_MS = 320

#: Timings that depend on the machine and its load.
_OF_MACHINE = (
    "request_ms", "poll_ms", "rejoin_ms", "assign_ms", "acknowledge_ms", "acknowledge_new_ms", "leave_ms",
    "open_store_ms", "first_open_store_ms", "restore_poll_ms", "standby_ms", "output_ms",
)  # fmt: skip
#: Rates that depend on it.
_RATES = ("restore_bytes_per_s", "restore_records_per_s")
#: Standard deviations of the logarithms: of all timings together, and of each.
_TOGETHER, _EACH = 0.15, 0.2


def restart_timings(timings: StreamsTimings, plan: Plan) -> StreamsTimings:
    """The timings of a plan's plays: restarted processes open the stores on their disks more quickly than new ones."""
    actions = [action for step in plan.steps for action in step.actions]
    if any(action.type != "restart" or action.replace for action in actions):
        return timings
    return attrs.evolve(timings, first_open_store_ms=min(timings.first_open_store_ms, _REOPEN_MS))


def drawn_timings(timings: StreamsTimings, drawn: random.Random) -> StreamsTimings:
    """The timings of one play: durations and rates of the machine around those that are known.

    Settings of Kafka stay as they are.

    Args:
        timings: The timings that are known, as medians.
        drawn: Source of the draws.
    """
    common = drawn.gauss(0, _TOGETHER)
    factors = {name: math.exp(common + drawn.gauss(0, _EACH)) for name in _OF_MACHINE}
    slower = math.exp(-common - drawn.gauss(0, _EACH))
    changes = {name: max(1, round(getattr(timings, name) * factor)) for name, factor in factors.items()}
    changes |= {name: max(1, round(getattr(timings, name) * slower)) for name in _RATES}
    return attrs.evolve(timings, **changes)
