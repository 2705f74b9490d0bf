"""Compares a description with the sub-topologies that a streams group sent to its broker."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs

from assignor_lab.capture.topology.description import SubTopologyText, TopologyDescription
from assignor_lab.capture.topology.internal_topics import CHANGELOG, prefix_of
from assignor_lab.capture.topology.patterns import matching_topics
from assignor_lab.scenarios.topology_provenance import DESCRIPTION_NOT_USED, OWN_USED, TOPOLOGY_CONFLICT

__all__ = ["ReportedSubTopology", "conflicts_with_reported"]


@attrs.frozen
class ReportedSubTopology:
    """A sub-topology that a member sent, its sources with the application id."""

    id: str
    sources: tuple[str, ...]
    changelogs: tuple[str, ...]


def conflicts_with_reported(
    text: TopologyDescription, group: str, reported: Iterable[ReportedSubTopology]
) -> list[str]:
    """A sentence for each difference."""
    listed = {each.id: each for each in reported}
    described = {str(number): sub for (_, number), sub in text.subtopologies.items()}
    found = []
    if missing := [name for name in listed if name not in described]:
        names = ", ".join(missing)
        found.append(f"the group has sub-topologies {names}, which {text.name} does not have: {DESCRIPTION_NOT_USED}")
    else:
        if more := [name for name in described if name not in listed]:
            found.append(f"{text.name} has sub-topologies {', '.join(more)}, which the group does not have: {OWN_USED}")
        for name, each in listed.items():
            found += [
                f"sub-topology {name}: {reason}" for reason in _differences(text.name, group, described[name], each)
            ]
    return [f"{TOPOLOGY_CONFLICT} {sentence}" for sentence in found]


def _differences(name: str, group: str, sub: SubTopologyText, reported: ReportedSubTopology) -> Iterator[str]:
    prefix = prefix_of(group)
    read = {topic for topic in reported.sources if not {topic, topic.removeprefix(prefix)} & set(sub.topics)}
    lacking = [topic for topic in sub.topics if not {topic, prefix + topic} & set(reported.sources)]
    matches = [matching_topics(pattern, read) for pattern in sub.patterns]
    if lacking or (None not in matches and read.difference(*(matched or () for matched in matches))):
        listed = ", ".join((*sub.topics, *(f"pattern {pattern}" for pattern in sub.patterns)))
        yield f"the group reads {', '.join(reported.sources) or 'no topic'}, {name} has {listed}: {OWN_USED}"
    names = {f"{prefix}{store.name}{CHANGELOG}" for store in sub.stores}
    names |= {each for store in sub.stores for topic in store.filled_from for each in (topic, prefix + topic)}
    if other := [topic for topic in reported.changelogs if topic not in names]:
        stores = ", ".join(store.name for store in sub.stores) or "no store"
        yield f"the group logs to {', '.join(other)}, {name} has {stores}: {OWN_USED}"
