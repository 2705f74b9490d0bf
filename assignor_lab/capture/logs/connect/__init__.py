"""Logs of Connect workers: their rebalances, decided again by our assignors."""
