"""Figures of a finished scoring run."""
