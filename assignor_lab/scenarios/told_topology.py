"""Sentences of a captured state about what sources of its topology say differently.

They stand among a scenario's ``assumptions``, as those on racks do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

__all__ = ["DESCRIPTION_NOT_USED", "TOPOLOGY_CONFLICT", "noting_conflicts", "topology_conflicts"]

#: Begins the sentence on two sources that differ: a description, the brokers' topics, the members' metadata.
TOPOLOGY_CONFLICT = "topology conflict:"

#: Ends the sentence on a description that lacks sub-topologies of the group.
DESCRIPTION_NOT_USED = "it is not used (is it the description of that application?)"


def topology_conflicts(assumptions: Sequence[str]) -> list[str]:
    """The sentences on differences, in their order; empty if all sources agree."""
    return [sentence for sentence in assumptions if sentence.startswith(TOPOLOGY_CONFLICT)]


def noting_conflicts(documents: Iterable[dict[str, Any]], note: Callable[[str], None]) -> Iterator[dict[str, Any]]:
    """The documents as they are; each sentence on a difference is noted when the first document with it comes."""
    noted: set[str] = set()
    for document in documents:
        for sentence in topology_conflicts(document.get("assumptions", ())):
            if sentence not in noted:
                noted.add(sentence)
                note(sentence)
        yield document
