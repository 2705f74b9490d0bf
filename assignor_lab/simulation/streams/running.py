"""Running tasks of threads, with the resulting ledger and changelogs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from assignor_lab.simulation.clock import VirtualClock
from assignor_lab.simulation.streams.instances import Thread, deferred
from assignor_lab.simulation.streams.processing import NOT_NOTICED, REBALANCE, RESTORING, Ledger
from assignor_lab.simulation.streams.stores import LiveChangelog
from assignor_lab.simulation.streams.timings import StreamsTimings

__all__ = ["Running"]


class Running:
    """The tasks that threads run."""

    def __init__(
        self,
        clock: VirtualClock,
        timings: StreamsTimings,
        ledger: Ledger,
        changelogs: Sequence[LiveChangelog | None],
        say: Callable[[Thread, str, int], None],
    ) -> None:
        self._clock, self._timings, self._ledger, self._changelogs, self._say = clock, timings, ledger, changelogs, say
        self._working: dict[int, list[Thread]] = {}

    # --- a thread begins ------------------------------------------------------------------------------------

    def begin(self, thread: Thread, task: int) -> None:
        """Run a task as soon as the thread is free, if it still has it."""
        if not _has(thread, task) or task in thread.running:
            return
        if not deferred(self._clock, thread, partial(self.begin, thread, task)):
            self.begin_now(thread, task)

    def begin_now(self, thread: Thread, task: int) -> None:
        thread.running.add(task)
        if task in thread.unfetched:
            self._ledger.replace_cause([task], self._clock.now, RESTORING, REBALANCE)
        else:
            self.has_input(thread, task)

    def has_input(self, thread: Thread, task: int) -> None:
        """If its thread waits for the group, it processes the input later."""
        if thread.waits:
            return
        self._say(thread, "runs", task)
        thread.begun[task] = self._clock.now
        self._clock.after(self._timings.output_ms, partial(self._has_output, thread, task, self._clock.now))

    def _has_output(self, thread: Thread, task: int, begun_ms: int) -> None:
        goes_on = _has(thread, task) and task in thread.running and thread.begun.get(task) == begun_ms
        if goes_on and thread.stalled_until_ms is None and not thread.waits:
            self.works(thread, task)

    def works(self, thread: Thread, task: int) -> None:
        """The first thread with output of a task counts as its owner."""
        working = self._working.setdefault(task, [])
        if thread not in working:
            working.append(thread)
            if working[0] is thread:
                self._owns(thread, task)

    def _owns(self, thread: Thread, task: int) -> None:
        self._ledger.starts(task, self._clock.now, thread.instance.name, thread.key)
        log = self._changelogs[task]
        if log is not None:
            log.runs(self._clock.now)

    # --- a thread stops -------------------------------------------------------------------------------------

    def pause(self, thread: Thread, cause: str = NOT_NOTICED) -> None:
        if thread.waits:
            return
        for task in sorted(thread.running - thread.unfetched):
            self._say(thread, "stops", task)
            self._works_no_more(thread, task, cause)

    def end(self, thread: Thread, task: int, cause: str) -> None:
        self._runs_no_more(thread, task)
        self._works_no_more(thread, task, cause)

    def end_with_process(self, thread: Thread, task: int) -> None:
        """The group does not notice it."""
        stood_still = thread.stalled_until_ms is not None and task in thread.running
        self._runs_no_more(thread, task)
        if not stood_still:
            self._works_no_more(thread, task, NOT_NOTICED)

    def _runs_no_more(self, thread: Thread, task: int) -> None:
        if task in thread.running:
            thread.running.discard(task)
            # Pending output is dropped, even if the thread gets the task again.
            thread.begun.pop(task, None)
            if thread.stalled_until_ms is not None or thread.waits or task in thread.unfetched:
                return  # it has reported so, or has never processed anything
            self._say(thread, "stops", task)

    def _works_no_more(self, thread: Thread, task: int, cause: str) -> None:
        working = self._working.get(task, [])
        was_owner = not working or working[0] is thread
        if thread in working:
            working.remove(thread)
        if not was_owner:
            return
        self._ledger.stops(task, self._clock.now, cause)
        log = self._changelogs[task]
        if log is not None and log.stopped_ms is None:
            log.stopped_ms = self._clock.now
        if working:
            self._owns(working[0], task)


def _has(thread: Thread, task: int) -> bool:
    return task in thread.active and thread in thread.instance.threads
