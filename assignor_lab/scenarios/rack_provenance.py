"""Sentences of a captured state on the racks in its source; their form is fixed.

They are among a scenario's ``assumptions`` (docs, "Read decisions from logs"). A null rack is one that is not
configured if the state's source has racks; in any other state it is unknown.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["NOT_USED", "RACKS_UNKNOWN", "STRATEGY_UNKNOWN", "racks_known", "strategy_known"]

#: Start of the sentence of a state with racks in use that the source lacks.
RACKS_UNKNOWN = "racks unknown:"
#: Start of that of a state with racks in use, by a strategy that the source lacks.
STRATEGY_UNKNOWN = "rack-aware strategy unknown:"
#: Start of that of a state without racks in its source and in use.
NOT_USED = "racks of clients and brokers are not told"
#: As above, in files of earlier releases: the sentence on racks covers the strategy, too.
_FORMERLY = "racks unknown: the log shows a rack-aware optimisation"
_NOT_USED_FORMERLY = "racks of clients and brokers are not in the log"


def racks_known(assumptions: Sequence[str]) -> bool:
    return not any(sentence.startswith((RACKS_UNKNOWN, NOT_USED, _NOT_USED_FORMERLY)) for sentence in assumptions)


def strategy_known(assumptions: Sequence[str]) -> bool:
    """True if the strategy in the state's configuration is that of the leader."""
    return not any(sentence.startswith((STRATEGY_UNKNOWN, _FORMERLY)) for sentence in assumptions)
