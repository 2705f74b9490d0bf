"""Order of a worker's jobs in its report, which decides the jobs that it loses first.

Kafka: ``ExtendedAssignment``.
"""

from __future__ import annotations

from assignment_api.connect import ConnectorTaskId, Jobs
from assignment_api.java.hash_table import iteration_order_of_set_copy
from assignment_api.java.hashing import string_hash
from assignment_api.streams.ids import utf16_key

__all__ = ["reported_order"]


def reported_order(jobs: Jobs) -> Jobs:
    """``jobs`` as the leader reads them: grouped by connector on the wire, connector instances in Java's hash order."""
    names = jobs.connectors
    first = iteration_order_of_set_copy(names, [string_hash(name) for name in names], sort_key=utf16_key)
    tasks: dict[str, list[ConnectorTaskId]] = {name: [] for name in first}
    for task in jobs.tasks:
        tasks.setdefault(task.connector, []).append(task)
    return Jobs(first, [task for group in tasks.values() for task in group])
