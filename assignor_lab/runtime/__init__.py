"""Runs assignors of any kind, trusted or not, and turns whatever they do into values."""

from assignor_lab.runtime.asking import AskedAssignor, Asking, assignor_for
from assignor_lab.runtime.invocation import CallOutcome, Failure, InputMutatedError, InvalidAnswerError

__all__ = [
    "AskedAssignor",
    "Asking",
    "CallOutcome",
    "Failure",
    "InputMutatedError",
    "InvalidAnswerError",
    "assignor_for",
]
