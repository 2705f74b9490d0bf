"""Standby assignment on dense indices."""

from assignment_api.utils.standby.client_tags import (
    ClientTags,
    OrderOfPending,
    SeveralOwnersError,
    assign_to_different_tags,
)
from assignment_api.utils.standby.least_loaded import assign_least_loaded, load_without_threads

__all__ = [
    "ClientTags",
    "OrderOfPending",
    "SeveralOwnersError",
    "assign_least_loaded",
    "assign_to_different_tags",
    "load_without_threads",
]
