"""Building blocks for assignors: validation, the identity assignment, standbys."""

from assignment_api.utils.default_standby import UnknownClientError, default_standby_task_assignment
from assignment_api.utils.identity import identity_assignment
from assignment_api.utils.task_assignment_utils import TaskAssignmentUtils
from assignment_api.utils.validation import (
    StrictFinding,
    StrictFindingKind,
    strict_findings,
    validate_task_assignment,
)

__all__ = [
    "StrictFinding",
    "StrictFindingKind",
    "TaskAssignmentUtils",
    "UnknownClientError",
    "default_standby_task_assignment",
    "identity_assignment",
    "strict_findings",
    "validate_task_assignment",
]
