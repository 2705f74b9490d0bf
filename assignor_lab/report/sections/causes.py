"""Causes of a group's rebalances in plain words, with their counts.

The phrases are those of Kafka's clients and coordinators: reasons in a consumer's JoinGroup (KIP-800), log lines of a
coordinator, reasons from the simulation, and inferred reasons.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from assignor_lab.capture.histories.reasons import FOLLOW_UP, PROBING
from assignor_lab.documents.wording import listed

__all__ = ["cause_words"]

_CAME, _HANDS, _AT_ONCE, _PROBES, _TOPICS, _OTHER = (
    "because members came or went",
    "to hand tasks over (the owners release them first, then all members join again)",
    "at once, as the decision before had requested",
    "to probe whether copies have caught up (probing.rebalance.interval.ms)",
    "because topics had changed",
    "for other reasons",
)
#: Causes outside the group; the others follow from earlier decisions.
_FROM_OUTSIDE = (_CAME, _TOPICS)

#: The first match wins: a client's reason is more precise than the coordinator's activity.
_PHRASES = (
    # A play joins all reasons of one rebalance: external events come before their consequences.
    (re.compile(r"\b(is new|sent no heartbeat|was not heard of|left)\b"), _CAME),
    (re.compile(r"need to revoke partitions and re-?join"), _HANDS),
    (re.compile(r"followup rebalance scheduled for 0\b|follow-up rebalance scheduled immediately"), _AT_ONCE),
    (re.compile(r"followup rebalance scheduled for \d|follow-up rebalance scheduled by probing"), _PROBES),
    (re.compile(rf"^{re.escape(FOLLOW_UP)}"), _HANDS),
    (re.compile(rf"^{re.escape(PROBING)}"), _PROBES),
    (
        re.compile(
            r"cached metadata has changed|topics were created(?: or|,) grew|topics were deleted, or no member|"
            r"topology or its topics have changed"
        ),
        _TOPICS,
    ),
    (
        re.compile(
            r"Adding new member|[Rr]emoving member|leav|expir|LeaveGroup|static member|[Uu]nknown member|"
            r"joins|joined|restarted|stopped|fenced|closed"
        ),
        _CAME,
    ),
)


def cause_words(reasons: Sequence[str]) -> str:
    """Causes of a group's rebalances, in one or two sentences; empty if half of the reasons are not understood.

    Args:
        reasons: Reason of each rebalance; empty if unknown.
    """
    known = [reason for reason in reasons if reason]
    if len(known) * 2 < len(reasons) or len(known) < 2:
        return ""
    counted = Counter(map(_cause, known))
    if counted[_OTHER] * 2 > len(known):
        return ""
    order = sorted((cause for cause in counted if cause != _OTHER), key=lambda cause: -counted[cause])
    causes = [f"{counted[cause]:,} {cause}" for cause in (*order, *([_OTHER] if _OTHER in counted else []))]
    words = f"Why: {listed(causes)}."
    outside = _number(counted, _FROM_OUTSIDE)
    follows = _number(counted, (_HANDS, _AT_ONCE, _PROBES))
    if follows > outside:
        words += (
            f" So {outside:,} of them answer something that happened; {follows:,} follow from the decisions before."
        )
    return words


def _cause(reason: str) -> str:
    return next((cause for phrase, cause in _PHRASES if phrase.search(reason)), _OTHER)


def _number(counted: Counter[str], causes: Iterable[str]) -> int:
    return sum(counted[cause] for cause in causes)
