"""Life cycle: figures of a whole history, which stand in the row of its last round.

No single answer tells them, so they are filled in when all rounds of a history are there
(:mod:`assignor_lab.groups.convergence`); asked of one answer, they are unknown.
"""

from __future__ import annotations

from assignor_lab.groups.metrics.definition import Definition, metric

__all__ = ["LIFE_CYCLE", "not_converged", "rounds_to_converge"]

GROUP = "life cycle"


@metric(GROUP, "rounds", "lower", "One: the rebalance that follows the last event.")
def rounds_to_converge(_placement: object) -> float | None:
    """Rebalances after the last event of a history until nothing changes any more and no follow-up is asked for."""
    return None


@metric(GROUP, "histories", "lower", "None, where the history has calm rounds enough.")
def not_converged(_placement: object) -> float | None:
    """1 where the last round of a history still asks for a follow-up rebalance, else 0; the mean is a share."""
    return None


LIFE_CYCLE: tuple[Definition[object], ...] = (rounds_to_converge, not_converged)
