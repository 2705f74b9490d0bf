"""The metrics of one answer, a module for each group."""

from assignor_lab.scoring.metrics.balance import BALANCE_METRICS
from assignor_lab.scoring.metrics.coverage import COVERAGE_METRICS
from assignor_lab.scoring.metrics.movement import MOVEMENT_METRICS
from assignor_lab.scoring.metrics.spread import SPREAD_METRICS

__all__ = ["BALANCE_METRICS", "COVERAGE_METRICS", "LAB_METRICS", "MOVEMENT_METRICS", "SPREAD_METRICS"]

#: All metrics of the lab, in the order in which a reader meets them.
LAB_METRICS = (*MOVEMENT_METRICS, *SPREAD_METRICS, *BALANCE_METRICS, *COVERAGE_METRICS)
