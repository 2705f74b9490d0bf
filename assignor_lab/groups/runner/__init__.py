"""Calls of assignors: one call, its result line, all contenders over a scenario, the work of a scoring process."""
