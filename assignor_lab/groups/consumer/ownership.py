"""Holding of consumer groups and share groups: the members of each partition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from assignment_api.consumer import PartitionAssignment
from assignor_lab.groups.consumer.placement import placement_of, state_of
from assignor_lab.groups.consumer.rounds import AppliedAssignment, PartitionState
from assignor_lab.groups.ownership.ownership import ACTIVE, Ownership, PossibleOwner, held
from assignor_lab.scenarios import Scenario

__all__ = ["PartitionOwnership"]


@attrs.frozen
class PartitionOwnership:
    """The members of each partition; partitions are named ``topic-number``."""

    default_assignor: str
    noun: str = "partition"

    def clients(self, state: PartitionState) -> tuple[PossibleOwner, ...]:
        return tuple(
            PossibleOwner(member, host=held.instance_id or member) for member, held in state.group.members.items()
        )

    def tasks(self, state: PartitionState) -> tuple[str, ...]:
        return tuple(state_of(state).every_name())

    def before(self, state: PartitionState) -> Ownership:
        known = state_of(state)
        pairs = zip(known.every_name(), known.before, strict=True)
        return held((known.members[member], ACTIVE, task) for task, members in pairs for member in members)

    def after(self, state: PartitionState, answer: AppliedAssignment) -> Ownership:
        placement = placement_of(state, answer)
        known = placement.state
        pairs = zip(known.every_name(), placement.owners, strict=True)
        return held((known.members[member], ACTIVE, task) for task, members in pairs for member in members)

    def answer(
        self,
        scenario: Scenario,
        number: int,
        state: PartitionState,
        line: Mapping[str, Mapping[str, Mapping[str, Sequence[int]]]],
    ) -> AppliedAssignment:
        return AppliedAssignment(PartitionAssignment(line.get("members", {})), stops_all=False)
