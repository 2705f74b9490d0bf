"""Movement in a classic group: the shared figures, and members if each process has one."""

from __future__ import annotations

from assignment_api.plugins import MetricPlugin
from assignor_lab.groups.metrics.definition import metric, plugins_of
from assignor_lab.groups.metrics.movement import GROUP, MOVEMENT, share_kept
from assignor_lab.groups.streams.placement import StreamsPlacement, placement_of

__all__ = ["MOVEMENT_METRICS"]


@metric(GROUP, "share", "higher", "Tasks whose member is gone are not counted.")
def tasks_kept_on_member(placement: StreamsPlacement) -> float | None:
    """Share of the active tasks that stay on the very member (thread) that ran them.

    A figure only if each process has one thread, so that process and member are the same. Otherwise it depends on the
    spread of a process's tasks over its threads, which the assignor does not decide.
    """
    if any(threads != 1 for threads in placement.state.threads):
        return None
    return share_kept(placement)


MOVEMENT_METRICS: tuple[MetricPlugin, ...] = plugins_of((*MOVEMENT, tasks_kept_on_member), placement_of, "streams")
