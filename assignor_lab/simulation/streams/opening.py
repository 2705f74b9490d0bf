"""Stores that threads open, restore and close: locks of directories, and missing state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from assignment_api.releases import KafkaRelease, holds
from assignor_lab.kafka.state_lock import lock_retry_ms
from assignor_lab.simulation.clock import VirtualClock
from assignor_lab.simulation.streams.directories import delete_if_due
from assignor_lab.simulation.streams.instances import Instance, Thread, deferred
from assignor_lab.simulation.streams.reads import Reads
from assignor_lab.simulation.streams.restoring import Reader, Restoring
from assignor_lab.simulation.streams.running import Running
from assignor_lab.simulation.streams.stores import LiveChangelog, TaskStore
from assignor_lab.simulation.streams.timings import StreamsTimings

__all__ = ["Opening"]


class Opening:
    """The stores of all instances."""

    def __init__(
        self,
        clock: VirtualClock,
        timings: StreamsTimings,
        changelogs: Sequence[LiveChangelog | None],
        reads: Reads,
        running: Running,
        release: KafkaRelease,
    ) -> None:
        self._clock, self._timings, self._changelogs = clock, timings, changelogs
        self._reads, self._running = reads, running
        self._release = release
        self._restoring = Restoring(clock, timings.machine_restore_percent / 100)

    def reader(self, machine: str | None) -> Reader:
        return self._restoring.reader(machine)

    # --- opening ----------------------------------------------------------------------------------------------

    def open(self, thread: Thread, task: int, *, first: bool, least_ms: int = 0) -> None:
        """``least_ms``: no task is created or recycled before."""
        now, log = self._clock.now, self._changelogs[task]
        wait = self._timings.first_open_store_ms if first else self._timings.open_store_ms
        if log is None:
            if task in thread.active:
                self._clock.at(now + wait, partial(self._running.begin, thread, task))
            return
        store = thread.instance.stores.get(task)
        if store is not None and store.thread == thread.key:
            if self._cut_off(thread.instance, store):
                # The rest comes with the thread's other loads.
                store.paused(now)
            store.is_created = True
            self._clock.at(now + max(least_ms, self._timings.recycle_ms), partial(self.load, thread, store))
            return
        first_read = self._timings.restore_poll_ms if task in thread.active else self._timings.standby_ms
        if store is None:
            # Until then, a joining thread does not report it.
            self._clock.at(now + max(least_ms, wait), partial(self._lock, thread, task, first_read, 0))
        else:
            wait += first_read
            # A thread that closes or unlocks it after the same assignment locks it again if it rejoins at once.
            others = store.is_open or store.since_ms == now or store.locked_by is not None or store.unlocked_ms == now
            after = min(wait, self._timings.rejoin_ms + 1 if others else 1)
            self._clock.at(now + after, partial(self._lock, thread, task, wait - after, 0))

    def _lock(self, thread: Thread, task: int, then_ms: int, failures: int) -> None:
        instance, log = thread.instance, self._changelogs[task]
        if log is None or thread not in instance.threads or task not in thread.active | thread.standby:
            return
        if deferred(self._clock, thread, partial(self._lock, thread, task, then_ms, failures)):
            return
        store = instance.stores.get(task)
        now, delay = self._clock.now, self._timings.state_cleanup_delay_ms
        if store is None or delete_if_due(instance, store, now, delay):
            store = instance.stores[task] = TaskStore(task, log, self._first_offset(instance, log), modified_ms=now)
        if store.thread == thread.key:
            return
        if store.is_open or store.locked_by not in (None, thread.key):
            wait = lock_retry_ms(failures + 1)
            self._clock.after(wait, partial(self._lock, thread, task, then_ms, failures + 1))
            return
        store.opened(now, thread.key)
        self._clock.after(then_ms, partial(self.load, thread, store))

    def _has(self, instance: Instance, behaviour: str) -> bool:
        return holds(behaviour, instance.settings.release or self._release)

    def _first_offset(self, instance: Instance, log: LiveChangelog) -> float:
        """A new windowed or session store begins with the first record that is still retained."""
        retained = log.changelog.retained_records
        if retained is None or not self._has(instance, "retention_based_restore"):
            return 0.0
        return max(0.0, log.end(self._clock.now) - retained)

    # --- restoring --------------------------------------------------------------------------------------------

    def load(self, thread: Thread, store: TaskStore) -> None:
        if store.thread != thread.key or store.load is not None:
            return
        if deferred(self._clock, thread, partial(self.load, thread, store)):
            return
        store.is_created = False
        now, is_active = self._clock.now, store.task in thread.active
        store.behind_ms = 0 if is_active else self._timings.standby_ms
        to_offset = store.end(now)
        missing = to_offset - store.position(now)
        if missing < 1:
            self.complete(thread, store)
            return
        amount = self._amount_ms(missing, store.record_bytes) if store.log.changelog.is_known else 0.0
        load = self._restoring.begin(thread.reader, amount, partial(self._loaded, thread, store), is_active=is_active)
        store.loading(now, load, to_offset)

    def _amount_ms(self, records: float, record_bytes: float) -> float:
        by_bytes = records * record_bytes / self._timings.restore_bytes_per_s
        return 1000 * max(by_bytes, records / self._timings.restore_records_per_s)

    def _loaded(self, thread: Thread, store: TaskStore) -> None:
        self._reads.settle(store, thread.instance.name, self._clock.now)
        self.complete(thread, store)

    def complete(self, thread: Thread, store: TaskStore) -> None:
        store.loaded(self._clock.now)
        if store.task in thread.active:
            store.behind_ms = 0
            self._running.begin(thread, store.task)
        else:
            store.behind_ms = self._timings.standby_ms
            store.copies_from = (self._clock.now, store.offset)

    def stand_still(self, instance: Instance) -> None:
        threads = {thread.key: thread for thread in instance.threads}
        for store in instance.stores.values():
            if store.thread in threads and (store.load is not None or store.follows):
                self._cut_off(instance, store)
                store.paused(self._clock.now)
                threads[store.thread].held.add(store.task)

    def go_on(self, thread: Thread) -> None:
        now = self._clock.now
        held, thread.held = sorted(thread.held), set()
        for task in held:
            store = thread.instance.stores.get(task)
            if store is None or store.thread != thread.key:
                continue
            if task not in thread.running:
                self.load(thread, store)
            elif store.end(now) - store.position(now) < 1:
                store.follows = True  # no other instance has written

    # --- closing ----------------------------------------------------------------------------------------------

    def has_open(self, thread: Thread, task: int) -> bool:
        store = thread.instance.stores.get(task)
        return task in thread.running or (store is not None and store.thread == thread.key)

    def close(self, thread: Thread, task: int) -> None:
        store = thread.instance.stores.get(task)
        if store is not None and store.thread == thread.key:
            self._close(thread.instance, store)

    def close_all(self, instance: Instance) -> None:
        for store in list(instance.stores.values()):
            if store.is_open:
                self._close(instance, store)
            store.remembered = 0.0

    def _close(self, instance: Instance, store: TaskStore) -> None:
        if self._cut_off(instance, store):
            store.paused(self._clock.now)
        store.closed(self._clock.now)
        if self._has(instance, "task_directory_touched"):
            store.modified_ms = self._clock.now
        if store.log.changelog.in_memory_share:
            remembers = instance.is_up and self._has(instance, "in_memory_stores_reported")
            store.forget_memory(remembers=remembers)
            if store.offset < 1 and store.log.changelog.in_memory_share == 1:
                # An empty directory is not locked, so not reported.
                del instance.stores[store.task]

    def _cut_off(self, instance: Instance, store: TaskStore) -> bool:
        self._reads.settle(store, instance.name, self._clock.now)
        if store.load is None:
            return False
        self._restoring.give_up(store.load)
        return True

    def kill_all(self, instance: Instance, commits_ms: Mapping[int, int], *, wipes: bool, keeps: bool) -> None:
        """Kill a process; with exactly-once that ``wipes`` its open and written stores.

        A store's open mark is in its memory first. Until that memory was full once, the disk shows a clean close at the
        opening's offset; a new store has none. Corrupt stores are not reported (read from the released 4.3.1 classes,
        and tried: ``AbstractColumnFamilyAccessor.open``).

        Args:
            commits_ms: Number of a thread to the longest time between two of its commits.
            keeps: Stores are transactional.
        """
        interval_ms = self._timings.commit_interval_ms
        for store in list(instance.stores.values()):
            if store.is_open:
                self._cut_off(instance, store)
                commit_ms = min(interval_ms, commits_ms.get(store.thread or 0, interval_ms))
                memory = self._timings.memtable_bytes
                was_full = store.killed(self._clock.now, commit_ms, memory, is_transactional=keeps)
                store.forget_memory(remembers=False)
                if wipes and (was_full or store.offset < 1):
                    del instance.stores[store.task]
