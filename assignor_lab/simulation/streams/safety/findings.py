"""Violations of safety rules, and those explained by Kafka's own behaviour."""

from __future__ import annotations

import attrs

__all__ = ["BrokenRule"]


@attrs.frozen
class BrokenRule:
    """A violated rule.

    Args:
        known: Name of Kafka's behaviour that explains it; empty: a fault of the assignor or the simulation.
    """

    rule: str
    sentence: str
    known: str = ""
    task: str = ""
    threads: tuple[int, ...] = ()
    begin_ms: int = 0
    end_ms: int = 0
