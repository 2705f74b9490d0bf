"""Logs of Connect workers: their rebalances, decided again by our assignors."""

from assignor_lab.capture.logs.connect.documents import replay_document
from assignor_lab.capture.logs.connect.errors import GarbledMessageError, NoRoundError
from assignor_lab.capture.logs.connect.replay import (
    ASSIGNOR_OF,
    ComparedRound,
    Departure,
    DepartureKind,
    received_as_answered,
    replay,
)
from assignor_lab.capture.logs.connect.rounds import ReceivedAssignment, RecordedRound, WorkerLife, read_worker_log

__all__ = [
    "read_worker_log",
    "WorkerLife",
    "RecordedRound",
    "ReceivedAssignment",
    "replay",
    "replay_document",
    "received_as_answered",
    "ASSIGNOR_OF",
    "ComparedRound",
    "Departure",
    "DepartureKind",
    "GarbledMessageError",
    "NoRoundError",
]
