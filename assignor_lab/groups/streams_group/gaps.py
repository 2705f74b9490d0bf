"""Gaps of an answer to a Streams group: its processes, with their members as threads."""

from __future__ import annotations

from assignment_api.group import GroupAssignment, GroupSpec, TopologyDescriber
from assignment_api.optimum import Problem
from assignor_lab.groups.metrics.gaps import Gaps, gap_metrics, gaps_by_kind
from assignor_lab.groups.streams_group.placement import placement_of

__all__ = ["GAP_METRICS", "gaps_of"]


def gaps_of(group: GroupSpec, topology: TopologyDescriber, answer: GroupAssignment) -> Gaps | None:
    """The gaps, keyed by goal; ``None`` if a task is not placed."""
    placement = placement_of(group, topology, answer)
    state = placement.state
    before = [tuple(processes) for processes in state.previous_active]
    problem = Problem(state.threads, before, [()] * len(before))
    return gaps_by_kind(problem, placement.owner, "streams-group")


GAP_METRICS = gap_metrics("streams-group", gaps_of)
