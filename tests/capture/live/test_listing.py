from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

import attrs
import pytest

from assignor_lab.capture.live.cluster import ConnectedCluster, ListedGroup
from assignor_lab.capture.live.errors import TooOldBrokerError
from assignor_lab.capture.live.listing import GroupSummary, list_groups
from assignor_lab.capture.recorded.broker_answers import ClusterAnswer, described_groups
from assignor_lab.capture.recorded.consumer_group_answers import DescribedPartitionGroup
from assignor_lab.capture.recorded.streams_group_answers import DescribedStreamsGroup, read_streams_group_answer
from tests.capture.captured_logs import CAPTURES

DESCRIBE_GROUPS, DESCRIBE_STREAMS_GROUP = 15, 89
PLAIN = "consumer (classic)"


def exchanges(file: str, key: int) -> list[tuple[bytes, int]]:
    with gzip.open(CAPTURES / file, "rt") as stream:
        lines = [json.loads(line) for line in stream]
    return [(bytes.fromhex(each["response_hex"]), each["api_version"]) for each in lines if each.get("api_key") == key]


@attrs.frozen
class Answering:
    listed: Sequence[ListedGroup]
    described: Sequence[Any] = ()
    streams: Sequence[DescribedStreamsGroup] | None = None
    names: Sequence[str] = ()
    partitions: Sequence[DescribedPartitionGroup] = ()
    committed: Mapping[str, Sequence[str]] = attrs.field(factory=dict)

    def groups(self) -> Sequence[ListedGroup]:
        return self.listed

    def classic_groups(self, names: Sequence[str]) -> list[Any]:
        return [group for group in self.described if group.group_id in names]

    def streams_groups(self, names: Sequence[str]) -> list[DescribedStreamsGroup]:
        if self.streams is None:
            raise TooOldBrokerError("too old")
        return [group for group in self.streams if group.group in names]

    def consumer_groups(self, names: Sequence[str]) -> list[DescribedPartitionGroup]:
        return [group for group in self.partitions if group.group in names and not group.is_share]

    def share_groups(self, names: Sequence[str]) -> list[DescribedPartitionGroup]:
        return [group for group in self.partitions if group.group in names and group.is_share]

    def committed_metadata(self, groups: Sequence[str]) -> Mapping[str, Sequence[str]]:
        return {group: told for group, told in self.committed.items() if group in groups}

    def topics(self) -> ClusterAnswer:
        return ClusterAnswer({}, {name: {} for name in self.names})


def summary(answering: Answering) -> GroupSummary:
    (told,) = list_groups(cast("ConnectedCluster", answering))
    return told


def stable(file: str) -> Any:
    groups = [group for data, version in exchanges(file, DESCRIBE_GROUPS) for group in described_groups(data, version)]
    return [group for group in groups if group.group_state == "Stable"][-1]


def test_a_classic_group_of_streams_tells_processes_tasks_and_generation() -> None:
    group = stable("plain/exchanges.jsonl.gz")
    told = summary(Answering([ListedGroup(group.group_id, "consumer", "classic", "Stable")], [group]))
    assert (told.kind, told.state, told.note) == ("streams (classic)", "Stable", "")
    assert (told.members, told.processes) == (2, 1)
    assert told.tasks
    assert told.generation


def test_brokers_that_do_not_list_types_are_understood() -> None:
    group = stable("plain/exchanges.jsonl.gz")
    new = Answering([ListedGroup(group.group_id, "consumer", "classic", "Stable")], [group])
    old = Answering([ListedGroup(group.group_id, "consumer", None, None)], [group])
    assert summary(old) == summary(new)


def test_a_group_that_rebalances_says_that_it_will_tell_later() -> None:
    group = stable("plain/exchanges.jsonl.gz")
    group.group_state = "PreparingRebalance"
    told = summary(Answering([ListedGroup(group.group_id, "consumer", "classic", "")], [group]))
    assert (told.tasks, told.state) == (None, "PreparingRebalance")
    assert "when it is stable" in told.note


@pytest.mark.parametrize(
    ("client", "kind"), [("i1-StreamThread-12-consumer", "streams (classic)"), ("consumer-app-1", "consumer (classic)")]
)
def test_a_group_in_a_rebalance_has_no_protocol_and_is_known_by_the_names_of_its_members(
    client: str, kind: str
) -> None:
    group = stable("plain/exchanges.jsonl.gz")
    group.group_state, group.protocol_data = "PreparingRebalance", ""
    for member in group.members:
        member.client_id, member.member_metadata, member.member_assignment = client, b"", b""
    told = summary(Answering([ListedGroup(group.group_id, "consumer", "classic", "")], [group], names=["in"]))
    assert (told.kind, told.members, told.tasks) == (kind, len(group.members), None)


def empty(name: str) -> tuple[ListedGroup, Any]:
    group = stable("plain/exchanges.jsonl.gz")
    group.group_id, group.members, group.group_state, group.protocol_data = name, [], "Empty", ""
    return ListedGroup(name, "consumer", "classic", "Empty"), group


def test_an_empty_group_is_known_by_what_streams_writes_beside_its_offsets() -> None:
    # From a stopped 4.3.1 application at a real broker; consumers leave it empty, or write other values.
    for metadata, kind in (("AgAAAaIFl1zD", "streams (classic)"), ("", PLAIN), ("AgAA", PLAIN), ("mine!", PLAIN)):
        listed, group = empty("app")
        told = summary(Answering([listed], [group], committed={"app": ["", metadata]}))
        assert told.kind == kind
        assert told.note == (kind != PLAIN) * "without members; its offsets were committed by Kafka Streams"


def test_a_group_that_is_listed_and_may_not_be_described_is_refused() -> None:
    told = summary(Answering([ListedGroup("app", "consumer", "classic", "Stable")]))
    assert told.is_refused
    assert told.note == "may not be described: DESCRIBE on the group is needed"


def test_internal_topics_of_another_application_make_no_group_one_of_streams() -> None:
    (orders, one), (other, two) = empty("orders"), empty("orders-eu")
    answering = Answering([orders, other], [one, two], names=["orders-eu-counts-changelog"])
    told = {each.id: (each.kind, each.note) for each in list_groups(cast("ConnectedCluster", answering))}
    assert told["orders"] == (PLAIN, "")
    assert told["orders-eu"] == (
        "streams (classic)",
        "without members; looks like one of Streams by topics that are called as its internal ones would be",
    )


@pytest.mark.parametrize(("topic", "kind"), [("app-counts-changelog", "streams (classic)"), ("in", PLAIN)])
def test_an_empty_group_is_one_of_streams_where_internal_topics_have_its_name(topic: str, kind: str) -> None:
    group = stable("plain/exchanges.jsonl.gz")
    group.group_id, group.members, group.group_state, group.protocol_data = "app", [], "Empty", ""
    told = summary(Answering([ListedGroup("app", "consumer", "classic", "Empty")], [group], names=[topic]))
    assert (told.kind, told.members) == (kind, 0)


def test_a_group_that_may_not_be_described_says_which_right_is_missing() -> None:
    group = stable("plain/exchanges.jsonl.gz")
    group.error_code = 30
    told = summary(Answering([ListedGroup(group.group_id, "consumer", "classic", "Stable")], [group]))
    assert "DESCRIBE on the group" in told.note


def test_a_group_of_the_streams_protocol_tells_its_epoch() -> None:
    (data, version), *_ = exchanges("orders-group-3/exchanges.jsonl.gz", DESCRIBE_STREAMS_GROUP)[-1:]
    (group,) = read_streams_group_answer(data, version)
    told = summary(Answering([ListedGroup(group.group, "streams", "streams", group.state)], streams=[group]))
    assert (told.kind, told.generation, told.members) == ("streams", group.epoch, len(group.members))


def test_brokers_that_cannot_describe_a_streams_group_say_so() -> None:
    told = summary(Answering([ListedGroup("app", "streams", "streams", "Stable")]))
    assert (told.kind, told.members, told.note) == ("streams", None, "too old")


def test_consumers_and_share_groups_have_kinds_of_their_own() -> None:
    listed = [ListedGroup("a", "consumer", "consumer", "Stable"), ListedGroup("b", "share", "share", "Empty")]
    assert [each.kind for each in list_groups(cast("ConnectedCluster", Answering(listed)))] == ["consumer", "share"]
