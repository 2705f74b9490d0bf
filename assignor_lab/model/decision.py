"""A decision of a group: members, tasks before and after, and what follows."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from assignor_lab.model.evidence import Evidence
from assignor_lab.model.moment import Moment

__all__ = ["Decision", "InstanceShare"]


@attrs.frozen
class InstanceShare:
    """The part of one instance in a decision.

    Args:
        process_id: Of its process at that time; ``None``: the source has none.
        members: Member ids; empty if the source has none.
        active: Active tasks, or jobs of a Connect worker, sorted.
        copies: Standbys and warm-ups, sorted.
        had_active: Active tasks before the decision.
    """

    process_id: str | None = None
    members: frozenset[str] = frozenset()
    active: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()
    had_active: tuple[str, ...] = ()


@attrs.frozen
class Decision:
    """One decision.

    Args:
        protocol: ``classic``, ``streams`` or ``connect``.
        number: Generation or epoch; ``None``: unknown.
        shares: Name of the instance to its part, by name.
        tasks: All tasks of the group; ``None``: the source shows assigned ones alone.
        begun_ms: Start of the rebalance; ``None``: unknown.
        reason: The source's own words; empty without any.
        followup: ``none`` or ``probing``.
    """

    at: Moment
    evidence: Evidence
    protocol: str
    number: int | None
    shares: Mapping[str, InstanceShare]
    tasks: frozenset[str] | None = None
    begun_ms: int | None = None
    reason: str = ""
    followup: str = "none"

    @property
    def members(self) -> int:
        return sum(len(each.members) for each in self.shares.values())

    @property
    def owners(self) -> Mapping[str, str]:
        """Active task to the name of its instance."""
        return {task: name for name, each in self.shares.items() for task in each.active}
