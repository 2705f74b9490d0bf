"""Causes of a group's rebalances: what members and the coordinator said, counted in plain words.

The phrases are those of Kafka's clients and coordinators: what a consumer gives as the reason of its JoinGroup
(KIP-800), what a coordinator writes into its log, and what the simulation says of both.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from assignor_lab.documents.wording import listed

__all__ = ["cause_words"]

_CAME, _HANDS, _AT_ONCE, _PROBES, _TOPICS, _OTHER = (
    "because members came or went",
    "to hand tasks over (who has them gives them up first, and all join again)",
    "at once, as the decision before had asked",
    "to probe whether copies have caught up (probing.rebalance.interval.ms)",
    "because topics had changed",
    "for other reasons",
)
#: What answers something that happened to the group; the rest follows from the decisions before.
_FROM_OUTSIDE = (_CAME, _TOPICS)

#: The first that is found says the cause: what a client said tells more than what the coordinator was doing.
_PHRASES = (
    # Of a play, in which all reasons of one rebalance stand together: what happened comes before what followed.
    (re.compile(r"\b(is new|was not heard of|left)\b"), _CAME),
    (re.compile(r"need to revoke partitions and re-?join"), _HANDS),
    (re.compile(r"followup rebalance scheduled for 0\b|follow-up rebalance scheduled immediately"), _AT_ONCE),
    (re.compile(r"followup rebalance scheduled for \d|follow-up rebalance scheduled by probing"), _PROBES),
    (re.compile(r"cached metadata has changed"), _TOPICS),
    (
        re.compile(
            r"Adding new member|[Rr]emoving member|leav|expir|LeaveGroup|static member|[Uu]nknown member|"
            r"joins|joined|fenced|closed"
        ),
        _CAME,
    ),
)


def cause_words(reasons: Sequence[str]) -> str:
    """Why a group rebalanced how often, in one or two sentences; empty if half of the reasons are not understood.

    Args:
        reasons: What was said of each rebalance; empty where nothing was.
    """
    told = [reason for reason in reasons if reason]
    if len(told) * 2 < len(reasons) or len(told) < 2:
        return ""
    counted = Counter(map(_cause, told))
    if counted[_OTHER] * 2 > len(told):
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
