"""The manifest of a run, and its repetition."""
