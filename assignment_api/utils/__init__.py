"""Building blocks for assignors."""

from typing import TYPE_CHECKING

from assignment_api.exports import exported

if TYPE_CHECKING:
    from assignment_api.utils.default_standby import UnknownClientError, default_standby_task_assignment
    from assignment_api.utils.identity import identity_assignment
    from assignment_api.utils.rack_aware import optimize_rack_aware_active_tasks, optimize_rack_aware_standby_tasks
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
    "optimize_rack_aware_active_tasks",
    "optimize_rack_aware_standby_tasks",
    "strict_findings",
    "validate_task_assignment",
]

if not TYPE_CHECKING:
    __getattr__ = exported(__name__, __all__, "task_assignment_utils default_standby identity rack_aware validation")
