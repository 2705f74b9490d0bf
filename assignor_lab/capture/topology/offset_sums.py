"""Possible changelogs, checked against the offset sums of members.

A member reports the sum of a task's changelog offsets: at most that of the ends, and equal for a complete copy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice, product

from assignor_lab.capture.topology.evidence import Ends
from assignor_lab.capture.topology.group_topology import TopologyStore

__all__ = ["contradicted", "fitting"]

_MOST_TRIED = 64


def fitting(
    choices: Sequence[Sequence[TopologyStore]], sums: Mapping[int, Iterable[int]], ends: Ends
) -> list[TopologyStore]:
    """One store of each choice: the first combination without a contradicting sum, and with the most equal sums.

    Without sums or ends it is the first of each choice. A combination with an unknown changelog loses only to one with
    more equal sums than any other, or to the only one without a contradiction.
    """
    first = [each[0] for each in choices]
    if not sums or all(len(each) == 1 for each in choices):
        return first
    ways = [list(way) for way in islice(product(*choices), _MOST_TRIED)]
    known = [way for way in ways if all(store.is_known for store in way)]
    ended = ends(_partitions(known, sums))
    judged = [(way, *_judged(way, sums, ended)) for way in known]
    possible = [(way, equal) for way, contradicted, equal in judged if not contradicted]
    best = max((equal for _, equal in possible), default=0)
    is_open = first not in known and len(possible) > 1
    if not possible or (is_open and [equal for _, equal in possible].count(best) > 1):
        return first
    return next(way for way, equal in possible if equal == best)


def contradicted(stores: Sequence[TopologyStore], sums: Mapping[int, Iterable[int]], ends: Ends) -> bool:
    """A member reports more than the changelogs hold."""
    return _judged(stores, sums, ends(_partitions([stores], sums)))[0]


def _partitions(ways: Iterable[Sequence[TopologyStore]], numbers: Iterable[int]) -> list[tuple[str, int]]:
    topics = {store.changelog for way in ways for store in way if store.changelog is not None}
    return [(topic, number) for topic in sorted(topics) for number in numbers]


def _judged(
    way: Sequence[TopologyStore], sums: Mapping[int, Iterable[int]], ends: Mapping[tuple[str, int], int]
) -> tuple[bool, int]:
    """True if a sum contradicts, and the number of equal sums."""
    topics = {store.changelog for store in way if store.changelog is not None}
    equal = 0
    for number, reported in sums.items():
        if any((topic, number) not in ends for topic in topics):
            continue
        end = sum(ends[topic, number] for topic in topics)
        if any(each > end for each in reported):
            return True, 0
        equal += sum(each == end and end > 0 for each in reported)
    return False, equal
