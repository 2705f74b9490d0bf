"""Histories of real groups: recorded decisions by time, and the events behind them."""
