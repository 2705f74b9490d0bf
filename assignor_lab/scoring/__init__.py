"""Scores assignors on Spark."""
