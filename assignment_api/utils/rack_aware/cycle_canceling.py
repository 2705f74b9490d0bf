"""Min-cost flow by cancelling exactly the cycles that Kafka cancels, without its graph.

Kafka runs Bellman-Ford sweeps over all nodes in ascending order, without an early stop. It cancels the cycle in the
parent graph after the *last* sweep (Kafka: ``Graph``). Any other choice gives another placement. So every sweep has an
effect, but not every one has to run:

* The graph has layers (tasks, clients of each group, clients), so a sweep is a few synchronous steps. One
  minimum for each group and rack serves all its clients.
* A node without a change since its last scan relaxes no other node.
* Once a negative cycle repeats, distances fall by the same amounts in every period of sweeps. One period with growth
  rates yields the number of periods without a changed comparison; those are skipped.

Costs must not be negative: only then can a client's own tasks take part in the minima (they never win). They must not
overflow Java's integers: only then is a cost a sum. ``whole_graph`` takes all others. Work for each cycle: executed
sweeps x changed tasks x racks. Memory: 129 snapshots of the distances.
"""

from __future__ import annotations

from assignment_api.utils.rack_aware.distances import Distances
from assignment_api.utils.rack_aware.flow import UnfinishedFlow
from assignment_api.utils.rack_aware.growth import play_period
from assignment_api.utils.rack_aware.repetition import FallHistory

__all__ = ["cancel_cycles"]


def cancel_cycles(flow: UnfinishedFlow) -> None:
    """Cancel cycles in Kafka's order until none is negative; changes ``flow``."""
    while (moves := _next_cycle(flow)) is not None:
        for task, client in moves:
            flow.give(task, client)


def _next_cycle(flow: UnfinishedFlow) -> list[tuple[int, int]] | None:
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
