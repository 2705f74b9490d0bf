"""Assignors of consumer groups and share groups beside Kafka's classes: 1,000 members x 100,000 partitions.

`python -m benchmarks.plain_groups` generates the states of the reference: 100 topics of 1,000 partitions, equal or
unequal subscriptions, cold or after 900 of the 1,000 members had everything, and with three racks.
"""

from __future__ import annotations

import argparse
import base64
import statistics
import struct
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import attrs

from assignment_api.consumer import (
    ConsumerGroupPartitionAssignor,
    ConsumerGroupState,
    ConsumerPartitionAssignor,
    ShareGroupPartitionAssignor,
    SubscribedGroup,
)
from assignment_api.plugins import Registry, discover
from assignor_lab.kafka.wire.consumer import StickyUserData, encode_sticky_user_data
from assignor_lab.scenarios.formats.consumer import read_consumer, read_consumer_group, read_share_group
from benchmarks.pages import put_between
from parity.official import OfficialKafka, OfficialKafkaError

PAGE = Path(__file__).with_name("README.md")
BEGIN = "<!-- written by python -m benchmarks.plain_groups --write: begin -->"
END = "<!-- written by python -m benchmarks.plain_groups --write: end -->"

#: Times that the lab may take, as for the other assignors.
MOST_TIMES_JAVA = 10
_CALLS = 3
_READERS: Mapping[str, Callable[[Mapping[str, Any]], ConsumerGroupState | SubscribedGroup]] = {
    "consumer": read_consumer,
    "consumer-group": read_consumer_group,
    "share-group": read_share_group,
}
_RACKS = ("a", "b", "c")
_GENERATION = 5


@attrs.frozen
class Size:
    """Of a group."""

    members: int
    topics: int
    partitions: int

    @property
    def words(self) -> str:
        return f"{self.members:,} x {self.topics * self.partitions:,}"


LARGE = Size(1_000, 100, 1_000)


@attrs.frozen
class PlainPoint:
    """An assignor and the state of its group; ``state``: words of ``cold``, ``warm``, ``racks`` and ``unequal``."""

    assignor: str
    kind: str
    state: str


def points() -> Iterator[PlainPoint]:
    """The sticky assignors' general case is left out: it takes Kafka 20 s and more."""
    for assignor in ("consumer_range", "consumer_roundrobin", "consumer_sticky", "consumer_cooperative_sticky"):
        for state in ("cold", "warm", "racks", "unequal"):
            if state != "unequal" or assignor in ("consumer_range", "consumer_roundrobin"):
                yield PlainPoint(assignor, "consumer", state)
    for assignor in ("consumer_group_uniform", "consumer_group_range"):
        for state in ("cold", "warm", "unequal", "unequal warm"):
            yield PlainPoint(assignor, "consumer-group", state)
    for state in ("cold", "warm", "unequal", "unequal warm"):
        yield PlainPoint("share_simple", "share-group", state)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.plain_groups", description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", help="only assignors with this in their names")
    parser.add_argument("--write", action="store_true", help="put the table into benchmarks/README.md")
    options = parser.parse_args()
    registry = discover()
    lines = ["| assignor | state | Kafka ms | ours ms | ours / Kafka | at most 10x |", "|---|---|---:|---:|---:|---|"]
    try:
        for point in points():
            if options.only in point.assignor:
                lines.append(_line(point, *_measured(point, registry)))
                print(lines[-1], flush=True)
    except OfficialKafkaError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    if options.write:
        ended = f"{LARGE.words}, processor time, median of {_CALLS} calls after one."
        put_between(PAGE, BEGIN, "\n".join([*lines, "", ended]), END)
    return 0


def _line(point: PlainPoint, official_ms: float, own_ms: float) -> str:
    times = own_ms / official_ms
    holds = "yes" if times <= MOST_TIMES_JAVA else "**no**"
    return f"| `{point.assignor}` | {point.state} | {official_ms:,.0f} | {own_ms:,.0f} | {times:.1f} | {holds} |"


def _measured(point: PlainPoint, registry: Registry) -> tuple[float, float]:
    document = state_document(point, LARGE, registry)
    with OfficialKafka() as official:
        theirs = official.measured(document, point.assignor, warmup=1, repeat=_CALLS, patience_ms=60_000)
    ours = []
    for _ in range(_CALLS + 1):
        group, assignor = _READERS[point.kind](document), _assignor(point, registry)
        begin = time.process_time_ns()
        assignor.assign(group)  # type: ignore[arg-type]
        ours.append(time.process_time_ns() - begin)
    return statistics.median(theirs["times_ns"]) / 1e6, statistics.median(ours[1:]) / 1e6


def _assignor(
    point: PlainPoint, registry: Registry
) -> ConsumerPartitionAssignor | ConsumerGroupPartitionAssignor | ShareGroupPartitionAssignor:
    return registry.partition_assignor(f"{point.kind}-assignor", point.assignor).plugin.factory()


def state_document(point: PlainPoint, size: Size, registry: Registry) -> dict[str, Any]:
    """The scenario of a point."""
    chance = Random(f"plain-groups/{point.kind}")
    topics = _topics(chance, point, size)
    names = [str(topic["name"]) for topic in topics]
    members = []
    for number in range(size.members):
        listed = names if "unequal" not in point.state else sorted(chance.sample(names, max(1, len(names) // 2)))
        member: dict[str, Any] = {
            "id": f"consumer-{number}-{chance.getrandbits(128):032x}",
            "client_id": f"consumer-{number}",
            "instance_id": None,
            "rack": _RACKS[number % 3] if point.state == "racks" else None,
            "topics": listed,
        }
        if point.kind == "consumer":
            member.update(owned={}, generation=None, user_data=None)
        else:
            member["assigned"] = {}
        if point.kind == "consumer-group":
            member["regex"] = None
        members.append(member)
    document = {"format": 1, "kind": point.kind, "id": f"{point.assignor}-{point.state}", "topics": topics}
    if point.kind == "share-group":
        document["assignable"] = None
    if "warm" in point.state:
        _warm(point, {**document, "members": members[: size.members * 9 // 10]}, members, registry)
    return {**document, "members": members}


def _topics(chance: Random, point: PlainPoint, size: Size) -> list[dict[str, Any]]:
    topics: list[dict[str, Any]] = []
    for number in range(size.topics):
        topic: dict[str, Any] = {"name": f"topic-{number}", "partitions": size.partitions}
        if point.kind == "consumer":
            replicas = [[_RACKS[each % 3], _RACKS[(each + 1) % 3]] for each in range(size.partitions)]
            topic["racks"] = replicas if point.state == "racks" else None
        else:
            topic["id"] = base64.urlsafe_b64encode(chance.randbytes(16)).decode().rstrip("=")
        topics.append(topic)
    return topics


def _warm(point: PlainPoint, before: Mapping[str, Any], members: Sequence[dict[str, Any]], registry: Registry) -> None:
    """Members hold what the assignor gave to nine tenths of them."""
    answer = _assignor(point, registry).assign(_READERS[point.kind](before))  # type: ignore[arg-type]
    for member in members:
        held = {topic: list(numbers) for topic, numbers in answer.members.get(member["id"], {}).items()}
        if point.kind != "consumer":
            member["assigned"] = held
        elif point.assignor == "consumer_cooperative_sticky":
            user_data = struct.pack(">i", _GENERATION).hex()
            member.update(owned=held, generation=_GENERATION if held else None, user_data=user_data if held else None)
        elif held:
            partitions = tuple([(topic, number) for topic, numbers in held.items() for number in numbers])
            member["user_data"] = encode_sticky_user_data(StickyUserData(partitions, _GENERATION, 1)).hex()


if __name__ == "__main__":
    sys.exit(main())
