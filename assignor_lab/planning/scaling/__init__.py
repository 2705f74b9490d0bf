"""Replica counts compared: the plays of each count, the lag that follows, and policies of autoscalers."""
