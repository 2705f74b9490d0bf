"""Min-cost flow by cancelling the very cycles that Kafka cancels, without its graph.

Kafka finds each negative cycle with Bellman-Ford sweeps over all nodes in ascending order, never stopping early, and
the cycle it cancels is the one in the parent graph after the *last* sweep (Kafka: ``Graph``); any other choice gives
another placement. So every sweep has to be accounted for, but not played:

* The graph has layers (tasks, clients of each group, with a second stage the clients themselves), so a sweep is a few
  synchronous steps. A task's distance changes through its owner alone, and a client's candidates differ by rack only:
  one minimum for each group and rack serves all its clients.
* A node that did not change since it was last scanned relaxes nobody.
* Once a negative cycle turns, distances fall by the same amounts in every period of sweeps. Then one period is played
  with growth rates beside the values, which tells for how many periods no comparison changes its outcome; those are
  skipped at once.

Needs costs that are not negative, for only then a client's own tasks can take part in the minima (they never win),
and that do not overflow Java's integers, for only then a cost is a sum; ``whole_graph`` takes all others.
Work for each cycle: sweeps played x tasks that changed x racks. Memory: 129 snapshots of the distances.
"""

from __future__ import annotations

from assignment_api.utils.rack_aware.distances import Distances
from assignment_api.utils.rack_aware.flow import Flow
from assignment_api.utils.rack_aware.growth import play_period
from assignment_api.utils.rack_aware.repetition import FallHistory

__all__ = ["cancel_cycles"]


def cancel_cycles(flow: Flow) -> None:
    """Moves tasks until no negative cycle is left, cycle by cycle as Kafka does; ``flow`` is changed in place."""
    while (moves := _next_cycle(flow)) is not None:
        for task, client in moves:
            flow.give(task, client)


def _next_cycle(flow: Flow) -> list[tuple[int, int]] | None:
    """The moves (task, new client) of the cycle that Kafka would cancel next."""
    distances = Distances(flow)
    history = FallHistory()
    last = flow.nodes()
    sweep = 0
    while sweep < last:
        distances.note_source()
        if not distances.sweep():
            return None
        sweep += 1
        if sweep >= last - 1:
            continue
        history.add(distances.snapshot())
        period = history.period()
        if period is None or sweep + period[0] >= last - 1:
            continue
        length, gains = period
        limit = play_period(distances, length, gains)
        sweep += length
        skipped = min(limit, (last - 1 - sweep) // length)
        if skipped > 0:
            distances.fall(gains, skipped)
            sweep += skipped * length
        history = FallHistory(pause=0 if skipped > 0 else 2 * length)
    return distances.last_sweep()
