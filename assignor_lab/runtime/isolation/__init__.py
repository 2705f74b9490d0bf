"""Plugins in processes of their own: with a deadline, limits of memory and output, and a clean environment."""

from assignor_lab.runtime.isolation.benches import Benches
from assignor_lab.runtime.isolation.connect import Leading, leading_assignor
from assignor_lab.runtime.isolation.errors import (
    AnswerFormatError,
    BenchedError,
    DeadlineExceededError,
    IsolationError,
    MemoryLimitError,
    OutputLimitError,
    ProcessDiedError,
    ProcessStartError,
)
from assignor_lab.runtime.isolation.limits import Limits
from assignor_lab.runtime.isolation.probing import Probe, Prober
from assignor_lab.runtime.isolation.streams import Asked, IsolatedAssignor, Isolation, ask

__all__ = [
    "AnswerFormatError",
    "Asked",
    "BenchedError",
    "Benches",
    "DeadlineExceededError",
    "IsolatedAssignor",
    "Isolation",
    "IsolationError",
    "Leading",
    "Limits",
    "MemoryLimitError",
    "OutputLimitError",
    "Probe",
    "Prober",
    "ProcessDiedError",
    "ProcessStartError",
    "ask",
    "leading_assignor",
]
