"""Shares changelog topics out among sub-topologies with as many tasks each, by the offset sums that members report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import attrs

from assignor_lab.capture.topology.description import SubTopologyKey
from assignor_lab.capture.topology.evidence import Ends

__all__ = ["Candidate", "shared_by_sums"]

#: Ways to share that are tried.
_MOST_TRIED = 4096

#: Partition to the end of all changelogs of a sub-topology together.
_Sums = Mapping[int, int]


@attrs.frozen
class Candidate:
    """A sub-topology with changelogs.

    Args:
        sources: Source topics that a table may read back.
        sums: Partition to the sums that members report.
    """

    sources: tuple[str, ...]
    sums: Mapping[int, tuple[int, ...]]


def shared_by_sums(
    candidates: Mapping[SubTopologyKey, Candidate], changelogs: Sequence[str], ends: Ends
) -> tuple[dict[SubTopologyKey, tuple[str, ...]], bool] | None:
    """Changelogs of each sub-topology, and whether no others fit as well; ``None``: unknown.

    Source topics that tables read back are among them. Others that fit as well end at the same offsets.

    A member never reports more than its changelogs hold, and that where its copy is complete. The way with the most
    complete copies is used, if each sub-topology has one and no way with other ends has as many.

    Args:
        candidates: The sub-topologies.
        changelogs: The changelog topics to share out.
        ends: Ends of partitions.
    """
    numbers = {number for each in candidates.values() for number in each.sums}
    topics = {*changelogs, *(topic for each in candidates.values() for topic in each.sources)}
    known = ends((topic, number) for topic in sorted(topics) for number in sorted(numbers))
    best: list[tuple[dict[SubTopologyKey, tuple[str, ...]], tuple[object, ...]]] = []
    most = 1
    for way in _ways(candidates, changelogs):
        judged = [_judged(candidates[key], own, known) for key, own in way.items()]
        if any(not equal for equal, _ in judged):
            continue
        equal = sum(each for each, _ in judged)
        if equal > most:
            best, most = [], equal
        if equal == most:
            best.append((way, tuple(tuple(sorted(held.items())) for _, held in judged)))
    return (best[0][0], len(best) == 1) if len({held for _, held in best}) == 1 else None


def _ways(
    candidates: Mapping[SubTopologyKey, Candidate], changelogs: Sequence[str]
) -> Iterator[dict[SubTopologyKey, tuple[str, ...]]]:
    """Each changelog to one sub-topology, and at most one source topic to each; none if there are too many ways."""
    keys = list(candidates)
    back = [((), *((topic,) for topic in candidates[key].sources)) for key in keys]
    tried = len(keys) ** len(changelogs)
    for each in back:
        tried *= len(each)
    if tried > _MOST_TRIED:
        return
    for owners in product(keys, repeat=len(changelogs)):
        own = {key: tuple(name for name, owner in zip(changelogs, owners, strict=True) if owner == key) for key in keys}
        for read in product(*back):
            way = {key: (*own[key], *more) for key, more in zip(keys, read, strict=True)}
            if all(way.values()):
                yield way


def _judged(candidate: Candidate, topics: tuple[str, ...], ends: Mapping[tuple[str, int], int]) -> tuple[int, _Sums]:
    """Number of complete copies, and the ends of these topics together; 0 if a sum is more, or an end is unknown.

    The last record of a changelog may be a transaction's marker, which no sum counts.
    """
    equal, held = 0, {}
    for number, reported in candidate.sums.items():
        if any((topic, number) not in ends for topic in topics):
            return 0, {}
        held[number] = sum(ends[topic, number] for topic in topics)
        if any(each > held[number] for each in reported):
            return 0, {}
        equal += sum(each > 0 and held[number] - each <= len(topics) for each in reported)
    return equal, held
