"""Tasks pinned to clients by configuration, in the spirit of KIP-987."""

from builtin_assignors.static.assignor import StaticTaskAssignor
from builtin_assignors.static.config import StaticConfig
from builtin_assignors.static.pins import ClientSelector, TaskPattern, TaskPin
from builtin_assignors.static.report import StaticAnswer, UnmetPin, UnmetReason

__all__ = [
    "ClientSelector",
    "TaskPin",
    "StaticAnswer",
    "StaticConfig",
    "StaticTaskAssignor",
    "TaskPattern",
    "UnmetPin",
    "UnmetReason",
]
