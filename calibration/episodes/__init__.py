"""Recorded experiments as episodes: the actions on a group, and the weight of its tasks."""

from calibration.episodes.import_episode import import_episode

__all__ = ["import_episode"]
