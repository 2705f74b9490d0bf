"""Placement by a list of goals, and by measured load."""

from assignor_optimal.load_aware import LoadAwareTaskAssignor
from assignor_optimal.optimal import OptimalTaskAssignor

__all__ = ["LoadAwareTaskAssignor", "OptimalTaskAssignor"]
