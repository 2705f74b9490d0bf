"""Isolated plugins: processes with a deadline, limits of memory and output, and a clean environment."""

from assignor_lab.runtime.isolation.errors import (
    AnswerFormatError,
    DeadlineExceededError,
    ExcludedError,
    IsolationError,
    MemoryLimitError,
    OutputLimitError,
    ProcessDiedError,
    ProcessLimitError,
    ProcessStartError,
)
from assignor_lab.runtime.isolation.exclusion import Exclusions
from assignor_lab.runtime.isolation.limits import Limits

__all__ = [
    "AnswerFormatError",
    "ExcludedError",
    "Exclusions",
    "DeadlineExceededError",
    "IsolationError",
    "Limits",
    "MemoryLimitError",
    "OutputLimitError",
    "ProcessDiedError",
    "ProcessLimitError",
    "ProcessStartError",
]
