"""Faults of an answer, found by its dense view: nearly every answer has none, and this tells so in one pass."""

from __future__ import annotations

from itertools import compress
from operator import not_

from assignment_api import ApplicationMetadata, AssignmentError, TaskAssignment
from assignment_api.utils.validation import strict_findings, validate_task_assignment
from assignor_lab.groups.metrics.definition import derived
from assignor_lab.groups.streams.placement import Placement, placement_of, standby_counts

__all__ = ["number_of_findings", "validation_of"]


def validation_of(application: ApplicationMetadata, assignment: TaskAssignment) -> AssignmentError:
    """What :func:`assignment_api.utils.validation.validate_task_assignment` says."""
    if _is_faultless(placement_of(application, assignment)):
        return AssignmentError.NONE
    return validate_task_assignment(application, assignment)


def number_of_findings(application: ApplicationMetadata, assignment: TaskAssignment) -> int:
    """How many faults :func:`assignment_api.utils.validation.strict_findings` finds."""
    if _is_faultless(placement_of(application, assignment)):
        return 0
    return len(strict_findings(application, assignment))


@derived
def _is_faultless(placement: Placement) -> bool:
    """Whether there is surely nothing to find, neither for Kafka nor for the stricter check."""
    if not placement.is_exact or -1 in placement.owner:
        return False
    configs = placement.state.application.assignment_configs()
    wanted = max(configs.num_standby_replicas, 0)
    held = standby_counts(placement)
    if any(compress(held, map(not_, placement.state.stateful))):
        return False
    return sum([number - wanted for number in held if number > wanted]) <= configs.max_warmup_replicas
