"""Sentences of a captured state on differences between sources of its topology.

They are among a scenario's ``assumptions``, like those on racks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

__all__ = [
    "DESCRIPTION_NOT_USED", "MEMBERS_TOPICS_USED", "OWN_USED", "STORES_UNKNOWN", "TOPOLOGY_CONFLICT",
    "contradicted_description", "noting_conflicts", "topology_conflicts",
]  # fmt: skip

#: Start of the sentence on two sources that differ: a description, the brokers' topics, the members' metadata.
TOPOLOGY_CONFLICT = "topology conflict:"

#: End of the sentence on a description that lacks sub-topologies of the group.
DESCRIPTION_NOT_USED = "it is not used (is it the description of that application?)"
#: End the sentences on what a description says and the group itself contradicts.
MEMBERS_TOPICS_USED = "the members' topics are used"
OWN_USED = "the group's own are used"
STORES_UNKNOWN = "its stores are unknown"
_CONTRADICTED = (DESCRIPTION_NOT_USED, MEMBERS_TOPICS_USED, OWN_USED, STORES_UNKNOWN)


def topology_conflicts(assumptions: Sequence[str]) -> list[str]:
    """The sentences on differences, in their order; empty if all sources agree."""
    return [sentence for sentence in assumptions if sentence.startswith(TOPOLOGY_CONFLICT)]


def contradicted_description(assumptions: Sequence[str]) -> str | None:
    """The first contradiction between a description and its group, without what is done about it; ``None``: none."""
    for sentence in topology_conflicts(assumptions):
        for ending in _CONTRADICTED:
            if sentence.endswith(ending):
                return sentence.removeprefix(TOPOLOGY_CONFLICT).removesuffix(ending).strip().removesuffix(":")
    return None


def noting_conflicts(documents: Iterable[dict[str, Any]], note: Callable[[str], None]) -> Iterator[dict[str, Any]]:
    """The unchanged documents; each sentence on a difference is noted with its first document."""
    noted: set[str] = set()
    for document in documents:
        for sentence in topology_conflicts(document.get("assumptions", ())):
            if sentence not in noted:
                noted.add(sentence)
                note(sentence)
        yield document
