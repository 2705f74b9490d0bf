"""Distributes changelog topics among sub-topologies with equal numbers of tasks.

Offset sums decide, if one distribution fits best. Otherwise the likeliest one is returned with all other possible ones.
A table may read its source topics back.

Time and memory grow with ``3 ** changelogs`` and ``2 ** sources``. :data:`_MOST_CHANGELOGS` and :data:`_MOST_SOURCES`
bound them: at most about a second for six sub-topologies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations

import attrs

from assignor_lab.capture.topology.description import SubTopologyKey
from assignor_lab.capture.topology.evidence import Ends

__all__ = ["Candidate", "Share", "shared_out"]

#: With more changelogs, not every distribution is tried.
_MOST_CHANGELOGS = 8
#: With more source topics, only single ones are tried.
_MOST_SOURCES = 4
_MOST_POSSIBLE = 64

_EndsOfTopics = Mapping[str, tuple[int, ...]]
#: The weightiest first; added up over all sub-topologies.
_Points = tuple[int, ...]


@attrs.frozen
class Candidate:
    """A sub-topology with changelogs.

    Args:
        sources: Topics that a table may read back.
        own: Changelogs that are certainly its own.
        sums: Partition to the members' sums.
    """

    tasks: int
    sources: tuple[str, ...]
    read: tuple[str, ...]
    own: tuple[str, ...]
    sums: Mapping[int, tuple[int, ...]]


@attrs.frozen
class Share:
    """The changelogs of a sub-topology.

    Args:
        topics: Certain, or the likeliest ones.
        is_certain: True if sums fit no other distribution as well, except for changelogs with equal ends.
        is_only: True if there are no such changelogs.
        possible: The likeliest first; one of those with equal ends.
    """

    topics: tuple[str, ...]
    is_certain: bool
    is_only: bool
    possible: tuple[tuple[str, ...], ...]


def shared_out(
    candidates: Mapping[SubTopologyKey, Candidate], changelogs: Sequence[str], ends: Ends
) -> dict[SubTopologyKey, Share]:
    """Empty without a distribution, with unknown ends, or too many distributions.

    If not every distribution can be tried, no share is certain. A member never reports more than its changelogs hold,
    and exactly that for a complete copy. Some changelogs may be of earlier applications.
    """
    known = _ends_of(candidates, changelogs, ends)
    if len(changelogs) > _MOST_CHANGELOGS:
        return _roughly(candidates, changelogs, known)
    return _shared_out(candidates, changelogs, known)


def _roughly(
    candidates: Mapping[SubTopologyKey, Candidate], changelogs: Sequence[str], known: _EndsOfTopics
) -> dict[SubTopologyKey, Share]:
    """With too many changelogs: first those with the same ends as an input."""
    alike: dict[SubTopologyKey, list[str]] = {key: [] for key in candidates}
    for name in changelogs:
        read = {key: [known[topic] for topic in each.read if topic in known] for key, each in candidates.items()}
        fitting = [key for key in candidates if name in known and _plausible(known[name], read[key])[1]]
        if len(fitting) == 1:
            alike[fitting[0]].append(name)
    taken = {name for names in alike.values() for name in names}
    left = [name for name in changelogs if name not in taken]
    if len(left) > _MOST_CHANGELOGS:
        return {}
    with_own = {key: attrs.evolve(each, own=(*each.own, *alike[key])) for key, each in candidates.items()}
    found = _shared_out(with_own, left, known)
    return {key: attrs.evolve(share, is_certain=False) for key, share in found.items()}


def _shared_out(
    candidates: Mapping[SubTopologyKey, Candidate], changelogs: Sequence[str], known: _EndsOfTopics
) -> dict[SubTopologyKey, Share]:
    options = {key: list(_options(each, changelogs, known)) for key, each in candidates.items()}
    by_sums = _best(options, len(changelogs), lambda option: option.points[:2], (0, 0))
    likeliest = _best(options, len(changelogs), lambda option: option.points, (0, 0, -1, 0, 0))
    if not likeliest:
        return {}
    found = {}
    for key, ways in likeliest.items():
        fitting = by_sums[key]
        is_certain = len({(way.held, way.again) for way in fitting}) == 1 and all(way.points[0] for way in fitting)
        chosen = min(fitting if is_certain else ways, key=lambda way: len(way.topics))
        possible = {chosen.held: chosen.topics, **{way.held: way.topics for way in options[key]}}
        topics = list(possible.values())
        found[key] = Share(chosen.topics, is_certain, len(fitting) == 1, tuple(topics[:_MOST_POSSIBLE]))
    return found


@attrs.frozen
class _Option:
    """Topics that may be the changelogs of one sub-topology.

    Args:
        mask: Its distributed changelogs, as bits.
        again: Its source topics, as bits.
        held: Ends of its partitions, all topics together.
        points: Complete copies, complete copies without a transaction's marker, implausible changelogs (negative),
        source topics that are read back (negative), and changelogs with the same ends as an input.
    """

    topics: tuple[str, ...]
    mask: int
    again: tuple[str, ...]
    held: tuple[int, ...]
    points: _Points


def _ends_of(candidates: Mapping[SubTopologyKey, Candidate], changelogs: Sequence[str], ends: Ends) -> _EndsOfTopics:
    """Leaves out topics with an unknown end."""
    count = max((each.tasks for each in candidates.values()), default=0)
    topics = {*changelogs, *(topic for each in candidates.values() for topic in (*each.read, *each.own))}
    known = ends((topic, number) for topic in sorted(topics) for number in range(count))
    found = {}
    for topic in sorted(topics):
        of_topic = [known.get((topic, number)) for number in range(count)]
        # A topic can have fewer partitions than a sub-topology has tasks.
        if of_topic and of_topic[0] is not None:
            found[topic] = tuple(end or 0 for end in of_topic)
    return found


def _options(candidate: Candidate, changelogs: Sequence[str], known: _EndsOfTopics) -> Iterator[_Option]:
    """Without a contradicting sum."""
    names = [name for name in changelogs if name in known]
    bits = {name: 1 << changelogs.index(name) for name in names}
    back = [topic for topic in candidate.sources if topic in known]
    most_back = len(back) if len(back) <= _MOST_SOURCES else 1
    own = [name for name in candidate.own if name in known]
    read = [known[topic] for topic in candidate.read if topic in known]
    plausible = {name: _plausible(known[name], read) for name in (*own, *names)}
    for taken in _subsets(names, len(names)):
        for again in _subsets(back, most_back):
            topics = (*own, *taken, *again)
            if not topics:
                continue
            held = tuple(map(sum, zip(*(known[topic] for topic in topics), strict=True)))
            copies = _copies(candidate.sums, held, len(topics))
            if copies is not None:
                odd = sum(plausible[name][0] for name in taken)
                alike = sum(plausible[name][1] for name in taken)
                points = (*copies, -odd, -len(again), alike)
                yield _Option(topics, sum(bits[name] for name in taken), again, held, points)


def _subsets(names: Sequence[str], most: int) -> Iterator[tuple[str, ...]]:
    for count in range(most + 1):
        yield from combinations(names, count)


def _copies(sums: Mapping[int, tuple[int, ...]], held: Sequence[int], topics: int) -> tuple[int, int] | None:
    """Number of complete copies, and of those with exactly that end; ``None`` if a sum is larger.

    The last record may be a transaction's marker, which no sum counts.
    """
    near = exact = 0
    for number, reported in sums.items():
        end = held[number]
        if max(reported) > end:
            return None
        near += sum(each > 0 and end - each <= topics for each in reported)
        exact += sum(each == end and end > 0 for each in reported)
    return near, exact


def _plausible(changelog: Sequence[int], read: Sequence[Sequence[int]]) -> tuple[bool, bool]:
    """True if a changelog has records without an input; True if it ends exactly where inputs end."""
    if not read:
        return False, False
    in_all = list(map(sum, zip(*read, strict=True)))
    is_odd = any(end > 0 and not before for end, before in zip(changelog, in_all, strict=True))
    sums = [in_all, *read]
    return is_odd, any(changelog) and any(list(changelog) == list(each) for each in sums)


# --- the best ways of all sub-topologies together ---------------------------------------------------------


def _best(
    options: Mapping[SubTopologyKey, Sequence[_Option]],
    changelogs: int,
    points_of: Callable[[_Option], _Points],
    left_over: _Points,
) -> dict[SubTopologyKey, list[_Option]]:
    """For each sub-topology its options in a best distribution, in which no two share a changelog.

    Args:
        left_over: Points of each unused changelog.
    """
    of_masks = [_best_of_masks(each, points_of) for each in options.values()]
    before = [{0: tuple(0 for _ in left_over)}]
    for each in of_masks:
        before.append(_one_more(before[-1], each))
    everything = (1 << changelogs) - 1
    # From the end, a mask holds the free changelogs.
    after = [{mask: tuple(points * mask.bit_count() for points in left_over) for mask in range(everything + 1)}]
    for each in reversed(of_masks):
        after.append(_one_more(after[-1], each))
    after.reverse()
    if everything not in after[0]:
        return {}
    best = after[0][everything]
    found = {}
    for place, key in enumerate(options):
        # For each mask of this sub-topology.
        others = {mask: _others(before[place], after[place + 1], everything & ~mask) for mask in of_masks[place]}
        found[key] = [
            option
            for option in options[key]
            if (rest := others[option.mask]) is not None and _added(rest, points_of(option)) == best
        ]
    return found


def _others(before: Mapping[int, _Points], after: Mapping[int, _Points], free: int) -> _Points | None:
    """Sub-topologies before and after one that leaves these changelogs free."""
    return max(
        (
            _added(points, after[free & ~mask])
            for mask, points in before.items()
            if not mask & ~free and free & ~mask in after
        ),
        default=None,
    )


def _best_of_masks(options: Sequence[_Option], points_of: Callable[[_Option], _Points]) -> dict[int, _Points]:
    found: dict[int, _Points] = {}
    for option in options:
        points = points_of(option)
        found[option.mask] = max(points, found.get(option.mask, points))
    return found


def _one_more(ways: Mapping[int, _Points], options: Mapping[int, _Points]) -> dict[int, _Points]:
    """Best points of each union of masks."""
    found: dict[int, _Points] = {}
    for mask, points in ways.items():
        for own, more in options.items():
            if not mask & own:
                together = _added(points, more)
                found[mask | own] = max(together, found.get(mask | own, together))
    return found


def _added(one: _Points, other: _Points) -> _Points:
    return tuple(map(sum, zip(one, other, strict=True)))
