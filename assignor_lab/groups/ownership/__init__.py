"""Owners of tasks: before and after an answer, over time, and in recorded outcomes."""
