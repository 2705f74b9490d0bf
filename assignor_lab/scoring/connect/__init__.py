"""Scoring of Kafka Connect: histories of rebalances and simulated episodes."""

from assignor_lab.scoring.connect.contest import ConnectContest, connect_contest
from assignor_lab.scoring.connect.metrics import (
    CONNECT_KINDS,
    CONNECT_METRICS,
    EPISODE_METRICS,
    Decision,
    described_metrics,
)

__all__ = [
    "CONNECT_KINDS",
    "CONNECT_METRICS",
    "EPISODE_METRICS",
    "ConnectContest",
    "Decision",
    "connect_contest",
    "described_metrics",
]
