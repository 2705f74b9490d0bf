"""The timings of a plan's plays, before the speed of the machine is drawn."""

from __future__ import annotations

import random

import attrs

from assignor_lab.planning.plans import Plan
from assignor_lab.simulation.streams.timings import StreamsTimings

__all__ = ["restart_timings"]

#: From an assignment until a restarted process has opened its stores, which are on its disk. Recorded: RUNNING 0.26 to
#: 0.48 s after the assignment, in rolling restarts of A, P1 and P10. A first start takes longer.
_REOPEN_MS = 320
#: A start that takes longer than this many usual ones has other work, such as that of its framework.
_MOST_SLOWER = 4.0


def restart_timings(timings: StreamsTimings, plan: Plan, seed: str) -> StreamsTimings:
    """The timings of a plan's plays, for the processes that it starts.

    Restarted processes open the stores on their disks more quickly than new ones. A machine on which processes start
    slowly opens their first stores as slowly, within :data:`_MOST_SLOWER`. But a start may be slow for another reason,
    such as a framework, and then the stores open at the usual speed. So each play draws a factor between the two.

    Args:
        seed: Seed of the play.
    """
    actions = [action for step in plan.steps for action in step.actions]
    in_place = all(action.type == "restart" and not action.replace for action in actions)
    opens_ms = min(timings.first_open_store_ms, _REOPEN_MS) if in_place else timings.first_open_store_ms
    if plan.starts is not None:
        drawn = random.Random(f"first stores {seed}")  # noqa: S311 - a simulation, not a secret
        slower = plan.starts.drawn(drawn) / (timings.startup_ms + timings.join_ms)
        opens_ms = round(opens_ms * drawn.uniform(1.0, min(max(1.0, slower), _MOST_SLOWER)))
    return attrs.evolve(timings, first_open_store_ms=opens_ms, polls_every_ms=plan.poll_ms or timings.polls_every_ms)
