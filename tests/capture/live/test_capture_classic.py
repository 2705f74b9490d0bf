from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import attrs
import pytest

from assignor_lab.capture.live.classic import classic_document, unsettled
from assignor_lab.capture.live.errors import GroupUnusableError
from assignor_lab.capture.recorded.broker_answers import ClusterAnswer, DescribedGroup, TopicPartition
from assignor_lab.capture.recorded.states import RecordedState
from assignor_lab.scenarios import Place, scenario_from_document
from tests.capture.recorded.groups import recording, states

APPLICATIONS = ["plain", "plain-ha", "tagged", "warm", "orders-2"]


@cache
def recorded(application: str) -> tuple[RecordedState, ...]:
    found, _ = states(application)
    return tuple(state for state in found if unsettled(state.seen.answer) is None)


def reports_state(state: RecordedState) -> bool:
    said = [member.subscription for member in state.seen.answer.members]
    return any(subscription is not None and subscription.info.task_offset_sums for subscription in said)


def cluster(application: str, at_ms: int) -> ClusterAnswer:
    answers = [answer for _, answer in recording(application).clusters]
    topics = {name: partitions for answer in answers for name, partitions in answer.topics.items()}
    return ClusterAnswer(answers[-1].racks, topics)


def nothing(_: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
    return {}


def always(number: int) -> Any:
    return lambda partitions: dict.fromkeys(partitions, number)


def captured(application: str, state: RecordedState, ends: Any = nothing, sizes: Any = nothing) -> dict[str, Any]:
    time_ms = state.seen.time_ms
    return classic_document(state.seen.answer, cluster(application, time_ms), time_ms, ends, sizes, ())


@pytest.mark.parametrize("application", APPLICATIONS)
def test_a_described_group_tells_what_the_leaders_log_tells(application: str) -> None:
    telling = [state for state in recorded(application) if reports_state(state)]
    assert len(telling) >= 2
    for state in telling:
        document = captured(application, state)
        theirs = state.document["observed"]
        assert document["observed"]["assignment"] == theirs["assignment"]
        assert document["observed"]["followup"] == theirs["followup"]
        assert [task["id"] for task in document["tasks"]] == [task["id"] for task in state.document["tasks"]]
        for ours, logged in zip(document["clients"], state.document["clients"], strict=True):
            assert {**ours, "lags": None} == {**logged, "lags": None}


def test_a_captured_group_is_a_scenario() -> None:
    state = recorded("plain")[-1]
    document = captured("plain", state, always(10_000), always(77))
    scenario = scenario_from_document(document, Place("here", 1))
    assert scenario.application.compute_task_lags()


def test_lags_are_the_ends_less_what_was_reported() -> None:
    state = recorded("plain")[-1]
    document = captured("plain", state, always(1_000_000))
    (client, *_) = document["clients"]
    reported = {
        str(task): offset
        for member in state.seen.answer.members
        if member.subscription is not None and str(member.subscription.info.process_id) == client["process_id"]
        for task, offset in member.subscription.info.task_offset_sums.items()
    }
    stores = {task["id"]: len(task["stores"]) for task in document["tasks"] if task["logged"]}
    expected = {
        task: reported[task] if reported.get(task, 0) < 0 else number * 1_000_000 - reported.get(task, 0)
        for task, number in stores.items()
    }
    assert client["lags"] == expected
    assert -2 in client["lags"].values()


def test_a_changelog_that_ends_before_what_is_reported_was_made_anew() -> None:
    document = captured("plain", recorded("plain")[-1], always(0))
    assert {lag for client in document["clients"] for lag in client["lags"].values()} <= {0, -2, -3}


def test_ends_that_may_not_be_seen_leave_lags_unknown() -> None:
    document = captured("plain", recorded("plain")[-1])
    assert {client["lags"] is None for client in document["clients"]} == {True}
    assert any("DESCRIBE on the topics" in sentence for sentence in document["assumptions"])


def test_sizes_are_the_workload_and_unknown_ones_are_left_out() -> None:
    state = recorded("plain")[-1]
    assert "workload" not in captured("plain", state)
    told = captured("plain", state, sizes=always(77))["workload"]["tasks"]
    assert {each["state_bytes"] % 77 for each in told.values()} == {0}


def test_a_group_that_hands_over_has_not_settled() -> None:
    (first, *_) = [state.seen.answer for state in recorded("plain")]
    assert unsettled(attrs.evolve(first, state="PreparingRebalance")) == "it is in state PreparingRebalance"
    silent = attrs.evolve(first.members[0], assignment=None)
    assert unsettled(attrs.evolve(first, members=(silent, *first.members[1:]))) is not None


def first_generation(application: str) -> DescribedGroup:
    state = recorded(application)[-1]
    members = []
    for member in state.seen.answer.members:
        assert member.subscription is not None
        assert member.assignment is not None
        said = attrs.evolve(member.subscription, info=attrs.evolve(member.subscription.info, task_offset_sums={}))
        given = attrs.evolve(member.assignment, info=attrs.evolve(member.assignment.info, standby_tasks={}))
        members.append(attrs.evolve(member, subscription=said, assignment=given))
    return attrs.evolve(state.seen.answer, members=tuple(members))


def test_topics_that_may_not_be_seen_leave_lags_unknown() -> None:
    fresh = first_generation("plain")
    document = classic_document(fresh, ClusterAnswer({1: None}, {}), 0, always(1), always(1), ())
    assert {client["lags"] is None for client in document["clients"]} == {True}
    assert any(sentence.startswith("topics may not be seen") for sentence in document["assumptions"])


def test_before_anybody_reports_state_a_changelog_that_fits_nowhere_is_refused() -> None:
    fresh = first_generation("plain")
    topics = cluster("plain", 0)
    names = dict(topics.topics)
    names[f"{fresh.group}-more-changelog"] = dict.fromkeys(range(9_999), (1,))
    with pytest.raises(GroupUnusableError, match="give the topology with --topology"):
        classic_document(fresh, ClusterAnswer(topics.racks, names), 0, nothing, nothing, ())
