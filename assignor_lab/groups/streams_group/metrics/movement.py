"""Movement between members, and what copies of state lack by the offsets that members report."""

from __future__ import annotations

from assignor_lab.groups.metrics.definition import Definition, derived, metric
from assignor_lab.groups.metrics.movement import GROUP
from assignor_lab.groups.streams_group.placement import Placement

__all__ = ["BY_MEMBERS"]

_FARTHEST = "What no process of the group has of a task."


@metric(GROUP, "share", "higher", "Tasks whose member is gone are not counted.")
def tasks_kept_on_member(placement: Placement) -> float | None:
    """Share of the active tasks that stay on the very member (thread) that ran them."""
    kept = known = 0
    for runners, before in zip(placement.runners, placement.state.previous_members, strict=True):
        if before:
            known += 1
            kept += any(member in before for member in runners)
    return kept / known if known else None


@metric(GROUP, "tasks", "lower", "Evening out the members of a process moves some.")
def actives_moved_within_process(placement: Placement) -> float:
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
def offsets_to_restore(placement: Placement) -> float | None:
    """Changelog records that copies of state lack where they are placed: a copy that lags is not state.

    By the offsets that members report: for each stateful replica the end offset of its task less what its process has
    of it. No figure where nobody reported the end offset of a task that somebody else gets, as no client of Kafka 4.3.1
    does.
    """
    lacking = _lacking(placement)
    return None if lacking is None else float(sum(count for count, _ in lacking))


@metric(GROUP, "offsets", "lower", _FARTHEST)
def offsets_to_restore_before_processing(placement: Placement) -> float | None:
    """Changelog records that have to be restored before the tasks can work: those of actives alone."""
    lacking = _lacking(placement)
    return None if lacking is None else float(sum(count for count, is_active in lacking if is_active))


@derived
def _lacking(placement: Placement) -> list[tuple[int, bool]] | None:
    """Of each stateful replica what it lacks, and whether it is the active one; ``None``: not known of all."""
    state = placement.state
    lacking = []
    for task, stateful in enumerate(state.topology.stateful):
        if not stateful:
            continue
        end, offsets, running = state.ends[task], state.offsets[task], state.previous_active[task]
        for process in placement.replicas[task]:
            count = 0
            # Who ran a task and reports nothing of it has all of it.
            if process in offsets or process not in running:
                if end is None:
                    return None
                count = max(end - offsets.get(process, 0), 0)
            lacking.append((count, process == placement.owner[task]))
    return lacking


BY_MEMBERS: tuple[Definition[Placement], ...] = (
    tasks_kept_on_member,
    actives_moved_within_process,
    offsets_to_restore,
    offsets_to_restore_before_processing,
)
