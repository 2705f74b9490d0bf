"""Two assignors: the best placement by a list of goals, and placement by measured load."""

from assignor_optimal.load_aware import LoadAwareTaskAssignor
from assignor_optimal.optimal import OptimalTaskAssignor

__all__ = ["LoadAwareTaskAssignor", "OptimalTaskAssignor"]
