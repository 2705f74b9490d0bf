"""Loads of threads that share a capacity."""

from __future__ import annotations

import pytest

from assignor_lab.simulation.clock import VirtualClock
from assignor_lab.simulation.streams.restoring import Restoring
from tests.simulation.streams.episodes import happens, played, started


def run(clock: VirtualClock) -> None:
    while clock.step(10**9):
        pass


def test_active_tasks_of_a_thread_share_its_rate() -> None:
    clock, ends = VirtualClock(1), []
    restoring = Restoring(clock, 0)
    reader = restoring.reader(None)
    for amount in (100, 300):
        restoring.begin(reader, amount, lambda: ends.append(clock.now - 1), is_active=True)
    run(clock)
    # Both run at half the rate until the first is done, then the second alone.
    assert ends == [200, 400]


def test_standbys_wait_until_no_active_task_restores() -> None:
    clock, ends = VirtualClock(1), []
    restoring = Restoring(clock, 0)
    reader = restoring.reader(None)
    restoring.begin(reader, 50, lambda: ends.append(("standby", clock.now - 1)), is_active=False)

    def active() -> None:
        restoring.begin(reader, 100, lambda: ends.append(("active", clock.now - 1)), is_active=True)

    clock.after(20, active)
    run(clock)
    assert ends == [("active", 120), ("standby", 150)]


@pytest.mark.parametrize(("limit", "end"), [(0, 100), (1.5, 134), (1, 200)])
def test_threads_of_one_machine_share_what_it_can_do(limit: float, end: int) -> None:
    clock, ends = VirtualClock(1), []
    restoring = Restoring(clock, limit)
    for _ in range(2):
        restoring.begin(restoring.reader("m"), 100, lambda: ends.append(clock.now - 1), is_active=True)
    run(clock)
    assert ends == [end, end]


def test_a_load_that_is_given_up_leaves_its_share_to_the_others() -> None:
    clock, ends = VirtualClock(1), []
    restoring = Restoring(clock, 0)
    reader = restoring.reader(None)
    given_up = restoring.begin(reader, 1_000, lambda: ends.append(-1), is_active=True)
    restoring.begin(reader, 100, lambda: ends.append(clock.now - 1), is_active=True)
    clock.after(100, lambda: restoring.give_up(given_up))
    run(clock)
    assert ends == [150]
    assert given_up.fraction(clock.now) == 0.05


def test_a_load_that_is_given_up_stays_where_it_was() -> None:
    clock = VirtualClock(1)
    restoring = Restoring(clock, 0.0)
    load = restoring.begin(restoring.reader(None), 10_000, lambda: None, is_active=False)
    clock.at(2_501, lambda: restoring.give_up(load))
    clock.step(60_000)
    assert load.fraction(2_501) == load.fraction(60_000) == 0.25


def test_with_exactly_once_a_kill_corrupts_what_was_written_to_the_disk_since_it_was_opened() -> None:
    # Measured with the released 4.3.1 classes: a cleanly closed store with few new writes returns to its opening.
    first = [started("a", threads=1)]
    again = [happens("stop", "a", 60_000), started("a", 70_000), happens("crash", "a", 140_000), started("a", 150_000)]
    killed = [happens("crash", "a", 60_000), started("a", 70_000)]
    kept = played([*first, *again], records=5_000, assignor="sticky@4.3", eos=True)
    lost = played([*first, *killed], records=5_000, assignor="sticky@4.3", eos=True)
    assert [each.world.reads.restored() for each in (kept, lost)] == [20_000_000, 40_000_000]


@pytest.mark.parametrize(("stops_ms", "restored"), [(1_150_000, 30_000_000), (1_250_000, 40_000_000)])
def test_the_cleaner_goes_by_when_a_directory_was_made(stops_ms: int, restored: int) -> None:
    # StateDirectory.cleanRemovedTasks of 4.3.1; it runs 600 s and 1,200 s after the start.
    events = [started("a", threads=1), started("b", 700_000, threads=1), happens("stop", "b", stops_ms, leave=True)]
    settings = {"kafka.release": "4.3.1"}
    result = played(events, records=5_000, assignor="sticky@4.3", until_ms=1_500_000, settings=settings)
    assert result.world.reads.restored() == restored
