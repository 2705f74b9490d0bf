"""The coordinator's assignors for consumer groups and share groups beside recorded answers of Kafka's classes.

A digest covers the members with their topics and partitions in Kafka's order, or the type of the exception.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from assignment_api.consumer import (
    ConsumerGroupPartitionAssignor,
    PartitionAssignorError,
    PartitionOutOfRangeError,
    ShareGroupPartitionAssignor,
    SubscribedGroup,
    SubscribedMember,
    SubscribedTopic,
    UnfilledMembersExhaustedError,
)
from builtin_assignors.consumer_group_range import ConsumerGroupRangeAssignor
from builtin_assignors.consumer_group_uniform import ConsumerGroupUniformAssignor
from builtin_assignors.share_simple import ShareSimpleAssignor
from tests.builtin_assignors.golden import DATA, documents

GOLDEN = DATA / "golden" / "consumer"
ASSIGNORS: dict[str, ConsumerGroupPartitionAssignor | ShareGroupPartitionAssignor] = {
    "consumer_group_uniform": ConsumerGroupUniformAssignor(),
    "consumer_group_range": ConsumerGroupRangeAssignor(),
    "share_simple": ShareSimpleAssignor(),
}
FILES = [
    (f"{kind}-{size}", name, rows)
    for kind, size, rows, names in (
        ("group", "small", 2_200, ("consumer_group_uniform", "consumer_group_range")),
        ("group", "history", 1_550, ("consumer_group_uniform", "consumer_group_range")),
        ("group", "large", 8, ("consumer_group_uniform", "consumer_group_range")),
        ("share", "small", 2_200, ("share_simple",)),
        ("share", "history", 1_544, ("share_simple",)),
        ("share", "large", 8, ("share_simple",)),
    )
    for name in names
]
BYTES = 6


def group_of(document: Any) -> SubscribedGroup:
    return SubscribedGroup(
        topics={
            each["id"]: SubscribedTopic(each["id"], each["name"], each["partitions"]) for each in document["topics"]
        },
        members={
            each["id"]: SubscribedMember(
                each["topics"], each.get("regex"), each["instance_id"], each["rack"], each["assigned"]
            )
            for each in document["members"]
        },
        regexes=document.get("regexes") or {},
        assignable=document.get("assignable"),
    )


def digest(document: Any, name: str) -> bytes:
    members = error = None
    try:
        answer = ASSIGNORS[name].assign(group_of(document))
        members = {
            member: {topic: list(held) for topic, held in each.items()} for member, each in answer.members.items()
        }
    except (PartitionAssignorError, PartitionOutOfRangeError, UnfilledMembersExhaustedError) as refused:
        error = refused.java_type
    row = {"id": document["id"], "assignor": name, "members": members, "error": error}
    return hashlib.sha256(json.dumps(row, separators=(",", ":")).encode()).digest()[:BYTES]


@pytest.mark.slow
@pytest.mark.parametrize(("file", "name", "rows"), FILES)
def test_every_golden_group_has_kafkas_answer_in_kafkas_order(file: str, name: str, rows: int) -> None:
    expected = (GOLDEN / f"{file}.{name}.digests").read_bytes()
    found = documents(GOLDEN / f"{file}.scenarios.jsonl.gz")
    assert len(found) == rows
    assert len(expected) == rows * BYTES
    assert [
        document["id"]
        for number, document in enumerate(found)
        if digest(document, name) != expected[number * BYTES : (number + 1) * BYTES]
    ] == []
