"""Failing assignors of brokers: the group continues, as with Kafka, and loses the requesting client."""

from __future__ import annotations

from typing import Any

from assignment_api.group import GroupAssignment, GroupSpec, MemberAssignment, TopologyDescriber
from assignor_lab.kafka.streams_group.releases import KAFKA_4_4
from assignor_lab.simulation.streams.leading import BrokersAssignor, LeaderFailedError
from assignor_lab.simulation.streams.safety.rules import broken_rules
from assignor_lab.simulation.streams.simulate import PlayedStreamsEpisode, simulate
from tests.simulation.streams.episodes import episode, happens, started

TIMINGS = {
    "streams_heartbeat_interval_ms": 3_000, "streams_session_timeout_ms": 10_000, "acknowledge_ms": 100, "leave_ms": 50,
    "acknowledge_new_ms": 100, "acknowledge_loop_ms": 100,
}  # fmt: skip


def to_the_first(group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
    """Everything to the member with the smallest id."""
    tasks = {name: range(topology.max_num_input_partitions(name)) for name in topology.subtopologies()}
    first = min(group.members)
    return GroupAssignment({each: MemberAssignment(tasks if each == first else {}, {}, {}) for each in group.members})


def small_groups_alone(group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
    if len(group.members) > 2:
        raise LeaderFailedError("assignor crowded gave no answer: ValueError: too many of you")
    return to_the_first(group, topology)


def happened(*events: dict[str, Any]) -> PlayedStreamsEpisode:
    world = episode(list(events), protocol="streams", timings=TIMINGS)
    return simulate(world, BrokersAssignor("crowded", KAFKA_4_4, small_groups_alone))


def said(played: PlayedStreamsEpisode, event: str) -> list[tuple[int, str]]:
    return [(entry.time_ms, entry.actor) for entry in played.world.log.entries if entry.event == event]


def member(name: str, member_id: str, at_ms: int, **settings: Any) -> dict[str, Any]:
    return started(name, at_ms, member_ids=[member_id], **settings)


def test_a_join_that_needs_a_target_that_there_is_not_has_not_happened_and_its_client_closes() -> None:
    played = happened(member("a", "1", 0), member("b", "2", 10_000), member("c", "3", 30_000))
    assert [(at_ms - played.world.begin_ms, message[-15:]) for at_ms, message in played.failures] == [
        (31_000, "too many of you")
    ]
    assert said(played, "stop") == [(31_000, "c")]
    # Two are left, with their old target; no session of c ends, because it was never a member.
    assert [generation.members for generation in played.generations] == [1, 2]
    assert said(played, "removed") == []
    assert {owner for run in played.world.ledger.runs for *_, owner in run} == {"a"}
    assert [each.rule for each in broken_rules(played)] == ["answers"]


def test_nobody_loses_a_task_to_an_answer_that_fails_but_one_client_after_the_other_ends() -> None:
    """b's two threads join at once, the second one in the assignment interval, in which no assignor is called yet."""
    played = happened(member("a", "1", 0), started("b", 10_000, threads=2, member_ids=["2", "3"]))
    # The next heartbeat after a second is a's: a ends, but is still a member at b's heartbeat.
    closed = said(played, "stop")
    assert [actor for _, actor in closed] == ["a", "b"]
    assert [at_ms - played.world.begin_ms for at_ms, _ in played.failures] == [at_ms for at_ms, _ in closed]
    assert {run[1] for runs in played.world.ledger.runs for run in runs} == {closed[0][0] + played.world.begin_ms}
    # They did not leave: their sessions end, counted from the last successful heartbeats.
    removed = [at_ms for at_ms, _ in said(played, "removed")]
    assert removed == [closed[0][0] - 3_000 + 10_000, closed[1][0] - 3_000 + 10_000, 11_200 + 10_000]


def test_a_static_member_whose_return_fails_is_still_waited_for() -> None:
    static = [member("a", "1", 0), member("b", "2", 10_000), member("c", "3", 10_100)]
    back = [happens("stop", "b", 60_000), happens("lose_disk", "b", 60_100), member("b", "4", 61_000)]
    world = episode(
        [{**each, "instance_id": each["client"]} if each["type"] == "start" else each for each in [*static, *back]],
        protocol="streams", timings={**TIMINGS, "assignment_interval_ms": 0},
    )  # fmt: skip

    def not_that_one(group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
        if "4" in group.members:
            raise LeaderFailedError("assignor moody gave no answer: ValueError: not you")
        return to_the_first(group, topology)

    played = simulate(world, BrokersAssignor("moody", KAFKA_4_4, not_that_one))
    assert [at_ms - played.world.begin_ms for at_ms, _ in played.failures] == [62_000]
    # Its predecessor's session ends as if there had been no attempt, counted from its last heartbeat.
    assert said(played, "removed") == [(59_100 + 10_000, "coordinator")]
    assert played.generations[-1].members == 2
