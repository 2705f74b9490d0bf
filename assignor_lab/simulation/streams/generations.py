"""Record of a generation or epoch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import attrs

__all__ = ["Followup", "Generation"]

Followup = Literal["none", "immediate", "probing"]


@attrs.frozen
class Generation:
    """A generation of a classic group, or an epoch of the streams protocol."""

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
