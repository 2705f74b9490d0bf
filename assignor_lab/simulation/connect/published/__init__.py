"""The published benchmark of incremental cooperative rebalancing, and the recorded experiment."""
