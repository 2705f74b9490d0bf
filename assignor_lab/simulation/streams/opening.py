"""Stores that threads open, fill and close: locks of directories, and the state that is missing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from assignor_lab.kafka.state_lock import lock_retry_ms
from assignor_lab.simulation.clock import VirtualClock
from assignor_lab.simulation.streams.directories import delete_if_due
from assignor_lab.simulation.streams.instances import Instance, Thread, deferred
from assignor_lab.simulation.streams.reads import Reads
from assignor_lab.simulation.streams.restoring import Reader, Restoring
from assignor_lab.simulation.streams.running import Running
from assignor_lab.simulation.streams.stores import LiveChangelog, Store
from assignor_lab.simulation.streams.timings import Timings

__all__ = ["Opening"]


class Opening:
    """The stores of all instances.

    Args:
        clock: The clock.
        timings: The timings.
        changelogs: Changelogs by task; ``None`` for a task without state.
        reads: What threads read, which is written down here.
        running: The tasks that threads run, as soon as their state is complete.
    """

    def __init__(
        self,
        clock: VirtualClock,
        timings: Timings,
        changelogs: Sequence[LiveChangelog | None],
        reads: Reads,
        running: Running,
    ) -> None:
        self._clock, self._timings, self._changelogs = clock, timings, changelogs
        self._reads, self._running = reads, running
        self._restoring = Restoring(clock, timings.machine_restore_percent / 100)

    def reader(self, machine: str | None) -> Reader:
        """The restore consumer of a new thread, on a machine that it may share with others."""
        return self._restoring.reader(machine)

    # --- opening ----------------------------------------------------------------------------------------------

    def open(self, thread: Thread, task: int, *, first: bool) -> None:
        """A thread initialises a task that it was given; its ``first`` ones take longer."""
        now, log = self._clock.now, self._changelogs[task]
        wait = self._timings.first_open_store_ms if first else self._timings.open_store_ms
        if log is None:
            if task in thread.active:
                self._clock.at(now + wait, partial(self._running.begin, thread, task))
            return
        store = thread.instance.stores.get(task)
        if store is not None and store.thread == thread.key:
            if self._cut_off(thread.instance, store):
                # What is still missing comes with the other loads of the thread from now on.
                store.paused(now)
            self._clock.at(now + self._timings.recycle_ms, partial(self.load, thread, store))
            return
        first_read = self._timings.restore_poll_ms if task in thread.active else self._timings.standby_ms
        if store is None:
            # Until it is initialised there is nothing to tell of: who joins before says nothing of it.
            self._clock.at(now + wait, partial(self._lock, thread, task, first_read, 0))
        else:
            wait += first_read
            # What another thread closes or unlocks with the same assignment, it locks anew if it joins again at once.
            others = store.is_open or store.since_ms == now or store.locked_by is not None or store.unlocked_ms == now
            after = min(wait, self._timings.rejoin_ms + 1 if others else 1)
            self._clock.at(now + after, partial(self._lock, thread, task, wait - after, 0))

    def _lock(self, thread: Thread, task: int, then_ms: int, failures: int) -> None:
        """A thread tries to lock the directory of a task that it was given; another of its process may have it."""
        instance, log = thread.instance, self._changelogs[task]
        if log is None or thread not in instance.threads or task not in thread.active | thread.standby:
            return
        if deferred(self._clock, thread, partial(self._lock, thread, task, then_ms, failures)):
            return
        store = instance.stores.get(task)
        now, delay = self._clock.now, self._timings.state_cleanup_delay_ms
        if store is None or delete_if_due(instance, store, now, delay):
            store = instance.stores[task] = Store(task, log, created_ms=now)
        if store.thread == thread.key:
            return
        if store.is_open or store.locked_by not in (None, thread.key):
            wait = lock_retry_ms(failures + 1)
            self._clock.after(wait, partial(self._lock, thread, task, then_ms, failures + 1))
            return
        store.opened(now, thread.key)
        self._clock.after(then_ms, partial(self.load, thread, store))

    # --- filling ----------------------------------------------------------------------------------------------

    def load(self, thread: Thread, store: Store) -> None:
        """A task is initialised: what is missing begins to come, if anything is."""
        if store.thread != thread.key or store.load is not None:
            return
        if deferred(self._clock, thread, partial(self.load, thread, store)):
            return
        now, is_active = self._clock.now, store.task in thread.active
        store.behind_ms = 0 if is_active else self._timings.standby_ms
        to_offset = store.end(now)
        missing = to_offset - store.position(now)
        if missing < 1:
            self.complete(thread, store)
            return
        # What an unknown state takes is unknown: no time counts for it, and the figures of restoring are null.
        amount = self._amount_ms(missing, store.record_bytes) if store.log.changelog.is_known else 0.0
        load = self._restoring.begin(thread.reader, amount, partial(self._loaded, thread, store), is_active=is_active)
        store.loading(now, load, to_offset)

    def _amount_ms(self, records: float, record_bytes: float) -> float:
        by_bytes = records * record_bytes / self._timings.restore_bytes_per_s
        return 1000 * max(by_bytes, records / self._timings.restore_records_per_s)

    def _loaded(self, thread: Thread, store: Store) -> None:
        self._reads.settle(store, thread.instance.name, self._clock.now)
        self.complete(thread, store)

    def complete(self, thread: Thread, store: Store) -> None:
        """Nothing is missing: an active task runs, a copy follows."""
        store.loaded(self._clock.now)
        if store.task in thread.active:
            store.behind_ms = 0
            self._running.begin(thread, store.task)
        else:
            store.behind_ms = self._timings.standby_ms
            store.copies_from = (self._clock.now, store.offset)

    def stand_still(self, instance: Instance) -> None:
        """A process reads no state for a while."""
        threads = {thread.key: thread for thread in instance.threads}
        for store in instance.stores.values():
            if store.thread in threads and (store.load is not None or store.follows):
                self._cut_off(instance, store)
                store.paused(self._clock.now)
                threads[store.thread].held.add(store.task)

    def go_on(self, thread: Thread) -> None:
        """A thread reads on what stood still with its process."""
        now = self._clock.now
        held, thread.held = sorted(thread.held), set()
        for task in held:
            store = thread.instance.stores.get(task)
            if store is None or store.thread != thread.key:
                continue
            if task not in thread.running:
                self.load(thread, store)
            elif store.end(now) - store.position(now) < 1:
                store.follows = True  # nobody else has written

    # --- closing ----------------------------------------------------------------------------------------------

    def has_open(self, thread: Thread, task: int) -> bool:
        """Whether a thread works on a task, or has its store open."""
        store = thread.instance.stores.get(task)
        return task in thread.running or (store is not None and store.thread == thread.key)

    def close(self, thread: Thread, task: int) -> None:
        """A thread closes a task's store, if it has it open."""
        store = thread.instance.stores.get(task)
        if store is not None and store.thread == thread.key:
            self._close(thread.instance, store)

    def close_all(self, instance: Instance) -> None:
        """A process is closed in order."""
        for store in instance.stores.values():
            if store.is_open:
                self._close(instance, store)

    def _close(self, instance: Instance, store: Store) -> None:
        if self._cut_off(instance, store):
            store.paused(self._clock.now)
        store.closed(self._clock.now)

    def _cut_off(self, instance: Instance, store: Store) -> bool:
        """What was read of a store is written down, and no more comes; false if nothing was coming."""
        self._reads.settle(store, instance.name, self._clock.now)
        if store.load is None:
            return False
        self._restoring.give_up(store.load)
        return True

    def kill_all(self, instance: Instance, *, wipes: bool) -> None:
        """A process is killed; with exactly-once that ``wipes`` what it had open and wrote to the disk.

        That a store is open is noted in its memory, too: as long as that was never full, the disk says that it was
        closed in order, at the offset at which it was opened; a new store has none. What is corrupt is not reported
        (read from the released 4.3.1 classes, and tried: ``AbstractColumnFamilyAccessor.open``).
        """
        for store in list(instance.stores.values()):
            if store.is_open:
                self._cut_off(instance, store)
                was_full = store.killed(self._clock.now, self._timings.commit_interval_ms, self._timings.memtable_bytes)
                if wipes and (was_full or store.offset < 1):
                    del instance.stores[store.task]
