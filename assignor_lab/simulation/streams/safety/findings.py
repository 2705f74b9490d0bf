"""Findings: what an episode did that a rule of safety forbids, and which of it is Kafka's own."""

from __future__ import annotations

import attrs

__all__ = ["Finding", "Rule"]


@attrs.frozen
class Rule:
    """A rule that no episode may break.

    Args:
        name: What findings are grouped by.
        says: What it forbids, as a sentence.
    """

    name: str
    says: str


@attrs.frozen
class Finding:
    """A rule that an episode broke.

    Args:
        rule: Name of the rule.
        sentence: Where, when and how.
        known: Name of Kafka's own behaviour that explains it, or empty: a fault of whoever decided, or of ours.
    """

    rule: str
    sentence: str
    known: str = ""
