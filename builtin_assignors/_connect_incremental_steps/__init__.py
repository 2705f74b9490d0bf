"""Kafka Connect's incremental cooperative algorithm (KIP-415), which the static one (KIP-987) extends.

Plain data in, plain data out: jobs and members are dense numbers, history is a value. Section numbers refer to
``docs/reference/connect-assignors.md``, "Incremental cooperative assignment" and "Static assignments".
"""

from builtin_assignors._connect_incremental_steps.boundary import JobHistory, assignment_of, problem_of
from builtin_assignors._connect_incremental_steps.decision import decide
from builtin_assignors._connect_incremental_steps.history import IncrementalHistory, Waiting
from builtin_assignors._connect_incremental_steps.options import (
    ALL_QUIRKS,
    DEFAULT_MAX_DELAY,
    MemberOrder,
    check_known,
    read_choice,
    read_flag,
    read_max_delay,
    read_order,
    read_quirks,
)
from builtin_assignors._connect_incremental_steps.problem import (
    IncrementalAnswer,
    IncrementalProblem,
    StaticRules,
    StaticScope,
)
from builtin_assignors._connect_incremental_steps.tracing import ConnectSteps

__all__ = [
    "ALL_QUIRKS",
    "DEFAULT_MAX_DELAY",
    "IncrementalAnswer",
    "ConnectSteps",
    "IncrementalHistory",
    "JobHistory",
    "MemberOrder",
    "IncrementalProblem",
    "StaticRules",
    "StaticScope",
    "Waiting",
    "assignment_of",
    "check_known",
    "decide",
    "problem_of",
    "read_choice",
    "read_flag",
    "read_max_delay",
    "read_order",
    "read_quirks",
]
