"""A decision of a group: members, tasks before and after, and what follows."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from assignor_lab.model.evidence import Evidence
from assignor_lab.model.moment import Moment

__all__ = ["CLASSIC", "CONNECT", "STREAMS", "Decision", "InstanceShare", "PresenceChange", "presence_change"]

#: Protocols of groups.
CLASSIC, STREAMS, CONNECT = "classic", "streams", "connect"


@attrs.frozen
class InstanceShare:
    """The part of one instance in a decision.

    Args:
        process_id: Of its process at that time; ``None``: the source has none.
        members: Member ids; empty if the source has none.
        active: Active tasks, or jobs of a Connect worker, sorted.
        copies: Standbys and warm-ups, sorted.
        copy_lags: Task to the lag of the copy that the instance had before the decision, in records.
    """

    process_id: str | None = None
    members: frozenset[str] = frozenset()
    active: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()
    copy_lags: Mapping[str, int] = attrs.field(factory=dict)

    def continues(self, before: InstanceShare) -> bool:
        """True if a member of before is still there, or members are unknown; else the instance started again.

        Another process is another start, even if members kept their ids.
        """
        if self.process_id is not None and before.process_id is not None and self.process_id != before.process_id:
            return False
        return not self.members or not before.members or not self.members.isdisjoint(before.members)


@attrs.frozen
class PresenceChange:
    """Instances that came, went or started again between two decisions; each in the order of its decision."""

    gone: tuple[str, ...]
    new: tuple[str, ...]
    restarted: tuple[str, ...]
    stayed: tuple[str, ...]


def presence_change(before: Mapping[str, InstanceShare], after: Mapping[str, InstanceShare]) -> PresenceChange:
    """Of the instances of two decisions, by name."""
    both = [name for name in after if name in before]
    stayed = {name for name in both if after[name].continues(before[name])}
    return PresenceChange(
        tuple(name for name in before if name not in after),
        tuple(name for name in after if name not in before),
        tuple(name for name in both if name not in stayed),
        tuple(name for name in both if name in stayed),
    )


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
        notes: Further words on the decision, such as created connectors.
        followup: ``none``, ``immediate`` (played ones alone) or ``probing``.
        probing_ms: Interval until the announced probing rebalance.
        hands_over: True if a task moves from a member that still owns it: one more rebalance follows.
        moved: Active tasks that move between two present instances.
        allowed_ms: Announced delay of tasks without an owner.
        assignor: Empty if the source does not name it.
        recovery_lag: ``acceptable.recovery.lag``; ``None``: not a setting of the group.
        standbys: Wanted standbys of each stateful task; ``None``: unknown.
        stateful: Stateful tasks; empty if unknown.
        joined_ms: Time at which all members had joined; ``None``: unknown.
        leader: Of a classic group; empty if unknown.
        member_count: Of a source without member ids; ``None``: the shares have them.
        revoked: Jobs of Connect that their workers had to give up.
    """

    at: Moment
    evidence: Evidence
    protocol: str
    number: int | None
    shares: Mapping[str, InstanceShare]
    tasks: frozenset[str] | None = None
    begun_ms: int | None = None
    reason: str = ""
    notes: tuple[str, ...] = ()
    followup: str = "none"
    probing_ms: int = 0
    hands_over: bool = False
    moved: int = 0
    allowed_ms: int = 0
    assignor: str = ""
    recovery_lag: int | None = None
    standbys: int | None = None
    stateful: frozenset[str] = frozenset()
    joined_ms: int | None = None
    leader: str = ""
    member_count: int | None = None
    revoked: int = 0

    @property
    def members(self) -> int:
        if self.member_count is not None:
            return self.member_count
        return sum(len(each.members) for each in self.shares.values())

    @property
    def since_ms(self) -> int:
        """Start of the rebalance, else the decision's time."""
        return self.at.latest_ms if self.begun_ms is None else self.begun_ms

    @property
    def owners(self) -> Mapping[str, str]:
        """Active task to the name of its instance."""
        return {task: name for name, each in self.shares.items() for task in each.active}

    @property
    def copies(self) -> frozenset[tuple[str, str]]:
        """Pairs of task and instance."""
        return frozenset((task, name) for name, each in self.shares.items() for task in each.copies)
