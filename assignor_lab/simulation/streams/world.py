"""A Streams group without its protocol: instances, disks, restoring, processing.

A :class:`GroupProtocol` assigns tasks to threads (:meth:`SimulatedWorld.assign`, :meth:`SimulatedWorld.revoke`), and
learns of starts, stops and crashes.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import Protocol

import attrs

from assignment_api.streams import ProcessID, TaskId
from assignor_lab.simulation.clock import VirtualClock
from assignor_lab.simulation.event_log import NO_THREAD, EventEntry, EventLog
from assignor_lab.simulation.streams.directories import lock_unused, reported_offsets, unlock
from assignor_lab.simulation.streams.episode import InstanceSettings, StreamsEpisode, drawn_process_id
from assignor_lab.simulation.streams.instances import Instance, Thread, deferred
from assignor_lab.simulation.streams.opening import Opening
from assignor_lab.simulation.streams.presence import next_thread
from assignor_lab.simulation.streams.processing import NOBODY, NOT_NOTICED, REBALANCE, RESTORING, REVOKED, Ledger
from assignor_lab.simulation.streams.reads import Reads, Takeover
from assignor_lab.simulation.streams.running import Running
from assignor_lab.simulation.streams.stores import LiveChangelog, TaskStore

__all__ = ["GroupProtocol", "SimulatedWorld"]

#: Share of killed processes with state on disk, if their past is unknown.
_FLUSHED_SHARE = 0.5


class GroupProtocol(Protocol):
    """The world's interface to the group's protocol."""

    def started(self, thread: Thread) -> None: ...

    def stopped(self, instance: Instance, *, leaves: bool | None, thread: Thread | None = None) -> None:
        """Threads of an instance were closed cleanly.

        Args:
            leaves: Whether the members leave the group; ``None``: the protocol's default.
            thread: The only closed thread; ``None``: all.
        """

    def crashed(self, instance: Instance) -> None: ...

    def corrupted(self, thread: Thread) -> None:
        """Corrupted active tasks of a thread with exactly-once are created again."""


class SimulatedWorld:
    """All parts except the protocol."""

    def __init__(self, episode: StreamsEpisode, seed: int, *, keep_log: bool = True) -> None:
        self.episode = episode
        self.timings = episode.timings
        self.clock = VirtualClock(episode.start_ms)
        self.begin_ms = self.clock.now
        self.log = EventLog(self.begin_ms)
        self.seed = seed
        self.random = random.Random(seed)  # noqa: S311 - a simulation, not a secret
        self.tasks: tuple[TaskId, ...] = tuple(task.id for task in episode.tasks)
        self.number_of = {task: number for number, task in enumerate(self.tasks)}
        #: The existing tasks: leaders and brokers decide on these alone.
        self.existing = frozenset(self.number_of.values())
        self.changelogs = tuple(
            None
            if each is None
            else LiveChangelog(each, self.begin_ms, self.begin_ms, self.timings.work_off_records_per_s)
            for each in episode.changelogs
        )
        self.instances: dict[str, Instance] = {}
        self.ledger = Ledger(len(self.tasks), self.begin_ms)
        self.reads = Reads()
        self.takeovers: list[Takeover] = []
        self.remarks: dict[str, None] = {}
        self._running = Running(self.clock, self.timings, self.ledger, self.changelogs, self._say_of)
        self._opening = Opening(self.clock, self.timings, self.changelogs, self.reads, self._running, episode.release)
        #: Initial instance to whether a kill leaves its state.
        self._flushed: dict[str, bool] = {}
        self._threads = 0
        self._keeps_log = keep_log

    # --- actions on instances -------------------------------------------------------------------------

    def start(
        self, name: str, settings: InstanceSettings | None, process_id: ProcessID | None, group: GroupProtocol
    ) -> None:
        """Start the process of a known or new instance.

        ``settings`` ``None``: the previous ones, or Kafka's defaults. ``process_id``: the id on its disk; ``None``: the
        previous one, or one drawn from the names.
        """
        instance = self._up(name, settings, process_id)
        self.say(name, "start", f"process of {name} is started")
        startup = instance.settings.startup_ms
        joins = instance.started_ms + (self.timings.startup_ms if startup is None else startup)
        joins += self.timings.join_ms + self.random.randint(0, self.timings.startup_spread_ms)
        known = dict(zip(instance.threads, instance.settings.joins_ms, strict=False))
        starts_ms = [after for after in known.values() if after is not None]
        if starts_ms:
            joins = instance.started_ms + min(starts_ms) + 1
        for thread in instance.threads:
            after = known.get(thread)
            at_ms = joins if after is None else instance.started_ms + after
            self.clock.at(at_ms, partial(self._ready, thread, group))

    def _up(self, name: str, settings: InstanceSettings | None, process_id: ProcessID | None) -> Instance:
        instance = self.instance(name)
        instance.settings = settings or instance.settings
        instance.process_id = process_id or instance.process_id
        instance.is_up, instance.is_silent = True, False
        instance.started_ms = max(self.clock.now, instance.ends_ms)
        instance.threads = []
        for store in instance.stores.values():
            store.locked_by = None
        for number in range(1, instance.settings.threads + 1):
            self._new_thread(instance, number)
        return instance

    def _new_thread(self, instance: Instance, number: int) -> Thread:
        self._threads += 1
        thread = Thread(instance, number, self._threads, self._opening.reader(instance.settings.machine))
        instance.threads.append(thread)
        return thread

    def _ready(self, thread: Thread, group: GroupProtocol) -> None:
        if self.deferred(thread, partial(self._ready, thread, group)):
            return
        if thread in thread.instance.threads and thread.instance.is_up:
            group.started(thread)

    def stop(self, name: str, group: GroupProtocol, *, leaves: bool | None = None) -> None:
        instance = self.instances[name]
        self.say(name, "stop", f"{name} is closed")
        self._end(instance)
        self._opening.close_all(instance)
        instance.ends_ms = self.clock.now + self.timings.close_ms
        group.stopped(instance, leaves=leaves)
        instance.threads = []

    def add_thread(self, name: str, joins_ms: int | None, group: GroupProtocol, member_id: str | None = None) -> None:
        """Start a thread in a running process (Kafka: ``KafkaStreams.addStreamThread``)."""
        instance = self.instances[name]
        thread = self._new_thread(instance, next_thread([each.number for each in instance.threads]))
        if member_id is not None:
            ids = (*instance.settings.member_ids, member_id)
            instance.settings = attrs.evolve(instance.settings, member_ids=ids)
        self.say(name, "thread_added", f"{name} starts thread {thread.number}", thread=thread.key)
        after_ms = self.timings.join_ms if joins_ms is None else joins_ms
        self.clock.after(after_ms, partial(self._ready, thread, group))

    def remove_thread(self, name: str, number: int | None, group: GroupProtocol) -> None:
        """Close a thread; its member leaves (Kafka: ``KafkaStreams.removeStreamThread``)."""
        instance = self.instances[name]
        found = [each for each in instance.threads if number in (None, each.number)]
        if not found or len(instance.threads) == 1:
            return
        thread = found[0]
        self.say(name, "thread_removed", f"{name} closes thread {thread.number}", thread=thread.key)
        unlock(thread, self.clock.now)
        for task in sorted(thread.active):
            self._running.end_with_process(thread, task)
        for task in sorted(thread.active | thread.standby):
            self._opening.close(thread, task)
        # A dynamic member unsubscribes; the process's admin client removes a static one.
        group.stopped(instance, leaves=True, thread=thread)
        instance.threads.remove(thread)
        self._say_given(thread, has_ended=True)

    def corrupt(self, name: str, tasks: Iterable[str], group: GroupProtocol) -> None:
        """Corrupt tasks: they are closed dirty, and restored from the beginning.

        With exactly-once, the thread requests a rebalance if one is active (Kafka: ``StreamThread.runLoop``,
        ``TaskManager.handleCorruption``). Tasks of other instances are ignored.
        """
        wanted = {self.number_of[TaskId.parse(task)] for task in tasks}
        for thread in list(self.instances[name].threads):
            lost = {task for task in (thread.active | thread.standby) & wanted if self._opening.has_open(thread, task)}
            for task in sorted(lost):
                text = f"thread {thread.number} has lost {self.tasks[task]}"
                self.say(name, "corrupt", text, task=str(self.tasks[task]), thread=thread.key)
                if task in thread.running:
                    self._running.end(thread, task, RESTORING)
                self._opening.close(thread, task)
                thread.instance.stores.pop(task, None)
                self._opening.open(thread, task, first=False)
            if self.episode.eos and thread.active & lost:
                group.corrupted(thread)

    def exist(self, tasks: Iterable[str]) -> None:
        """The next decision is on these tasks.

        A thread keeps a removed task until its next assignment. Its state stays on disk.
        """
        self.existing = frozenset(self.number_of[TaskId.parse(task)] for task in tasks)
        self.ledger.exist(self.existing, self.clock.now)
        names = [str(self.tasks[task]) for task in sorted(self.existing)]
        self.say("application", "tasks", f"the tasks are {', '.join(names)}", tasks=names)

    def crash(self, name: str, group: GroupProtocol) -> None:
        instance = self.instances[name]
        self.say(name, "crash", f"{name} is killed")
        group.crashed(instance)  # before its threads end their runs: a processing thread has committed
        self._end(instance)
        keeps = self.episode.keeps_transactions(instance.settings.release)
        commits = self._limited_commits(instance) if keeps else {}
        self._opening.kill_all(instance, commits, wipes=self.episode.eos and not keeps, keeps=keeps)
        instance.ends_ms = self.clock.now
        instance.threads = []

    def _limited_commits(self, instance: Instance) -> dict[int, int]:
        """Number of a thread to the time between two commits that ``statestore.uncommitted.max.bytes`` forces.

        A thread has the same share of the limit as each other one (Kafka: ``shouldCommitDueToUncommittedBytes``).
        """
        share = self.episode.uncommitted_max_bytes // max(1, len(instance.threads))
        found = {}
        for thread in instance.threads:
            logs = [log.changelog for task in thread.active if (log := self.changelogs[task]) is not None]
            written = sum(log.records_per_s * (log.bytes_per_record or 0) for log in logs)
            if share >= 0 and written > 0:
                found[thread.key] = max(1, int(1000 * share / written))
        return found

    def next_poll_ms(self, thread: Thread) -> int:
        """Time until a thread's next poll, drawn; 0 for a thread without running tasks, which polls all the time."""
        every_ms, seen = self.timings.polls_every_ms, self.episode.waits.read
        if seen and thread.running:
            return self.random.choice(seen)
        return self.random.randint(0, every_ms) if every_ms and thread.running else 0

    def missed_ms(self, thread: Thread) -> int:
        """Time until a thread reads a JoinGroup response, drawn from the decisions that threads missed and read."""
        seen = self.episode.waits
        if not (seen.miss and thread.running):
            return 0
        place = self.random.randrange(len(seen.miss) + len(seen.read))
        return seen.miss[place] if place < len(seen.miss) else 0

    def assign_ms(self) -> int:
        """Time of a leader's decision."""
        seen = self.episode.waits.assign
        return self.random.choice(seen) if seen else self.timings.assign_ms

    def revoke_ms(self) -> int:
        """Time from an assignment until a thread has revoked tasks, and rejoins."""
        seen = self.episode.waits.revoke
        return self.random.choice(seen) if seen else self.timings.rejoin_ms

    def lose_disk(self, name: str, process_id: ProcessID | None = None) -> None:
        instance = self.instance(name)
        instance.disks_lost += 1
        instance.stores.clear()
        instance.process_id = process_id or drawn_process_id(self.episode.id, name, instance.disks_lost)
        self.say(name, "lose_disk", f"the state directory of {name} is gone")

    def instance(self, name: str) -> Instance:
        if name not in self.instances:
            process_id = drawn_process_id(self.episode.id, name, 0)
            self.instances[name] = Instance(name, process_id, InstanceSettings())
        return self.instances[name]

    def _end(self, instance: Instance) -> None:
        instance.is_up = False
        for thread in instance.threads:
            for task in sorted(thread.active):
                self._running.end_with_process(thread, task)

    # --- initial state ----------------------------------------------------------------------------------

    def there(self, name: str, settings: InstanceSettings, process_id: ProcessID) -> Instance:
        self.say(name, "start", f"{name} runs already")
        return self._up(name, settings, process_id)

    def has_already(self, thread: Thread, task: int, lag: int, *, is_active: bool) -> None:
        """Give a thread an initial task; a copy is ``lag`` records behind."""
        now, changelog = self.clock.now, self.changelogs[task]
        (thread.active if is_active else thread.standby).add(task)
        thread.is_assigned = True
        self._say_given(thread)
        if is_active:
            thread.had_tasks = True
            self._running.begin_now(thread, task)
            self._running.works(thread, task)
        if changelog is not None:
            store = TaskStore(task, changelog, max(0.0, changelog.end(now) - max(0, lag)), modified_ms=now)
            thread.instance.stores[task] = store
            store.opened(now, thread.key)
            if self.episode.is_at_rest and not self._is_flushed(thread.instance):
                store.flushed = 0.0
            if is_active or lag <= 0:
                self._opening.complete(thread, store)
            else:
                self._opening.load(thread, store)

    def _is_flushed(self, instance: Instance) -> bool:
        """True if a kill leaves the state of an initial process; drawn by the seed.

        RocksDB keeps the offset of the last clean close or full memory. A store restored once and never closed has
        neither (``tests/data/captures/downtime``: A and C lost all state, B and D none).
        """
        if self.episode.eos and not self.episode.keeps_transactions(instance.settings.release):
            return False  # the kill has wiped open stores
        if instance.name not in self._flushed:
            self._flushed[instance.name] = self.random.random() < _FLUSHED_SHARE
        return self._flushed[instance.name]

    def has_on_disk(self, instance: Instance, task: int, lag: int) -> None:
        """Put a directory on disk, ``lag`` records behind, if it has any records."""
        changelog = self.changelogs[task]
        if changelog is not None and 0 <= lag < changelog.end(self.begin_ms):
            offset = changelog.end(self.begin_ms) - lag
            instance.stores[task] = TaskStore(task, changelog, offset, self.begin_ms, modified_ms=self.begin_ms)

    # --- assignments of a protocol ------------------------------------------------------------------------

    def assign(
        self,
        thread: Thread,
        active: Iterable[int],
        standby: Iterable[int],
        *,
        joins_after_ms: int | None = None,
        is_over: bool = False,
    ) -> int:
        """Give a thread these tasks; its other ones are closed or recycled.

        Args:
            joins_after_ms: Time until the thread rejoins within the same poll, or ``None``. Until then, new tasks are
                not initialised and have no input: a consumer that waits for a join requests no positions
                (``ClassicKafkaConsumer.updateAssignmentMetadataIfNeeded``).
            is_over: The thread is no longer a member, and these are not assigned.

        Returns:
            Milliseconds until it has initialised its new tasks, without delays by other threads.
        """
        now = self.clock.now
        active, standby = set(active), set(standby)
        unlock(thread, now)
        for task in sorted(thread.active - active):
            self._running.end(thread, task, REVOKED)
        for task in sorted((thread.active | thread.standby) - active - standby):
            self._opening.close(thread, task)
        added = sorted(active - thread.active)
        watched = sorted(standby - thread.standby)
        thread.active, thread.standby = active, standby
        thread.is_assigned = not is_over
        self._say_given(thread, is_over=is_over)
        self._fetches(thread, added, joins_again=joins_after_ms is not None)
        least_ms = 0 if joins_after_ms is None else joins_after_ms + 1
        first = not thread.had_tasks
        thread.had_tasks = thread.had_tasks or bool(active)
        for task in added:
            self.ledger.caused(task, now, RESTORING)
            self._taken_over(thread.instance, task)
            self._opening.open(thread, task, first=first, least_ms=least_ms)
        for task in watched:
            self._opening.open(thread, task, first=first, least_ms=least_ms)
        if not added and not watched:
            return 0
        takes = self.timings.first_open_store_ms if first else self.timings.open_store_ms
        thread.initialised_ms = now + (takes if active else self.timings.open_store_ms)
        return takes

    def _fetches(self, thread: Thread, added: Iterable[int], *, joins_again: bool) -> None:
        waited, thread.unfetched = thread.unfetched & thread.active, set()
        if joins_again:
            thread.unfetched = waited | set(added)
            return
        for task in sorted(waited & thread.running):
            self._running.has_input(thread, task)

    def _taken_over(self, instance: Instance, task: int) -> None:
        log, store, now = self.changelogs[task], instance.stores.get(task), self.clock.now
        if log is not None:
            lag = log.end(now) - (0.0 if store is None else store.position(now))
            self.takeovers.append(Takeover(task, instance.name, now, max(0.0, lag)))

    def revoke(self, thread: Thread, tasks: Iterable[int]) -> None:
        for task in sorted(tasks):
            if task in thread.active:
                self._running.end(thread, task, REVOKED)
                self._opening.close(thread, task)
                thread.active.discard(task)
        self._say_given(thread)

    def lost(self, thread: Thread) -> None:
        """A removed thread closes its active tasks, which others may run already.

        Copies stay open and follow. With exactly-once, running tasks are closed dirty, and their directories deleted
        unless stores are transactional; restoring ones are not (Kafka: ``TaskManager.handleLostAll``).
        """
        now = self.clock.now
        causes = {task: self.ledger.cause(task) for task in thread.active}
        ran = sorted(thread.running)
        self.assign(thread, (), thread.standby, is_over=True)
        for task, cause in sorted(causes.items()):
            self.ledger.replace_cause([task], now, REVOKED, cause)
        keeps = self.episode.keeps_transactions(thread.instance.settings.release)
        for task in ran if self.episode.eos and not keeps else ():
            thread.instance.stores.pop(task, None)

    def unowned(self, tasks: Iterable[int]) -> None:
        """The group has noticed that these tasks' owner is gone."""
        self.ledger.replace_cause(tasks, self.clock.now, NOT_NOTICED, REBALANCE)

    def has_members(self, *, any_left: bool) -> None:
        """The group has its first member, or no member any more."""
        tasks, now = range(len(self.tasks)), self.clock.now
        for cause in (NOT_NOTICED, REBALANCE) if not any_left else (NOBODY,):
            self.ledger.replace_cause(tasks, now, cause, REBALANCE if any_left else NOBODY)

    # --- stalls -----------------------------------------------------------------------------------------------

    def deferred(self, thread: Thread, action: Callable[[], None]) -> bool:
        return deferred(self.clock, thread, action)

    def stops_working(self, thread: Thread) -> None:
        """Suspend a thread's processing, unnoticed by the group."""
        self._running.pause(thread)

    def waits_for_group(self, thread: Thread) -> None:
        if not thread.waits:
            self._running.pause(thread, REBALANCE)
            thread.waits = True

    def group_is_ready(self, thread: Thread) -> None:
        if thread.waits:
            thread.waits = False
            for task in sorted(thread.running):
                self._running.begin_now(thread, task)

    def stops_restoring(self, instance: Instance) -> None:
        self._opening.stand_still(instance)

    def goes_on(self, thread: Thread) -> None:
        """Resume a thread's work, even on tasks that others have now."""
        for task in sorted(thread.running):
            self._running.begin_now(thread, task)
        self._opening.go_on(thread)

    # --- stores ---------------------------------------------------------------------------------------------

    def lock_unused(self, thread: Thread) -> None:
        """The locks last until the thread's assignment."""
        lock_unused(thread, self.clock.now, self.timings.state_cleanup_delay_ms)

    def offset_sums(self, thread: Thread) -> dict[int, int | None]:
        return reported_offsets(thread, self.clock.now)

    def end_offset(self, task: int) -> int:
        """0 for a task without changelogs."""
        changelog = self.changelogs[task]
        return 0 if changelog is None else int(changelog.end(self.clock.now))

    def finish(self, end_ms: int) -> None:
        for instance in self.instances.values():
            for _, store in sorted(instance.stores.items()):
                self.reads.settle(store, instance.name, end_ms)
        self.ledger.close(end_ms)

    # --- the log ----------------------------------------------------------------------------------------------

    def say(
        self, actor: str, event: str, text: str, *,
        thread: int = NO_THREAD, task: str = "", tasks: Sequence[str] = (), threads: Collection[int] = (),
        active: Sequence[str] = (), standby: Sequence[str] = (), until_ms: int = 0, is_over: bool = False,
    ) -> None:  # fmt: skip
        if self._keeps_log:
            self.log.entries.append(
                EventEntry(
                    self.clock.now - self.begin_ms, actor, event, text,
                    {}, thread, task, tasks, threads, active, standby, until_ms, is_over,
                )
            )  # fmt: skip

    def took_place(self, thread: Thread, before: ProcessID) -> None:
        """A static member replaces one of process ``before``, with the tasks decided for that one."""
        if before != thread.instance.process_id:
            self.say(
                thread.instance.name, "took_place",
                f"thread {thread.number} takes the place of a static member of process {before}", thread=thread.key,
            )  # fmt: skip

    def _say_of(self, thread: Thread, event: str, task: int) -> None:
        text = f"thread {thread.number} {event} {self.tasks[task]}"
        self.say(thread.instance.name, event, text, task=str(self.tasks[task]), thread=thread.key)

    def _say_given(self, thread: Thread, *, is_over: bool = False, has_ended: bool = False) -> None:
        if not self._keeps_log:
            return
        held: tuple[Iterable[int], ...] = ((), ()) if has_ended else (thread.active, thread.standby)
        active, standby = ([str(self.tasks[task]) for task in sorted(of)] for of in held)
        self.say(
            thread.instance.name, "given",
            f"thread {thread.number} has {', '.join(active) or 'nothing'}; copies: {', '.join(standby) or 'none'}",
            thread=thread.key, active=active, standby=standby, is_over=is_over or has_ended,
        )  # fmt: skip
