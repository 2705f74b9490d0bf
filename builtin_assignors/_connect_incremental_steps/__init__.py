"""The incremental cooperative algorithm of Kafka Connect (KIP-415), which the static one (KIP-987) extends.

Plain data in, plain data out: jobs are dense numbers, members too, and history is a value. Section numbers in here
are those of ``docs/reference/connect-assignors.md``, under "Incremental cooperative assignment" and "Static
assignments".
"""

from builtin_assignors._connect_incremental_steps.boundary import JobHistory, assignment_of, problem_of
from builtin_assignors._connect_incremental_steps.decision import decide
from builtin_assignors._connect_incremental_steps.history import History, Waiting
from builtin_assignors._connect_incremental_steps.options import (
    ALL_QUIRKS,
    DEFAULT_MAX_DELAY,
    Order,
    check_known,
    read_choice,
    read_flag,
    read_max_delay,
    read_order,
    read_quirks,
)
from builtin_assignors._connect_incremental_steps.problem import Answer, Problem, StaticRules, StaticScope
from builtin_assignors._connect_incremental_steps.tracing import ConnectSteps

__all__ = [
    "ALL_QUIRKS",
    "DEFAULT_MAX_DELAY",
    "Answer",
    "ConnectSteps",
    "History",
    "JobHistory",
    "Order",
    "Problem",
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
