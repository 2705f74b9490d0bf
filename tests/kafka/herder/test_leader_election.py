"""Member ids and the leader of a classic group (Kafka: ``ClassicGroup``)."""

from __future__ import annotations

from collections import Counter

from assignor_lab.kafka.coordinator.leader_election import LeaderElection
from assignor_lab.kafka.coordinator.member_ids import MemberIds, is_member_id

RECORDED = "connect-1-6f3f2c1a-9a0e-4b7c-8f51-0d9d1c1b7a55"


def elected(*members: str) -> LeaderElection:
    election = LeaderElection()
    for member in members:
        election.add(member)
    return election


def test_the_first_member_leads_until_it_leaves() -> None:
    election = elected("b", "a", "c")
    election.remove("a")
    assert election.leader_id == "b"


def test_the_next_leader_is_the_first_of_a_hash_map_and_not_the_next_to_join() -> None:
    # Hash codes of one-letter names are their code units: slots 1, 2 and 3 of 16 for a, b, c, and 0 for p.
    election = elected("c", "b", "p", "a")
    election.remove("c")
    assert election.leader_id == "p"
    election.remove("p")
    assert election.leader_id == "a"


def test_a_map_that_has_grown_keeps_its_size() -> None:
    # 12 entries fit into 16 slots, and more need 32: there Q (81) is after B (66), and not before.
    names = [chr(65 + number) for number in range(13)]
    small, large = elected("z", "B", "Q"), elected("z", *names, "Q")
    for name in names:
        if name != "B":
            large.remove(name)
    for election in (small, large):
        election.remove("z")
    assert (small.leader_id, large.leader_id) == ("Q", "B")


def test_a_static_member_back_under_another_id_still_leads() -> None:
    election = elected("a", "b")
    election.replace("a", "z")
    assert election.leader_id == "z"


def test_a_leader_that_misses_a_join_phase_gives_way_to_the_first_that_joined() -> None:
    election = elected("c", "a", "b")
    election.elect_joined(())
    assert election.leader_id == "c"
    election.elect_joined({"b", "c"})
    assert election.leader_id == "c"
    election.elect_joined({"b"})
    assert election.leader_id == "b"


def test_ids_are_drawn_by_the_seed_and_recorded_ones_are_used_once() -> None:
    drawn = [MemberIds(seed).new("connect-w1") for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert all(is_member_id(each) and each.startswith("connect-w1-") for each in drawn)
    ids = MemberIds(0)
    assert ids.new(RECORDED, [RECORDED]) == RECORDED
    again = ids.new(RECORDED, [RECORDED])
    assert again != RECORDED
    assert again.startswith("connect-1-")
    assert len(again) == len(RECORDED)
    assert not is_member_id("worker1")


def test_any_of_three_members_can_be_the_next_leader() -> None:
    leaders = Counter[str]()
    for seed in range(200):
        ids = MemberIds(seed)
        election = elected(*(ids.new(f"connect-w{number}") for number in range(4)))
        election.remove(election.leader_id or "")
        leaders[(election.leader_id or "")[:10]] += 1
    assert set(leaders) == {"connect-w1", "connect-w2", "connect-w3"}
    assert min(leaders.values()) > 40
