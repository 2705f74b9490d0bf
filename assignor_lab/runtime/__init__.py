"""Calls assignors of any kind, trusted or not, and turns every outcome into a value."""

from assignor_lab.runtime.assignor_calls import AssignorCalls, CalledAssignor, assignor_for
from assignor_lab.runtime.invocation import CallFailure, CallOutcome, InputMutatedError, InvalidAnswerError

__all__ = [
    "CalledAssignor",
    "AssignorCalls",
    "CallOutcome",
    "CallFailure",
    "InputMutatedError",
    "InvalidAnswerError",
    "assignor_for",
]
