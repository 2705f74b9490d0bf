from __future__ import annotations

import pytest

from assignor_lab.capture.logs.logged_topics import LoggedTopics, restored_changelogs
from assignor_lab.capture.logs.restorations import Restored
from assignor_lab.capture.logs.timestamps import first_time

LINE = "Finished assignment for group at generation 1: {{m-1=Assignment(partitions=[{}], userDataSize=64), m-2={}}}"


def partitions(text: str) -> dict[str, int]:
    topics = LoggedTopics()
    topics.take("app", text)
    return {name: topic.partitions for name, topic in topics.sources("app").items()}


def test_every_assigned_partition_counts() -> None:
    line = LINE.format("a-0, b-one-2", "Assignment(partitions=[a-1, b-one-0], userDataSize=64)")
    assert partitions(line) == {"a": 2, "b-one": 3}


def test_topics_of_another_group_are_not_taken() -> None:
    topics = LoggedTopics()
    topics.take("other", LINE.format("a-0", ""))
    assert topics.sources("app") == {}


@pytest.mark.parametrize("text", ["", "a-0, a-", "-3", "a-x", "a-99999999999", "a-²"])
def test_what_is_no_partition_is_passed_over(text: str) -> None:
    assert partitions(LINE.format(text, "Assignment(partitions=[a-0, a-1")) in ({}, {"a": 1})


def test_a_store_that_was_restored_from_two_changelogs_is_unknown() -> None:
    time = first_time("2026-11-24 00:16:48,068 INFO")
    assert time is not None
    restored = [
        Restored(time, client, "StateUpdater-1", topic, 0, store, 1)
        for client, topic, store in (
            ("i1", "a", "one"), ("i2", "b", "one"), ("i1", "c", "two"), ("other", "d", "two"), ("other", "e", "three"),
        )
    ]  # fmt: skip
    assert restored_changelogs(restored, ["i1", "i2"]) == {"one": None, "two": "c"}
