"""Calls of assignors: one call, its result line, all competitors over a scenario, the work of a scoring process."""
