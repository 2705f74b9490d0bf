"""Histories of real groups: recorded decisions by time, and the events behind them."""

from assignor_lab.capture.histories.history import DecisionHistory, read_histories
from assignor_lab.capture.histories.history_episode import history_episode

__all__ = ["DecisionHistory", "history_episode", "read_histories"]
