"""Rules of client libraries in plays: metadata, heartbeats, late polls."""

from __future__ import annotations

from collections import Counter
from functools import cache

import attrs
import pytest

from assignment_api.consumer import ConsumerTopic
from assignor_lab.cli.found_plugins import found_plugins
from assignor_lab.cli.options import sources
from assignor_lab.model.events import PollTimedOut
from assignor_lab.planning.consumer_state import decider
from assignor_lab.simulation.consumer.client_libraries import LIBRARIES_WITH_RULES, rules_of
from assignor_lab.simulation.consumer.consumers import CLASSIC, CONSUMER, ConsumerSettings, ConsumerTimings
from assignor_lab.simulation.consumer.simulate import ConsumerEpisode, ConsumerEvent, ConsumerPlay, played_episode
from assignor_lab.simulation.consumer.world import Decide

TIMINGS = ConsumerTimings(
    initial_rebalance_delay_ms=0, metadata_max_age_ms=5_000, max_poll_interval_ms=20_000, poll_ms=1
)


@cache
def _decide() -> Decide:
    return decider(found_plugins(sources(None, None).effective()).registry, None)


def played(library: str, strategy: str, events: list[ConsumerEvent], seed: int = 0) -> ConsumerPlay:
    topics = {"t": ConsumerTopic("t", 12)}
    one = ConsumerSettings(("t",), (strategy,), protocol=CLASSIC, rules=rules_of(library))
    consumers = {name: attrs.evolve(one, client_id=name) for name in ("c1", "c2", "c3")}
    episode = ConsumerEpisode("g", topics, consumers, TIMINGS, events=tuple(events), until_ms=60_000)
    return played_episode(episode, _decide(), str(seed))


@pytest.mark.parametrize(("library", "most"), [("java", 1), ("kafka-python", 1), ("aiokafka", 2), ("librdkafka", 2)])
def test_a_grown_topic_is_noticed_by_the_leader_or_by_each_member(library: str, most: int) -> None:
    """The coordinator answers a follower whose subscription is unchanged at once, without a rebalance."""
    stops = []
    for seed in range(5):
        play = played(library, "range", [ConsumerEvent(3_500, "grow", "t", partitions=15)], seed)
        assert len(play.history().decisions) == 1
        old = Counter(each.partition for each in play.world.ledger.over if each.after)
        stops.append(max(old.values()))
    assert max(stops) == most


def test_a_leader_of_librdkafka_decides_by_new_metadata() -> None:
    """Another member noticed the grown topic first, and the leader's own metadata was old."""
    for seed in range(10):
        play = played("librdkafka", "range", [ConsumerEvent(3_500, "grow", "t", partitions=15)], seed)
        assert len(play.history().decisions[0].owners) == 15


def test_a_leader_of_java_decides_by_its_own_metadata() -> None:
    """A rebalance before its refresh does not see the new partitions."""
    events = [ConsumerEvent(3_500, "grow", "t", partitions=15), ConsumerEvent(3_501, "stop", "c3")]
    firsts = {len(played("java", "range", events, seed).history().decisions[0].owners) for seed in range(12)}
    assert firsts == {12, 15}


def waits_of_moves(library: str) -> list[int]:
    """Longest time without polls after the return of a consumer, by play."""
    events = [ConsumerEvent(3_500, "stop", "c3"), ConsumerEvent(20_000, "start", "c3")]
    found = []
    for seed in range(20):
        play = played(library, "cooperative-sticky", events, seed)
        over = [each for each in play.world.ledger.over if each.begin_ms - play.begin_ms > 20_000]
        found.append(max((each.end_ms or 0) - each.begin_ms for each in over))
    return found


def test_a_cooperative_move_costs_a_heartbeat_interval() -> None:
    assert all(2_900 <= each <= 3_300 for each in waits_of_moves("java"))


def test_the_first_heartbeat_of_librdkafka_may_find_the_follow_up() -> None:
    waits = waits_of_moves("librdkafka")
    assert any(each < 300 for each in waits)
    assert any(each > 2_700 for each in waits)


@pytest.mark.parametrize(("library", "latest_ms"), [("java", 100), ("librdkafka", 500), ("kafka-python", 3_100)])
def test_a_late_poll_is_noticed_when_the_library_looks(library: str, latest_ms: int) -> None:
    late = []
    for seed in range(20):
        play = played(library, "range", [ConsumerEvent(4_000, "busy", "c1", for_ms=26_000)], seed)
        (found,) = [each for each in play.history().events if isinstance(each, PollTimedOut)]
        late.append(found.at.latest_ms - play.begin_ms - 24_000)
    assert 0 <= min(late) <= max(late) <= latest_ms
    assert max(late) > latest_ms / 4


def lateness_ms(busy_ms: int, heartbeat_ms: int = 5_000, metadata_ms: int = 300_000) -> list[int | None]:
    """By play, the time from the end of the poll interval until a member of KIP-848 leaves; ``None``: it stays."""
    timings = attrs.evolve(TIMINGS, group_heartbeat_interval_ms=heartbeat_ms, metadata_max_age_ms=metadata_ms)
    consumers = {name: ConsumerSettings(("t",), protocol=CONSUMER, client_id=name) for name in ("c1", "c2", "c3")}
    busy = ConsumerEvent(4_000, "busy", "c1", for_ms=busy_ms)
    episode = ConsumerEpisode("g", {"t": ConsumerTopic("t", 12)}, consumers, timings, events=(busy,), until_ms=60_000)
    late: list[int | None] = []
    for seed in range(30):
        play = played_episode(episode, _decide(), str(seed))
        found = [each.at.latest_ms for each in play.history().events if isinstance(each, PollTimedOut)]
        late.append(found[0] - play.begin_ms - 24_000 if found else None)
    return late


@pytest.mark.parametrize(("heartbeat_ms", "metadata_ms"), [(5_000, 300_000), (15_000, 300_000), (15_000, 1_000)])
def test_a_late_poll_under_kip_848_is_noticed_when_the_network_thread_wakes(
    heartbeat_ms: int, metadata_ms: int
) -> None:
    """No timer ends with the poll interval: heartbeats, new metadata and waits of 5 s wake the thread."""
    late = [each for each in lateness_ms(26_000, heartbeat_ms, metadata_ms) if each is not None]
    longest_ms = min(5_000, metadata_ms)
    assert len(late) == 30
    assert 0 <= min(late) < longest_ms / 4
    assert longest_ms * 3 / 4 < max(late) <= longest_ms


def test_a_poll_before_the_network_thread_wakes_keeps_the_member_in_its_group() -> None:
    assert 20 <= lateness_ms(20_500).count(None) < 30


@pytest.mark.parametrize("library", LIBRARIES_WITH_RULES)
@pytest.mark.parametrize("strategy", ["range", "cooperative-sticky"])
def test_each_partition_has_one_owner_after_many_events(library: str, strategy: str) -> None:
    events = [
        ConsumerEvent(1_000, "kill", "c1"),
        ConsumerEvent(2_000, "grow", "t", partitions=14),
        ConsumerEvent(5_000, "start", "c4"),
        ConsumerEvent(9_000, "busy", "c2", for_ms=30_000),
        ConsumerEvent(30_000, "stop", "c3"),
        ConsumerEvent(40_000, "start", "c3"),
    ]
    for seed in range(5):
        play = played(library, strategy, events, seed)
        assert play.rest(600_000)
        assert {len(keys) for keys in play.world.ledger.owners.values()} == {1}
