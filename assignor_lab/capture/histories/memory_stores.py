"""Sub-topologies whose stores are in memory, from the decisions of a classic group.

A closed task of another store leaves a directory with its checkpoint, which the next JoinGroup request reports. Of a
store in memory nothing is left (Kafka: ``TaskManager.taskOffsetSums``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from assignment_api.streams.client_state import LATEST_OFFSET
from assignor_lab.capture.edges.moments import DecisionMoment

__all__ = ["subtopologies_in_memory"]


def subtopologies_in_memory(moments: Sequence[DecisionMoment], cleanup_delay_ms: int) -> frozenset[str]:
    """Sub-topologies of which a process ran tasks and then reported nothing. No process reported an unassigned task.

    Args:
        cleanup_delay_ms: ``state.cleanup.delay.ms``: afterwards a directory may be gone.
    """
    lost: set[str] = set()
    kept: set[str] = set()
    for before, after in pairwise(moments):
        if after.time_ms - before.time_ms < cleanup_delay_ms:
            for process_id in _going_on(before, after):
                had, _ = _reported(before, process_id)
                running, others = _reported(after, process_id)
                assigned = {task for tasks in before.placed.get(process_id, ()) for task in tasks}
                lost |= {_of(task) for task in had - running - others - after.input.owned_by(process_id)}
                kept |= {_of(task) for task in others - assigned}
    return frozenset(lost - kept)


def _going_on(before: DecisionMoment, after: DecisionMoment) -> Iterator[str]:
    """Processes with the same members in both decisions: each thread has reported its tasks."""
    for process_id, each in before.participants.items():
        now = after.participants.get(process_id)
        if now is not None and now.members == each.members:
            yield process_id


def _reported(moment: DecisionMoment, process_id: str) -> tuple[frozenset[str], frozenset[str]]:
    """Running tasks of a process, and other tasks with reported state."""
    lags = moment.input.lags_of(process_id)
    running = frozenset(task for task, lag in lags.items() if lag == LATEST_OFFSET)
    return running, frozenset(moment.input.copies_of(process_id)) - running


def _of(task: str) -> str:
    return task.rpartition("_")[0]
