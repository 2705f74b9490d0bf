"""States of groups that really ran, read from what they left behind."""

from assignor_lab.capture.errors import (
    ClientStateTextError,
    LogImportError,
    LogLineTooLongError,
    NoDecisionError,
    TopologyTextError,
    UnreadableLogError,
)
from assignor_lab.capture.import_log import import_log, read_decisions
from assignor_lab.capture.rebalance import Decision, Problem

__all__ = [
    "import_log",
    "read_decisions",
    "Decision",
    "Problem",
    "LogImportError",
    "UnreadableLogError",
    "LogLineTooLongError",
    "NoDecisionError",
    "ClientStateTextError",
    "TopologyTextError",
]
