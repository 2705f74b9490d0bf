"""Choices of changelogs, tried against the offset sums that members report.

A member reports of each task the sum of the offsets up to which it has its changelogs. That is never more than where
they end, and exactly that where the copy is complete.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice, product

from assignor_lab.capture.topology.evidence import Ends
from assignor_lab.capture.topology.group_topology import Store

__all__ = ["contradicted", "fitting"]

#: Ways to choose that are tried.
_MOST_TRIED = 64


def fitting(choices: Sequence[Sequence[Store]], sums: Mapping[int, Iterable[int]], ends: Ends) -> list[Store]:
    """One store of each choice: the first ways that no sum contradicts, of these the one that most sums equal.

    Without sums or ends the first of each choice. A way with a store whose changelog is unknown is left only for one
    that more sums equal than any other, or that alone they do not contradict.

    Args:
        choices: For each store what it may be logged to, the most likely first.
        sums: Partition to the sums that members report.
        ends: Ends of changelogs' partitions.
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


def contradicted(stores: Sequence[Store], sums: Mapping[int, Iterable[int]], ends: Ends) -> bool:
    """Whether a member reports more of a task than the changelogs of its stores hold."""
    return _judged(stores, sums, ends(_partitions([stores], sums)))[0]


def _partitions(ways: Iterable[Sequence[Store]], numbers: Iterable[int]) -> list[tuple[str, int]]:
    topics = {store.changelog for way in ways for store in way if store.changelog is not None}
    return [(topic, number) for topic in sorted(topics) for number in numbers]


def _judged(
    way: Sequence[Store], sums: Mapping[int, Iterable[int]], ends: Mapping[tuple[str, int], int]
) -> tuple[bool, int]:
    """Whether a sum contradicts a way, and how many sums are exactly what its changelogs hold."""
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
