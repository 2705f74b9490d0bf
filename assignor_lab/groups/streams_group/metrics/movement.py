"""Movement between members, and missing records of state by the offsets that members report."""

from __future__ import annotations

from assignor_lab.groups.metrics.definition import MetricDefinition, derived, metric
from assignor_lab.groups.metrics.movement import GROUP
from assignor_lab.groups.streams_group.placement import StreamsGroupPlacement

__all__ = ["BY_MEMBERS"]

_FARTHEST = "The part of a task's state that no process of the group has."


@metric(GROUP, "share", "higher", "Tasks whose member is gone are not counted.")
def tasks_kept_on_member(placement: StreamsGroupPlacement) -> float | None:
    """Share of the active tasks that stay on the very member (thread) that ran them."""
    kept = known = 0
    for runners, before in zip(placement.runners, placement.state.previous_members, strict=True):
        if before:
            known += 1
            kept += any(member in before for member in runners)
    return kept / known if known else None


@metric(GROUP, "tasks", "lower", "Evening out the members of a process moves some.")
def actives_moved_within_process(placement: StreamsGroupPlacement) -> float:
    """Tasks that stay on their process and change to another of its members: closed and opened again, state kept."""
    state = placement.state
    return float(
        sum(
            1
            for owner, runners, before, members in zip(
                placement.owner, placement.runners, state.previous_active, state.previous_members, strict=True
            )
            if owner in before and not any(member in members for member in runners)
        )
    )


@metric(GROUP, "offsets", "lower", _FARTHEST)
def offsets_to_restore(placement: StreamsGroupPlacement) -> float | None:
    """Changelog records still to copy before every replica is current.

    By the offsets that members report: for each stateful replica the end offset of its task less its process's offset.
    No figure if no member reported the end offset of a task that goes to a new process, as with every client of
    Kafka 4.3.1.
    """
    lacking = _lacking(placement)
    return None if lacking is None else float(sum(count for count, _ in lacking))


@metric(GROUP, "offsets", "lower", _FARTHEST)
def offsets_to_restore_before_processing(placement: StreamsGroupPlacement) -> float | None:
    """Changelog records that have to be restored before the tasks can work: those of actives alone."""
    lacking = _lacking(placement)
    return None if lacking is None else float(sum(count for count, is_active in lacking if is_active))


@derived
def _lacking(placement: StreamsGroupPlacement) -> list[tuple[int, bool]] | None:
    """For each stateful replica its missing records, and True for the active one; ``None``: not all are known."""
    state = placement.state
    lacking = []
    for task, stateful in enumerate(state.topology.stateful):
        if not stateful:
            continue
        end, offsets, running = state.ends[task], state.offsets[task], state.previous_active[task]
        for process in placement.replicas[task]:
            count = 0
            # A process that ran a task and reports no offset of it has all of it.
            if process in offsets or process not in running:
                if end is None:
                    return None
                count = max(end - offsets.get(process, 0), 0)
            lacking.append((count, process == placement.owner[task]))
    return lacking


BY_MEMBERS: tuple[MetricDefinition[StreamsGroupPlacement], ...] = (
    tasks_kept_on_member,
    actives_moved_within_process,
    offsets_to_restore,
    offsets_to_restore_before_processing,
)
