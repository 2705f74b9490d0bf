"""Rack-aware optimisation of active and standby tasks (KIP-925)."""

from assignment_api.utils.rack_aware.gates import internal_reason_against, public_reason_against
from assignment_api.utils.rack_aware.internal import InternalRackOptimizer
from assignment_api.utils.rack_aware.public import optimize_rack_aware_active_tasks, optimize_rack_aware_standby_tasks

__all__ = [
    "InternalRackOptimizer",
    "internal_reason_against",
    "optimize_rack_aware_active_tasks",
    "optimize_rack_aware_standby_tasks",
    "public_reason_against",
]
