"""Sources of a run: read, checked, and counted as work items."""
