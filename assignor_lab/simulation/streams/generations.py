"""What a protocol writes down of each generation or epoch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import attrs

__all__ = ["Followup", "Generation"]

Followup = Literal["none", "immediate", "probing"]


@attrs.frozen
class Generation:
    """One generation of a classic group, or one epoch of the streams protocol.

    Args:
        number: Its number.
        prepared_ms: When the rebalance began, by the group's clock.
        joined_ms: When all had joined.
        assigned_ms: When the assignment was there.
        reason: What set it off.
        members: Number of members.
        followup: Whether it asks for another rebalance at once, or later.
        assigned: Instance to its active and its standby tasks, those that it still has to wait for included; sorted.
        warmups: Standbys beyond the number that is configured.
        leader: Consumer that led it; ``""`` where the broker decides.
    """

    number: int
    prepared_ms: int
    joined_ms: int
    assigned_ms: int
    reason: str
    members: int
    followup: Followup
    assigned: Mapping[str, tuple[tuple[int, ...], tuple[int, ...]]]
    warmups: int
    leader: str = ""
