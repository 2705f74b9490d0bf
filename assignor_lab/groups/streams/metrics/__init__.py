"""The metrics of one answer, a module for each group."""

from assignor_lab.groups.metrics.definition import plugins_of
from assignor_lab.groups.metrics.life_cycle import LIFE_CYCLE
from assignor_lab.groups.streams.metrics.balance import BALANCE_METRICS
from assignor_lab.groups.streams.metrics.cost import COST_METRICS
from assignor_lab.groups.streams.metrics.coverage import COVERAGE_METRICS
from assignor_lab.groups.streams.metrics.lags import LAG_METRICS
from assignor_lab.groups.streams.metrics.movement import MOVEMENT_METRICS
from assignor_lab.groups.streams.metrics.spread import SPREAD_METRICS
from assignor_lab.groups.streams.metrics.weights import WEIGHT_METRICS
from assignor_lab.groups.streams.placement import placement_of

__all__ = [
    "BALANCE_METRICS",
    "COST_METRICS",
    "COVERAGE_METRICS",
    "LAB_METRICS",
    "LAG_METRICS",
    "LIFE_CYCLE_METRICS",
    "MOVEMENT_METRICS",
    "SPREAD_METRICS",
    "WEIGHT_METRICS",
]

LIFE_CYCLE_METRICS = plugins_of(LIFE_CYCLE, placement_of, "streams")

LAB_METRICS = (
    *MOVEMENT_METRICS,
    *LAG_METRICS,
    *SPREAD_METRICS,
    *BALANCE_METRICS,
    *WEIGHT_METRICS,
    *COST_METRICS,
    *COVERAGE_METRICS,
    *LIFE_CYCLE_METRICS,
)
