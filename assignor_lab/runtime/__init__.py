"""Runs assignors, trusted or not, and turns whatever they do into values."""

from assignor_lab.runtime.invocation import Failure, InputMutatedError, InvalidAnswerError, Outcome, invoke

__all__ = ["Failure", "InputMutatedError", "InvalidAnswerError", "Outcome", "invoke"]
