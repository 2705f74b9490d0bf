"""Example assignors for Assignor Lab."""

from assignor_round_robin.group_round_robin import GroupRoundRobinTaskAssignor
from assignor_round_robin.round_robin import RoundRobinTaskAssignor
from assignor_round_robin.weighted_spread import WeightedSpreadTaskAssignor

__all__ = ["GroupRoundRobinTaskAssignor", "RoundRobinTaskAssignor", "WeightedSpreadTaskAssignor"]
