"""Behaviours of clients that begin or end with a release: what is wiped, restored, deleted, reported and rebalanced."""

from __future__ import annotations

from typing import Any

import pytest

from assignor_lab.simulation.streams.directories import delete_if_due, reported_offsets
from assignor_lab.simulation.streams.simulate import PlayedStreamsEpisode
from tests.simulation.streams.episodes import document, happens, played, started, task

RECORDS = 100_000
KILLED = [started("a"), happens("crash", "a", 400_000), started("a", 410_000)]
TRANSACTIONAL = {"enable.transactional.statestores": True}


def at(release: str, **more: Any) -> dict[str, Any]:
    return {"kafka.release": release, "processing.guarantee": "exactly_once_v2", **more}


def restored(group: PlayedStreamsEpisode, after_ms: int = 400_000) -> float:
    """Records that instances restored in the second part of an episode."""
    return sum(
        each.size / 1_000 for each in group.world.reads.all if not each.follows and each.begun_ms > after_ms
    )  # fmt: skip


def killed(release: str, records: int = RECORDS, **more: Any) -> float:
    return restored(played(KILLED, [task("0_0")], records=records, settings=at(release, **more)))


def test_a_killed_task_resumes_at_its_last_flush_if_its_stores_are_transactional() -> None:
    everything = killed("4.4.0")
    assert everything == pytest.approx(RECORDS, rel=0.01)
    assert killed("4.3.1", **TRANSACTIONAL) == everything
    since_the_flush = killed("4.4.0", **TRANSACTIONAL)
    # A memory of 16 MiB has room for 16,777 records of 1,000 bytes.
    assert 0 < since_the_flush <= 16_777


def test_a_small_store_that_was_never_flushed_is_restored_in_full() -> None:
    assert killed("4.4.0", 3_000, **TRANSACTIONAL) == pytest.approx(3_000, rel=0.01)


def test_the_first_start_after_an_upgrade_to_transactional_stores_finds_nothing_after_a_kill() -> None:
    """The open mark of the older release is on the disk (KIP-892); the next kill finds the state."""
    newer = {"release": "4.4.0"}
    events = [
        started("a", release="4.3.1"),
        happens("crash", "a", 400_000), started("a", 410_000, **newer),
        happens("crash", "a", 800_000), started("a", 810_000, **newer),
    ]  # fmt: skip
    settings = at("4.4.0", **TRANSACTIONAL)
    group = played(events, [task("0_0")], records=RECORDS, settings=settings, until_ms=1_200_000)
    assert restored(group, 400_000) - restored(group, 800_000) == pytest.approx(RECORDS, rel=0.01)
    assert 0 < restored(group, 800_000) <= 16_777


def resumed(uncommitted: int, commit_ms: int = 300_000) -> float:
    """Records that a killed task with 100 records of 1,000 bytes a second restores."""
    logs = {"0_0": {"records": 0, "bytes_per_record": 1_000, "records_per_s": 100}}
    settings = at("4.4.0", **TRANSACTIONAL, **{"statestore.uncommitted.max.bytes": uncommitted})
    settings["commit.interval.ms"] = commit_ms
    return restored(played(KILLED, [task("0_0")], changelogs=logs, settings=settings))


def test_a_limit_of_uncommitted_bytes_commits_sooner() -> None:
    # Opened after 3 s, full after 168 s: the commit at 303 s writes it to the disk.
    assert resumed(-1) == pytest.approx(40_000 - 30_300, rel=0.01)
    # A commit every 40 s: that at 363 s writes the second full memory.
    assert resumed(4_000_000) == pytest.approx(40_000 - 36_400, rel=0.02)
    # A commit interval below the limit decides.
    assert resumed(1_000_000, 1_000) == resumed(-1, 1_000)


def test_a_corrupted_task_is_wiped_even_if_its_stores_are_transactional() -> None:
    events = [started("a"), happens("corrupt", "a", 400_000, tasks=["0_0"])]
    group = played(events, [task("0_0")], records=RECORDS, settings=at("4.4.0", **TRANSACTIONAL))
    assert restored(group) == pytest.approx(RECORDS, rel=0.01)


@pytest.mark.parametrize(("release", "read"), [("4.3.1", RECORDS), ("4.4.0", 10_000)])
def test_a_windowed_store_restores_what_is_retained(release: str, read: int) -> None:
    logs = {"0_0": {"records": RECORDS, "bytes_per_record": 1_000, "retained_records": 10_000}}
    settings = {"kafka.release": release}
    group = played([started("a")], [task("0_0")], changelogs=logs, settings=settings)
    assert restored(group, 0) == pytest.approx(read, rel=0.01)


def closed_after_an_hour(release: str) -> tuple[PlayedStreamsEpisode, int]:
    settings = {"kafka.release": release}
    events = [started("a"), happens("stop", "a", 3_600_000)]
    group = played(events, [task("0_0")], records=100, until_ms=3_700_000, settings=settings)
    return group, group.world.begin_ms + 3_600_000


@pytest.mark.parametrize(("release", "is_kept"), [("4.3.1", False), ("4.4.0", True)])
def test_a_closed_task_keeps_its_directory_for_the_whole_delay(release: str, *, is_kept: bool) -> None:
    group, closed_ms = closed_after_an_hour(release)
    instance = group.world.instances["a"]
    (store,) = instance.stores.values()
    assert delete_if_due(instance, store, closed_ms + 599_000, 600_000) is not is_kept
    if is_kept:
        assert delete_if_due(instance, store, closed_ms + 1_300_000, 600_000)


@pytest.mark.parametrize(("release", "reported"), [("4.3.1", 1_000), ("4.4.0", 600)])
def test_a_closed_tasks_stores_in_memory_are_reported_up_to_4_3(release: str, reported: int) -> None:
    logs = {"0_0": {"records": 1_000, "bytes_per_record": 1_000, "in_memory_share": 0.4}}
    settings = {"kafka.release": release}
    world = played([started("a")], [task("0_0")], changelogs=logs, settings=settings).world
    (thread,) = world.instances["a"].threads
    (store,) = thread.instance.stores.values()
    world.assign(thread, (), ())
    world.lock_unused(thread)
    assert reported_offsets(thread, world.clock.now) == {0: reported}
    assert store.position(world.clock.now) == 600


def test_stores_in_memory_alone_leave_nothing_to_report() -> None:
    settings = {
        "dsl.store.suppliers.class": "org.apache.kafka.streams.state.BuiltInDslStoreSuppliers$InMemoryDslStoreSuppliers"
    }
    world = played([started("a")], [task("0_0")], records=1_000, settings=settings).world
    (thread,) = world.instances["a"].threads
    world.assign(thread, (), ())
    world.lock_unused(thread)
    assert reported_offsets(thread, world.clock.now) == {}


@pytest.mark.parametrize(("share", "reported"), [(1.0, {}), (0.4, {0: 600}), (0.0, {0: 1_000})])
def test_a_recycled_task_reports_its_checkpoint_until_the_thread_has_joined_again(
    share: float, reported: dict[int, int]
) -> None:
    """The checkpoint lacks stores in memory (Kafka: ``TaskManager.taskOffsetSums`` of a created task)."""
    logs = {"0_0": {"records": 1_000, "bytes_per_record": 1_000, "in_memory_share": share}}
    world = played([started("a")], [task("0_0")], changelogs=logs).world
    (thread,) = world.instances["a"].threads
    now = world.clock.now
    world.assign(thread, (), (0,), joins_after_ms=500)
    while world.clock.step(now + 500):
        pass
    assert reported_offsets(thread, now + 500) == reported
    while world.clock.step(now + 501):
        pass
    assert reported_offsets(thread, now + 501) == {0: 1_000}


def generations(release: str, *events: dict[str, Any], rack: str | None = "r1", **more: Any) -> int:
    settings: dict[str, Any] = {} if rack is None else {"rack": rack}
    starts = [started("a", **settings), started("b", **settings)]
    group = played([*starts, *events], records=100, settings={"kafka.release": release}, **more)
    return sum(each.prepared_ms >= group.world.begin_ms + 100_000 for each in group.generations)


BOUNCE = {"at_ms": 100_000, "type": "broker_restart", "down_ms": 30_000}


@pytest.mark.parametrize(
    ("release", "rack", "protocol", "expected"),
    [("4.3.1", "r1", "classic", 2), ("4.4.0", "r1", "classic", 0), ("4.3.1", None, "classic", 0),
     ("3.9.1", "r1", "classic", 2), ("4.3.1", "r1", "streams", 0), ("4.4.0", "r1", "streams", 0)],
)  # fmt: skip
def test_a_brokers_bounce_rebalances_classic_groups_with_racks_twice_up_to_4_3(
    release: str, rack: str | None, protocol: str, expected: int
) -> None:
    assert generations(release, BOUNCE, rack=rack, protocol=protocol) == expected


@pytest.mark.parametrize(
    ("release", "rack_is_new", "expected"),
    [("4.3.1", False, 1), ("4.3.1", True, 1), ("4.4.0", False, 0), ("4.4.0", True, 1)],
)  # fmt: skip
def test_a_replica_in_another_rack_rebalances_from_4_4_on_only_if_the_rack_is_new(
    release: str, expected: int, *, rack_is_new: bool
) -> None:
    event = {"at_ms": 100_000, "type": "replica_moves", "rack_is_new": rack_is_new}
    assert generations(release, event) == expected


@pytest.mark.parametrize(("release", "seconds"), [("4.3.1", 0), ("4.4.0", 10)])
def test_a_member_that_remains_in_a_streams_group_is_waited_for_from_4_4_on(release: str, seconds: int) -> None:
    events = [started("a"), started("b", 1), happens("stop", "b", 100_000, leave=False)]
    timings = {"streams_session_timeout_ms": 10_000}
    group = played(events, settings={"kafka.release": release}, protocol="streams", timings=timings)
    since = group.world.begin_ms + 100_000
    first = min(each.prepared_ms for each in group.generations if each.prepared_ms > since)
    assert first - since == pytest.approx(1000 * seconds, abs=5_500)


def test_the_settings_of_an_episode_are_checked() -> None:
    made = document([started("a")], settings={"kafka.release": "4.4.0", **TRANSACTIONAL})
    assert made["settings"]["enable.transactional.statestores"] is True
