"""The client-side assignors of consumer groups beside the answers of Kafka's own classes, order included."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from assignment_api import AssignorLabError
from assignment_api.consumer import (
    ConsumerGroupState,
    ConsumerPartitionAssignor,
    ConsumerSubscription,
    ConsumerTopic,
    EmptyConsumerGroupError,
)
from assignment_api.plugins import discover
from assignor_lab.scenarios import read_scenarios
from builtin_assignors._consumer_sticky_steps import general

GOLDEN = Path(__file__).parents[1] / "data" / "golden" / "consumer"
ASSIGNORS = ("consumer_range", "consumer_roundrobin", "consumer_sticky", "consumer_cooperative_sticky")
FILES = (
    "consumer-edge",
    "consumer-small",
    "consumer-medium",
    "consumer-history-sticky",
    "consumer-history-cooperative",
)


def created(name: str) -> ConsumerPartitionAssignor:
    made = discover().partition_assignor("consumer-assignor", name).plugin.factory()
    assert isinstance(made, ConsumerPartitionAssignor)
    return made


def results(file: str, assignor: str) -> Iterator[Mapping[str, Any]]:
    with gzip.open(GOLDEN / f"{file}.{assignor}.results.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def answer(assignor: ConsumerPartitionAssignor, group: ConsumerGroupState) -> tuple[object, str | None]:
    try:
        made = assignor.assign(group)
    except AssignorLabError as error:
        return None, error.java_type
    return json.dumps({member: dict(held) for member, held in made.members.items()}), None


@pytest.mark.parametrize("assignor", ASSIGNORS)
@pytest.mark.parametrize("file", FILES)
def test_answers_are_kafkas_in_kafkas_order(file: str, assignor: str) -> None:
    ours = created(assignor)
    different = []
    rows = 0
    for scenario, row in zip(
        read_scenarios(GOLDEN / f"{file}.scenarios.jsonl.gz"), results(file, assignor), strict=True
    ):
        expected = (
            None if row["members"] is None else json.dumps(row["members"]),
            None if row["error"] is None else row["error"]["type"],
        )
        rows += 1
        if answer(ours, scenario.content) != expected:
            different.append(scenario.id)
    assert rows
    assert not different


@pytest.mark.parametrize(
    ("selector", "name"),
    [
        ("range", "consumer_range"),
        ("roundrobin", "consumer_roundrobin"),
        ("sticky", "consumer_sticky"),
        ("cooperative-sticky", "consumer_cooperative_sticky"),
        ("org.apache.kafka.clients.consumer.CooperativeStickyAssignor", "consumer_cooperative_sticky"),
        ("RangeAssignor", "consumer_range"),
    ],
)
def test_kafkas_own_names_select_them(selector: str, name: str) -> None:
    assert discover().partition_assignor("consumer-assignor", selector).name == name


def group(members: Mapping[str, ConsumerSubscription], sizes: Mapping[str, int]) -> ConsumerGroupState:
    return ConsumerGroupState({name: ConsumerTopic(name, size) for name, size in sizes.items()}, members)


def test_range_cuts_each_topic_and_round_robin_goes_on_from_topic_to_topic() -> None:
    state = group({each: ConsumerSubscription(["a", "b"]) for each in ("x", "y", "z")}, {"a": 4, "b": 4})
    assert created("consumer_range").assign(state).members["x"] == {"a": (0, 1), "b": (0, 1)}
    assert created("consumer_roundrobin").assign(state).members["x"] == {"a": (0, 3), "b": (2,)}


def test_a_cooperative_answer_leaves_out_what_must_be_revoked_first() -> None:
    owner = ConsumerSubscription(["a"], {"a": (0, 1, 2, 3)}, generation=1)
    state = group({"old": owner, "new": ConsumerSubscription(["a"], {}, generation=-1)}, {"a": 4})
    answered = created("consumer_cooperative_sticky").assign(state).members
    assert answered["old"] == {"a": (0, 1)}
    assert answered["new"] == {}
    second = group(
        {"old": ConsumerSubscription(["a"], {"a": (0, 1)}, 2), "new": ConsumerSubscription(["a"], {}, 2)}, {"a": 4}
    )
    assert created("consumer_cooperative_sticky").assign(second).members["new"] == {"a": (2, 3)}


def test_an_empty_group_is_an_error_of_round_robin_alone() -> None:
    empty = group({}, {"a": 1})
    assert created("consumer_range").assign(empty).members == {}
    with pytest.raises(EmptyConsumerGroupError):
        created("consumer_roundrobin").assign(empty)


def test_members_without_a_subscription_get_nothing_from_range() -> None:
    state = group({"x": ConsumerSubscription([]), "y": ConsumerSubscription(["unknown"])}, {"a": 1})
    assert created("consumer_range").assign(state).members == {"x": {}, "y": {}}


@pytest.mark.parametrize("assignor", ["consumer_sticky", "consumer_cooperative_sticky"])
def test_the_quick_test_of_balance_decides_as_kafkas_own(assignor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    every = read_scenarios(GOLDEN / "consumer-small.scenarios.jsonl.gz")
    states = [scenario.content for scenario in islice(every, 200)]
    ours = created(assignor)
    quick = [answer(ours, state) for state in states]
    monkeypatch.setattr(general._Placing, "_is_regular", lambda _placing: False)
    assert [answer(ours, state) for state in states] == quick


def test_a_large_group_with_unequal_subscriptions_is_decided_in_time() -> None:
    """Kafka's own loop takes minutes for former owners in groups of this shape."""
    topics = [f"t{number:02d}" for number in range(40)]
    members = {
        f"m{number:03d}": ConsumerSubscription([each for place, each in enumerate(topics) if (place * 7 + number) % 3])
        for number in range(200)
    }
    state = group(members, dict.fromkeys(topics, 100))
    cold = created("consumer_sticky").assign(state)
    owned = {
        name: ConsumerSubscription(member.topics, cold.members[name] if number < 180 else {}, 1)
        for number, (name, member) in enumerate(members.items())
    }
    warm = created("consumer_cooperative_sticky").assign(group(owned, dict.fromkeys(topics, 100)))
    sizes = [sum(map(len, held.values())) for held in cold.members.values()]
    assert max(sizes) - min(sizes) <= 1
    assert sum(map(len, warm.members["m000"].values())) <= max(sizes) + 1
