"""The timings of a plan's plays, before the speed of the machine is drawn."""

from __future__ import annotations

import attrs

from assignor_lab.planning.plans import Plan
from assignor_lab.simulation.streams.timings import StreamsTimings

__all__ = ["restart_timings"]

#: From an assignment until a restarted process has opened its stores, which are on its disk. Recorded: RUNNING 0.26 to
#: 0.48 s after the assignment, in rolling restarts of A, P1 and P10. A first start takes longer.
_REOPEN_MS = 320


def restart_timings(timings: StreamsTimings, plan: Plan) -> StreamsTimings:
    """The timings of a plan's plays: restarted processes open the stores on their disks more quickly than new ones."""
    actions = [action for step in plan.steps for action in step.actions]
    if any(action.type != "restart" or action.replace for action in actions):
        return timings
    return attrs.evolve(timings, first_open_store_ms=min(timings.first_open_store_ms, _REOPEN_MS))
