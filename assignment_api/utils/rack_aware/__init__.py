"""Rack-aware optimisation of active and standby tasks (KIP-925)."""
