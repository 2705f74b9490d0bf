"""The published benchmark of incremental cooperative rebalancing."""
