"""Groups on a virtual clock."""
