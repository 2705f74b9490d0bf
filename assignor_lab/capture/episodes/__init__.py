"""Recorded experiments as episodes: what was done to a group, and what its tasks weigh."""

from assignor_lab.capture.episodes.import_episode import import_episode

__all__ = ["import_episode"]
