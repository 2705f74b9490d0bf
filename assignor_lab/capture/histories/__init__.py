"""Histories of groups that really ran: recorded decisions in the order of time, and the world's events behind them."""

from assignor_lab.capture.histories.history import History, read_histories
from assignor_lab.capture.histories.history_episode import history_episode

__all__ = ["History", "history_episode", "read_histories"]
