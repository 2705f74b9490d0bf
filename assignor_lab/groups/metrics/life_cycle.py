"""Life cycle: figures of a whole history, in the row of its last round.

They are filled in after the last round of a history (:mod:`assignor_lab.groups.runner.convergence`). For a single
answer they are unknown.
"""

from __future__ import annotations

from assignor_lab.groups.metrics.definition import MetricDefinition, metric

__all__ = ["GROUP", "LIFE_CYCLE", "not_converged", "rounds_to_converge"]

GROUP = "life cycle"


@metric(GROUP, "rounds", "lower", "One: the rebalance that follows the last event.")
def rounds_to_converge(_placement: object) -> float | None:
    """Rebalances after the last event of a history until nothing changes any more and no follow-up is requested."""
    return None


@metric(GROUP, "histories", "lower", "None, where the history has calm rounds enough.")
def not_converged(_placement: object) -> float | None:
    """1 if the last round of a history still requests a follow-up rebalance, else 0; the mean is a share."""
    return None


LIFE_CYCLE: tuple[MetricDefinition[object], ...] = (rounds_to_converge, not_converged)
