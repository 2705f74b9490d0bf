"""Random episodes of Streams groups, and their safety rules."""
