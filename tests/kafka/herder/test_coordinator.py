"""The coordinator of a group: join phases and sessions (Kafka: ``GroupMetadataManager``)."""

from __future__ import annotations

import attrs

from assignment_api.connect import ConnectProtocol
from assignor_lab.kafka.coordinator import (
    AddressedReply,
    Coordinator,
    CoordinatorState,
    JoinReply,
    JoinRequest,
    Refused,
    Synced,
    SyncRequest,
)


def join(worker: str, member_id: str | None = None, offers: object = b"") -> JoinRequest:
    return JoinRequest(worker, member_id, {ConnectProtocol.SESSIONED: offers}, 60_000, 10_000)


def stable(*workers: str) -> Coordinator:
    group = Coordinator(1_500)
    for worker in workers:
        group.join(0, join(worker))
    group.expire(3_000)
    for worker in workers:
        group.sync(3_000, SyncRequest(worker, 1, dict.fromkeys(workers) if worker == workers[0] else None))
    assert group.state is CoordinatorState.STABLE
    return group


def joined(replies: list[AddressedReply]) -> list[str]:
    return [reply.worker for reply in replies if isinstance(reply.body, JoinReply)]


def test_an_empty_group_waits_for_further_members_and_once_more_whenever_one_came() -> None:
    group = Coordinator(3_000)
    assert group.join(0, join("a")) == []
    assert group.join(100, join("b")) == []
    assert group.join_deadline() == 3_000
    assert group.expire(3_000) == []
    assert group.join_deadline() == 6_000
    assert group.expire(5_999) == []
    assert joined(group.expire(6_000)) == ["a", "b"]
    assert group.join_deadline() is None


def test_a_member_that_stays_alone_is_waited_for_once() -> None:
    group = Coordinator(3_000)
    assert group.join(0, join("a")) == []
    assert joined(group.expire(3_000)) == ["a"]


def test_a_static_member_that_is_back_within_its_session_gets_its_assignment_without_a_rebalance() -> None:
    group = Coordinator(3_000)
    first = attrs.evolve(join("a"), instance_id="a")
    group.join(0, first)
    group.expire(3_000)
    group.sync(3_000, SyncRequest("a", 1, {"a": "work"}))
    (reply,) = group.join(5_000, first)
    assert isinstance(reply.body, JoinReply)
    assert (reply.body.generation, group.state) == (1, CoordinatorState.STABLE)
    (synced,) = group.sync(5_000, SyncRequest(reply.body.member_id, 1))
    assert isinstance(synced.body, Synced)
    assert synced.body.assignment == "work"
    assert group.join(6_000, join("a", "a"))[0].body == Refused("unknown_member")


def test_a_static_member_that_does_not_join_again_keeps_its_place_while_its_session_lasts() -> None:
    group = Coordinator(3_000)
    for name in ("a", "b"):
        group.join(0, attrs.evolve(join(name), instance_id=name, session_timeout_ms=100_000))
    group.expire(6_000)
    group.sync(6_000, SyncRequest("a", 1, {"a": "x", "b": "y"}))
    group.join(10_000, attrs.evolve(join("a", "a", b"new"), instance_id="a"))
    deadline = group.join_deadline()
    assert deadline is not None
    assert joined(group.expire(deadline)) == ["a"]
    assert set(group.members()) == {"a", "b"}


def test_a_member_of_which_nothing_is_heard_is_gone_after_its_session_timeout() -> None:
    group = stable("a", "b")
    group.heartbeat(9_000, "a")
    assert group.next_deadline() == 13_000
    group.expire(12_999)
    assert set(group.members()) == {"a", "b"}
    group.expire(13_000)
    assert set(group.members()) == {"a"}
    assert group.state is CoordinatorState.PREPARING


def test_a_member_that_waits_for_an_answer_need_not_say_that_it_lives() -> None:
    group = stable("a", "b")
    group.join(3_000, join("a", "a", b"new"))
    group.heartbeat(12_000, "b")
    group.expire(13_000)
    assert set(group.members()) == {"a", "b"}


def test_a_round_goes_on_without_those_who_do_not_join_within_the_rebalance_timeout() -> None:
    group = stable("a", "b")
    group.join(3_000, join("a", "a", b"new"))
    for now in range(9_000, 63_000, 9_000):
        group.heartbeat(now, "b")
        group.expire(now)
    assert joined(group.expire(63_000)) == ["a"]
    assert group.rounds[-1].reasons == ("leader a joins again", "b did not join in time")


def test_a_follower_that_joins_with_nothing_new_gets_the_present_generation() -> None:
    group = stable("a", "b")
    assert joined(group.join(4_000, join("b", "b"))) == ["b"]
    assert group.generation == 1


def test_a_leave_while_the_leader_decides_sends_all_back_to_join() -> None:
    group = stable("a", "b", "c")
    group.join(4_000, join("a", "a", b"new"))
    group.join(4_000, join("b", "b", b"new"))
    assert joined(group.join(4_000, join("c", "c", b"new"))) == ["a", "b", "c"]
    group.sync(4_000, SyncRequest("b", 2))
    assert AddressedReply("b", Refused("rebalancing")) in group.leave(4_000, "c")


def static(name: str, member_id: str | None = None, offers: object = b"") -> JoinRequest:
    return attrs.evolve(join(name, member_id, offers), instance_id=name, session_timeout_ms=100_000)


def one_misses_the_phase() -> Coordinator:
    """a and b are static; b has not rejoined by 70,000 ms."""
    group = Coordinator(3_000)
    for name in ("a", "b"):
        group.join(0, static(name))
    group.expire(6_000)
    for name in ("a", "b"):
        group.sync(6_000, SyncRequest(name, 1, {"a": "x", "b": "y"} if name == "a" else None))
    group.join(10_000, static("a", "a", b"new"))
    assert joined(group.expire(70_000)) == ["a"]
    return group


def test_a_heartbeat_of_an_old_generation_is_refused_and_renews_no_session() -> None:
    group = one_misses_the_phase()
    # A kept member has a session from the end of the join phase on.
    assert group.session_end_ms("b") == 170_000
    assert group.heartbeat(90_000, "b", 1) == "illegal_generation"
    assert group.session_end_ms("b") == 170_000
    assert group.heartbeat(90_000, "b", 2) == "ok"
    assert group.session_end_ms("b") == 190_000


def test_a_sync_of_an_old_generation_is_refused_even_while_the_next_rebalance_is_on() -> None:
    group = one_misses_the_phase()
    group.join(71_000, static("c"))
    assert group.sync(72_000, SyncRequest("b", 1)) == [AddressedReply("b", Refused("illegal_generation"))]
    assert group.sync(72_000, SyncRequest("a", 2)) == [AddressedReply("a", Refused("rebalancing"))]


def test_a_member_that_does_not_ask_for_its_assignment_in_time_is_removed_static_or_not() -> None:
    group = one_misses_the_phase()
    group.sync(70_000, SyncRequest("a", 2, {"a": "all"}))
    group.heartbeat(120_000, "a")
    assert group.next_deadline() == 130_000
    group.expire(129_999)
    assert set(group.members()) == {"a", "b"}
    group.expire(130_000)
    assert set(group.members()) == {"a"}
    assert (group.state, group.reason) == (CoordinatorState.PREPARING, "b did not send SyncGroup in time")


def test_a_static_member_that_takes_the_place_of_one_that_had_not_asked_costs_a_rebalance_later() -> None:
    group = one_misses_the_phase()
    group.sync(70_000, SyncRequest("a", 2, {"a": "all", "b": "none"}))
    (reply,) = group.join(80_000, static("b"))
    assert isinstance(reply.body, JoinReply)
    group.sync(80_000, SyncRequest(reply.body.member_id, 2))
    assert (group.state, group.sync_deadline()) == (CoordinatorState.STABLE, 130_000)
    group.expire(130_000)
    assert set(group.members()) == {"a", reply.body.member_id}
    assert group.state is CoordinatorState.PREPARING


def test_nobody_is_waited_for_who_has_asked_or_is_gone() -> None:
    group = one_misses_the_phase()
    group.sync(70_000, SyncRequest("a", 2, {"a": "all"}))
    group.leave(75_000, "b")
    assert group.sync_deadline() is None


def test_a_join_phase_in_which_nobody_joined_lasts_once_more() -> None:
    group = Coordinator(3_000)
    for name in ("a", "b", "c"):
        group.join(0, static(name))
    group.expire(6_000)
    group.sync(6_000, SyncRequest("a", 1, {}))
    group.leave(10_000, "c")
    # Neither a nor b rejoins: no member could lead.
    assert group.expire(70_000) == []
    assert (group.state, group.generation, group.join_deadline()) == (CoordinatorState.PREPARING, 1, 130_000)
    assert group.join(80_000, static("b", "b")) == []
    assert joined(group.expire(130_000)) == ["b"]
    assert group.leader_id == "b"
