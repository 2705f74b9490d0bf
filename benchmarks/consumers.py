"""Time of the assignors of plain consumer groups at sizes of a large cluster.

`python -m benchmarks.consumers` prints processor time, the first call, for 1,000 members and 100,000 partitions in 100
topics: cold, with 900 members that own everything, with three racks, and with unequal subscriptions. Figures of Java
(JDK 17, Kafka 4.3.1) for the same shapes are beside them. `--grid` prints the grid of Kafka's own
`ConsumerAssignorBenchmark` instead: members, topics, sizes, racks, subscriptions, and the change before the call.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from time import process_time

from assignment_api.consumer import (
    ConsumerGroupState,
    ConsumerPartitionAssignor,
    ConsumerSubscription,
    ConsumerTopic,
    PartitionAssignment,
)
from assignment_api.plugins import Policy, discover
from assignor_lab.kafka.wire.consumer import StickyUserData, encode_sticky_user_data

ASSIGNORS = ("consumer_range", "consumer_roundrobin", "consumer_sticky", "consumer_cooperative_sticky")
#: Kafka's milliseconds by shape, in the order of the assignors; None: no answer in 420 s, or not measured.
JAVA: Mapping[str, Sequence[int | None]] = {
    "cold": (243, 136, 196, 145),
    "warm": (148, 148, 753, 640),
    "racks": (393, 78, 1_544, 1_732),
    "unequal": (74, 169, 20_330, None),
    "unequal, warm": (None, None, None, None),
}
_RACKS = ("a", "b", "c")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.consumers", description=__doc__)
    parser.add_argument("--members", type=int, default=1_000, help="of each group (%(default)s)")
    parser.add_argument("--topics", type=int, default=100, help="with as many partitions as members (%(default)s)")
    parser.add_argument("--grid", action="store_true", help="the grid of Kafka's own benchmark")
    options = parser.parse_args()
    registry = discover(Policy(allow=()))
    found = {name: registry.partition_assignor("consumer-assignor", name).plugin.factory() for name in ASSIGNORS}
    if options.grid:
        return _grid(found)
    print(f"| {options.members:,} members, {options.members * options.topics:,} partitions | ours ms | Java ms |")
    print("|---|---|---|")
    for shape, state in _shapes(options.members, options.topics, found["consumer_cooperative_sticky"]):
        for name, java in zip(ASSIGNORS, JAVA[shape], strict=True):
            shown = "–" if java is None or options.members != 1_000 else f"{java:,}"
            print(f"| {shape}, `{name}` | {_milliseconds(found[name], state):,.0f} | {shown} |", flush=True)
    return 0


def _milliseconds(assignor: object, state: ConsumerGroupState) -> float:
    assert isinstance(assignor, ConsumerPartitionAssignor)
    start = process_time()
    assignor.assign(state)
    return (process_time() - start) * 1_000


def _shapes(members: int, topics: int, sticky: object) -> Iterator[tuple[str, ConsumerGroupState]]:
    assert isinstance(sticky, ConsumerPartitionAssignor)
    sizes = {f"topic-{number:03d}": members for number in range(topics)}
    all_topics = [tuple(sizes)] * members
    some_topics = [
        tuple(name for place, name in enumerate(sizes) if (place * 7 + number * 3) % 10 >= number % 7)
        for number in range(members)
    ]
    settled = members * 9 // 10
    yield "cold", _group(sizes, all_topics)
    yield "warm", _group(sizes, all_topics, sticky.assign(_group(sizes, all_topics[:settled])))
    yield "racks", _group(sizes, all_topics, racks=True)
    unequal = _group(sizes, some_topics)
    yield "unequal", unequal
    yield "unequal, warm", _group(sizes, some_topics, sticky.assign(unequal), settled)


def _group(
    sizes: Mapping[str, int],
    subscriptions: Sequence[tuple[str, ...]],
    held: PartitionAssignment | None = None,
    reporting: int | None = None,
    *,
    racks: bool = False,
) -> ConsumerGroupState:
    owned = {} if held is None else held.members
    topics = {
        name: ConsumerTopic(
            name, size, tuple((_RACKS[each % 3], _RACKS[(each + 1) % 3]) for each in range(size)) if racks else None
        )
        for name, size in sizes.items()
    }
    members = {}
    for number, listed in enumerate(subscriptions):
        member = f"consumer-{number}-{number * 2_654_435_761 % 2**32:08x}"
        has_past = member in owned and (reporting is None or number < reporting)
        members[member] = ConsumerSubscription(
            listed,
            owned[member] if has_past else {},
            1 if has_past else None,
            _user_data(owned[member]) if has_past else None,
            rack_id=_RACKS[number % 3] if racks else None,
        )
    return ConsumerGroupState(topics, members)


def _user_data(owned: Mapping[str, Sequence[int]]) -> bytes:
    partitions = tuple((topic, number) for topic, numbers in owned.items() for number in numbers)
    return encode_sticky_user_data(StickyUserData(partitions, 1))


def _grid(found: Mapping[str, object]) -> int:
    heads = ("members", "topics", "partitions", "sizes", "racks", "subscriptions", "change", *ASSIGNORS)
    print(f"| {' | '.join(heads)} |")
    print("|" + "---|" * len(heads))
    for members in (50, 100, 500):
        for topics in (50, 100):
            for skew, racks in (("equal", False), ("skewed", False), ("equal", True)):
                sizes = _sizes(topics, members // 5, skew)
                for model in ("homogeneous", "disjoint", "nested"):
                    for change, state in _changes(found, sizes, members, model, racks=racks):
                        times = " | ".join(f"{_milliseconds(found[name], state):,.1f}" for name in ASSIGNORS)
                        shape = f"{members} | {topics} | {sum(sizes.values()):,} | {skew} | {'yes' if racks else 'no'}"
                        print(f"| {shape} | {model} | {change} | {times} |", flush=True)
    return 0


def _sizes(topics: int, size: int, skew: str) -> dict[str, int]:
    """Topics of one size, or with half of all partitions in the first of them."""
    if skew == "equal":
        return {f"topic-{number:03d}": size for number in range(topics)}
    half = topics * size // 2
    return {f"topic-{number:03d}": half if number == 0 else max(1, half // (topics - 1)) for number in range(topics)}


def _changes(
    found: Mapping[str, object], sizes: Mapping[str, int], members: int, model: str, *, racks: bool
) -> Iterator[tuple[str, ConsumerGroupState]]:
    """A state for each change before the call."""
    sticky = found["consumer_cooperative_sticky"]
    assert isinstance(sticky, ConsumerPartitionAssignor)
    lists = [_listed(model, list(sizes), number, members) for number in range(members)]
    held = sticky.assign(_group(sizes, lists, racks=racks))
    yield "full", _group(sizes, lists, racks=racks)
    yield "stable", _group(sizes, lists, held, racks=racks)
    yield "join", _group(sizes, [*lists, lists[0]], held, racks=racks)
    yield "leave", _group(sizes, lists[:-1], held, racks=racks)
    yield "partitions added", _group({name: each + each // 2 for name, each in sizes.items()}, lists, held, racks=racks)


def _listed(model: str, topics: Sequence[str], number: int, members: int) -> tuple[str, ...]:
    """Topics of a member: all; those of its fifth of the members; or more from member to member."""
    if model == "homogeneous":
        return tuple(topics)
    if model == "disjoint":
        return tuple(topics[number % 5 :: 5])
    return tuple(topics[: 1 + number * (len(topics) - 1) // max(members - 1, 1)])


if __name__ == "__main__":
    sys.exit(main())
