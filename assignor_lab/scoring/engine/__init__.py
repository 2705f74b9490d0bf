"""Engines of a run: work items in, waves of rows out, and the rules of exclusion."""
