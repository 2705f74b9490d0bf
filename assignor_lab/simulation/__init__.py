"""Simulated groups on a virtual clock."""
