"""State of a store after a kill and after a clean close, as measured with Kafka 4.3.1's RocksDB."""

from __future__ import annotations

import pytest

from assignor_lab.simulation.clock import VirtualClock
from assignor_lab.simulation.streams.episode import Changelog
from assignor_lab.simulation.streams.restoring import Restoring
from assignor_lab.simulation.streams.stores import LiveChangelog, TaskStore

COMMIT_MS, MEMTABLE = 30_000, 16_000_000


def restored(amount_ms: int, *, records: int = 1_000_000) -> TaskStore:
    """A store that took ``amount_ms`` to restore from nothing, in records of 200 bytes."""
    clock = VirtualClock(1)
    restoring = Restoring(clock, 0)
    store = TaskStore(0, LiveChangelog(Changelog(records, 200), 1, 1))
    store.opened(1, 1)
    load = restoring.begin(restoring.reader(None), amount_ms, lambda: store.loaded(clock.now), is_active=True)
    store.loading(1, load, records)
    while clock.step(10**9):
        pass
    return store


def test_an_orderly_close_keeps_everything() -> None:
    store = restored(10_000)
    store.closed(20_000)
    assert store.position(20_000) == 1_000_000


def test_a_kill_after_a_short_restoration_leaves_nothing() -> None:
    # Twelve memtables are on disk, but no offset is written yet.
    store = restored(10_000)
    store.killed(60_000, COMMIT_MS, MEMTABLE)
    assert store.position(60_000) == 0


def test_a_kill_after_a_long_restoration_leaves_what_was_noted_before_the_last_full_memory() -> None:
    store = restored(100_000)
    store.killed(160_000, COMMIT_MS, MEMTABLE)
    # Offsets are written after 30, 60 and 90 s; the last memtable was full at 96 s.
    assert store.position(160_000) == pytest.approx(900_000, abs=20)


def test_a_kill_goes_back_to_the_last_orderly_close() -> None:
    store = restored(10_000)
    store.closed(20_000)
    store.opened(30_000, 2)
    store.loaded(30_000)
    store.killed(90_000, COMMIT_MS, MEMTABLE)
    assert store.position(90_000) == 1_000_000


@pytest.mark.parametrize(("flushed", "kept"), [(None, 1_000_000), (0.0, 0)])
def test_a_kill_leaves_what_the_disk_had_of_a_store_that_was_open_before(flushed: float | None, kept: int) -> None:
    store = TaskStore(0, LiveChangelog(Changelog(1_000_000, 200), 1, 1), 1_000_000.0)
    store.opened(1, 1)
    store.flushed = flushed
    store.killed(60_000, COMMIT_MS, MEMTABLE)
    assert store.position(60_000) == kept
    store.opened(70_000, 2)
    assert store.flushed is None
