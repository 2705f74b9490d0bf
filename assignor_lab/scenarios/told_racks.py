"""Sentences of a captured state that say whether its source told the racks, which other sentences do not touch.

They stand among a scenario's ``assumptions`` (docs, "From a log to a scenario"). A rack that is null in a state whose
source tells racks is one that nobody configured; in any other state it is unknown.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["NOT_USED", "RACKS_UNKNOWN", "STRATEGY_UNKNOWN", "racks_told", "strategy_told"]

#: Begins the sentence of a state whose leader looked at racks that the source does not tell.
RACKS_UNKNOWN = "racks unknown:"
#: Begins that of a state whose leader looked at racks, by a strategy that the source does not tell.
STRATEGY_UNKNOWN = "rack-aware strategy unknown:"
#: Begins that of a state whose source does not tell racks, which its leader did not look at.
NOT_USED = "racks of clients and brokers are not told"
#: As above, in files of earlier releases: the sentence on racks told of the strategy, too.
_FORMERLY = "racks unknown: the log shows a rack-aware optimisation"
_NOT_USED_FORMERLY = "racks of clients and brokers are not in the log"


def racks_told(assumptions: Sequence[str]) -> bool:
    """Whether the source of a state says which racks there are."""
    return not any(sentence.startswith((RACKS_UNKNOWN, NOT_USED, _NOT_USED_FORMERLY)) for sentence in assumptions)


def strategy_told(assumptions: Sequence[str]) -> bool:
    """Whether the strategy in the state's configuration is that of the leader."""
    return not any(sentence.startswith((STRATEGY_UNKNOWN, _FORMERLY)) for sentence in assumptions)
