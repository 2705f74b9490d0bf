"""Directories that threads of one process lock."""

from __future__ import annotations

from assignor_lab.simulation.streams.directories import lock_unused, reported_offsets, unlock
from assignor_lab.simulation.streams.episode import Changelog
from assignor_lab.simulation.streams.instances import Thread
from assignor_lab.simulation.streams.stores import LiveChangelog, TaskStore
from tests.simulation.streams.episodes import played, started


def two_threads() -> tuple[Thread, Thread]:
    """Two threads of one process, with tasks 7 and 8 on its disk besides their running ones."""
    world = played([started("a", threads=2)], records=100).world
    instance = world.instances["a"]
    for number, offset in ((7, 70.0), (8, 80.0)):
        instance.stores[number] = TaskStore(number, LiveChangelog(Changelog(100, 1), 1, 1), offset)
    first, second = instance.threads
    return first, second


def unused(thread: Thread) -> dict[int, int | None]:
    return {task: offset for task, offset in reported_offsets(thread, 1_000_000).items() if task >= 7}


def test_whoever_joins_first_reports_what_nobody_uses() -> None:
    first, second = two_threads()
    lock_unused(second, 1_000_000, 0)
    lock_unused(first, 1_000_000, 0)
    assert (unused(first), unused(second)) == ({}, {7: 70, 8: 80})


def test_a_lock_lasts_until_the_thread_is_assigned_tasks() -> None:
    first, second = two_threads()
    lock_unused(second, 1_000_000, 0)
    unlock(second, 1_000_001)
    lock_unused(first, 1_000_000, 0)
    assert (unused(first), unused(second)) == ({7: 70, 8: 80}, {})


def test_a_task_that_was_given_and_is_locked_still_is_reported_by_both() -> None:
    first, second = two_threads()
    lock_unused(first, 1_000_000, 0)
    second.standby.add(7)
    assert (unused(first), unused(second)) == ({7: 70, 8: 80}, {7: 70})


def test_the_cleaner_deletes_nothing_that_is_locked() -> None:
    first, second = two_threads()
    lock_unused(first, 1_000_000, 0)
    lock_unused(second, 1_000_000, 1)
    assert unused(first) == {7: 70, 8: 80}
    unlock(first, 1_000_001)
    lock_unused(second, 1_000_000, 1)
    assert (unused(first), unused(second)) == ({}, {})
