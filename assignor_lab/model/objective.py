"""A figure that orders and configurations are chosen by."""

from __future__ import annotations

import attrs

__all__ = ["Objective", "by_name"]


@attrs.frozen
class Objective:
    """A figure to choose by; less is better."""

    name: str
    unit: str
    words: str


def by_name(*objectives: Objective) -> dict[str, Objective]:
    """The figures by name, in their order."""
    return {each.name: each for each in objectives}
