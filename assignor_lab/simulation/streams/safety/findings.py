"""Findings: what an episode did that a rule of safety forbids, and which of it is Kafka's own."""

from __future__ import annotations

import attrs

__all__ = ["Finding"]


@attrs.frozen
class Finding:
    """A rule that an episode broke.

    Args:
        rule: Name of the rule.
        sentence: Where, when and how.
        known: Name of Kafka's own behaviour that explains it, or empty: a fault of whoever decided, or of ours.
        task: Name of the task that they did it with, where it was one.
        threads: Numbers of the threads that did it together, where it was threads.
        begin_ms: Since when they did.
        end_ms: Until when they did.
    """

    rule: str
    sentence: str
    known: str = ""
    task: str = ""
    threads: tuple[int, ...] = ()
    begin_ms: int = 0
    end_ms: int = 0
