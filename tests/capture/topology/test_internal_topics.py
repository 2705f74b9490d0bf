"""Owner of an internal topic if one application's name begins with another's."""

from __future__ import annotations

from pathlib import Path

import pytest

from assignment_api.streams import TaskId
from assignor_lab.capture.live.group_recording import GroupRecording
from assignor_lab.capture.topology.evidence import Brokers, Members
from assignor_lab.capture.topology.group_topology import Topic
from assignor_lab.capture.topology.inference import inferred
from assignor_lab.capture.topology.internal_topics import feeds_store, is_internal_of

GROUPS = ("orders", "orders-eu", "orders-eu-test", "payments")
TOPICS = ("orders-counts-changelog", "orders-eu-counts-changelog", "orders-eu-in", "orders-eu-test-by-city-repartition")


@pytest.mark.parametrize(
    ("group", "own"), [("orders", TOPICS[:1]), ("orders-eu", TOPICS[1:2]), ("orders-eu-test", TOPICS[3:])]
)
def test_a_topic_is_that_of_the_longest_name_that_fits(group: str, own: tuple[str, ...], tmp_path: Path) -> None:
    assert tuple(topic for topic in TOPICS if is_internal_of(topic, group, GROUPS)) == own
    assert tuple(GroupRecording(tmp_path, group, 0).topics_among(TOPICS, GROUPS)) == own


def test_without_knowing_the_other_groups_the_beginning_of_the_name_is_all_there_is() -> None:
    assert [is_internal_of(topic, "orders") for topic in TOPICS] == [True, True, False, True]


def test_changelogs_of_an_application_with_a_longer_name_are_not_taken() -> None:
    topics = {topic: Topic({0: (), 1: ()}) for topic in TOPICS}
    tasks = (TaskId(0, 0), TaskId(0, 1))
    members = Members(tasks, {(None, 0): ("in",)}, logged={(None, 0): True})
    topology = inferred("orders", members, Brokers(topics.get, frozenset(topics), GROUPS))
    assert topology.subtopologies[None, 0].changelogs == ("orders-counts-changelog",)


def test_names_show_the_topic_that_fills_a_store() -> None:
    numbered = [f"KTABLE-FK-JOIN-SUBSCRIPTION-REGISTRATION-{number:010}-topic" for number in (4, 20)]
    store = "KTABLE-FK-JOIN-SUBSCRIPTION-STATE-STORE-0000000024"
    assert [feeds_store(topic, store, numbered) for topic in numbered] == [False, True]
    assert feeds_store("join-subscription-registration-topic", "join-subscription-store")
    assert feeds_store("counts-repartition", "counts")
    assert not feeds_store("join-subscription-registration-topic", "join")
    assert not feeds_store("counts", "counts")
