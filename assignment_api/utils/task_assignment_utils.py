"""``TaskAssignmentUtils`` of KIP-924."""

from __future__ import annotations

from typing import final

from assignment_api.utils.default_standby import default_standby_task_assignment
from assignment_api.utils.identity import identity_assignment
from assignment_api.utils.rack_aware import optimize_rack_aware_active_tasks, optimize_rack_aware_standby_tasks
from assignment_api.utils.validation import strict_findings, validate_task_assignment

__all__ = ["TaskAssignmentUtils"]


@final
class TaskAssignmentUtils:
    """Kafka's utilities for authors of assignors, under Kafka's name. Not to be instantiated.

    Unlike Kafka's, they return new values and never change their arguments.
    """

    validate_task_assignment = staticmethod(validate_task_assignment)
    strict_findings = staticmethod(strict_findings)
    identity_assignment = staticmethod(identity_assignment)
    default_standby_task_assignment = staticmethod(default_standby_task_assignment)
    optimize_rack_aware_active_tasks = staticmethod(optimize_rack_aware_active_tasks)
    optimize_rack_aware_standby_tasks = staticmethod(optimize_rack_aware_standby_tasks)
