"""The simulation and the planner beside recorded experiments; part of a clone only, not of the distribution."""
