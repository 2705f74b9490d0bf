"""Engines of a run: blocks of work items in, files of rows out, and the rules of exclusion."""
