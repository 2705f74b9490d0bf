"""Safety rules of a Streams group, judged from an episode's log alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

import attrs

from assignor_lab.simulation.event_log import NO_THREAD
from assignor_lab.simulation.streams.generations import Generation
from assignor_lab.simulation.streams.safety.findings import BrokenRule
from assignor_lab.simulation.streams.safety.rest import LAST_CHANGES
from assignor_lab.simulation.streams.simulate import PlayedStreamsEpisode

__all__ = ["RULES", "broken_rules"]

_ROUNDING = 1e-6

RULES: Mapping[str, str] = {
    "one owner": "no active task is processed by two threads at once",
    "no standby beside its active": "no process has a task as active and as a copy at once",
    "fenced": "no thread processes anything after its member was removed from the group",
    "nothing lost": "in the end every task runs that an instance could run",
    "rest": "a group without events settles",
    "at rest": "a settled group moves nothing in a rebalance without changes",
    "restoring": "no restoration reads a negative amount, or more than the changelog has",
    "generations": "generations and epochs never go back",
    "times": "interruptions are exactly the times without processing, within the episode, one after the other",
    "answers": "the assignor has an answer",
    "ends": "an episode can be simulated to its end",
}


def broken_rules(played: PlayedStreamsEpisode) -> list[BrokenRule]:
    history = _History(played)
    return [
        *_one_owner(history), *_no_standby_beside(history), *_fenced(history), *_nothing_lost(history),
        *_rest(played), *_restoring(played), *_generations(played.generations), *_times(history), *_answers(played),
    ]  # fmt: skip


@attrs.frozen
class _Stretch:
    """A period of a thread with a task."""

    begin_ms: int
    end_ms: int
    thread: int
    instance: str


class _History:
    """Each thread's tasks and runs, and removals of members. Times count from the beginning."""

    def __init__(self, played: PlayedStreamsEpisode) -> None:
        self.played = played
        self.end_ms = played.episode.until_ms
        #: Task to its runs, by time of the end; then its active owners, and its copies.
        self.runs: dict[str, list[_Stretch]] = {}
        self.active: dict[str, list[_Stretch]] = {}
        self.copies: dict[str, list[_Stretch]] = {}
        self.removed: list[tuple[int, int]] = []
        self.up: dict[str, bool] = {}
        self.existing: list[tuple[int, frozenset[str]]] = [(0, frozenset(map(str, played.world.tasks)))]
        self._read()

    def _read(self) -> None:
        running: dict[tuple[str, int], tuple[int, str]] = {}
        given: tuple[dict[tuple[str, int], tuple[int, str]], ...] = ({}, {})
        for entry in self.played.world.log.entries:
            event, at = entry.event, entry.time_ms
            if event == "runs":
                running[entry.task, entry.thread] = (at, entry.actor)
            elif event == "stops":
                self._ends(self.runs, running, (entry.task, entry.thread), at)
            elif event == "given":
                self._given(given[0], self.active, entry.thread, entry.actor, entry.active, at)
                self._given(given[1], self.copies, entry.thread, entry.actor, entry.standby, at)
            elif event == "removed" and entry.thread != NO_THREAD:
                self.removed.append((at, entry.thread))
            elif event == "tasks":
                self.existing.append((at, frozenset(entry.tasks)))
            elif event in ("start", "stop", "crash"):
                self.up[entry.actor] = event == "start"
                if event != "start":
                    # Its threads are gone, with all their tasks.
                    for begun, ended in zip(given, (self.active, self.copies), strict=True):
                        for key in [key for key, (_, actor) in begun.items() if actor == entry.actor]:
                            self._ends(ended, begun, key, at)
        for begun, ended in ((running, self.runs), (given[0], self.active), (given[1], self.copies)):
            for key in list(begun):
                self._ends(ended, begun, key, self.end_ms)

    def absent(self, task: str) -> list[tuple[int, int]]:
        ends = (*(at for at, _ in self.existing[1:]), self.end_ms)
        return [
            (begin, end)
            for (begin, tasks), end in zip(self.existing, ends, strict=True)
            if task not in tasks and begin < end
        ]

    def _given(
        self,
        begun: dict[tuple[str, int], tuple[int, str]],
        ended: dict[str, list[_Stretch]],
        thread: int,
        actor: str,
        tasks: Iterable[str],
        at: int,
    ) -> None:
        now = {(task, thread) for task in tasks}
        for key in [key for key in begun if key[1] == thread and key not in now]:
            self._ends(ended, begun, key, at)
        for key in now:
            begun.setdefault(key, (at, actor))

    def _ends(
        self,
        ended: dict[str, list[_Stretch]],
        begun: dict[tuple[str, int], tuple[int, str]],
        key: tuple[str, int],
        at: int,
    ) -> None:
        begin, actor = begun.pop(key)
        ended.setdefault(key[0], []).append(_Stretch(begin, at, key[1], actor))


def _overlaps(first: Iterable[_Stretch], second: Iterable[_Stretch]) -> Iterator[tuple[_Stretch, _Stretch, int, int]]:
    for one in first:
        for other in second:
            begin, end = max(one.begin_ms, other.begin_ms), min(one.end_ms, other.end_ms)
            if begin < end:
                yield one, other, begin, end


def _one_owner(history: _History) -> Iterator[BrokenRule]:
    for task, runs in sorted(history.runs.items()):
        # A thread that gives up right after a stall has processed nothing.
        worked = [run for run in runs if run.begin_ms < run.end_ms]
        ordered = sorted(worked, key=lambda run: (run.begin_ms, run.thread))
        for before, after in pairwise(ordered):
            if after.begin_ms < before.end_ms:
                yield BrokenRule(
                    "one owner",
                    f"{task} ran on {before.instance} (thread {before.thread}) and {after.instance} (thread "
                    f"{after.thread}) from {after.begin_ms} ms to {min(before.end_ms, after.end_ms)} ms",
                    task=task,
                    threads=(before.thread, after.thread),
                    begin_ms=after.begin_ms,
                    end_ms=min(before.end_ms, after.end_ms),
                )


def _no_standby_beside(history: _History) -> Iterator[BrokenRule]:
    for task, copies in sorted(history.copies.items()):
        for active, copy, begin, end in _overlaps(history.active.get(task, ()), copies):
            if active.instance == copy.instance:
                yield BrokenRule(
                    "no standby beside its active",
                    f"{active.instance} had {task} as active (thread {active.thread}) and as a copy (thread "
                    f"{copy.thread}) from {begin} ms to {end} ms",
                    task=task,
                    threads=(active.thread, copy.thread),
                    begin_ms=begin,
                    end_ms=end,
                )


def _fenced(history: _History) -> Iterator[BrokenRule]:
    if not history.removed:
        return
    joined = {(entry.thread, entry.time_ms) for entry in history.played.world.log.entries if entry.event == "joins"}
    for at, thread in history.removed:
        back = min((time for each, time in joined if each == thread and time >= at), default=history.end_ms)
        for task, runs in sorted(history.runs.items()):
            for run in runs:
                if run.thread == thread and run.begin_ms < min(back, run.end_ms) and run.end_ms > at:
                    yield BrokenRule(
                        "fenced",
                        f"{run.instance} (thread {thread}) was removed at {at} ms and ran {task} until {run.end_ms} ms",
                        threads=(thread,),
                        end_ms=run.end_ms,
                    )


def _nothing_lost(history: _History) -> Iterator[BrokenRule]:
    if not any(history.up.values()):
        return
    end, played = history.end_ms, history.played
    for number, task in enumerate(map(str, played.world.tasks)):
        if number not in played.world.existing:
            continue
        had = history.active.get(task, ())
        owned = [each for each in had if each.end_ms == end and history.up.get(each.instance)]
        if not owned:
            given_up = max((each.end_ms for each in had if each.end_ms < end), default=0)
            if not _is_handed_over(played, given_up):
                yield BrokenRule("nothing lost", f"{task} has no owner at the end, {end} ms")
        elif not any(run.end_ms == end for run in history.runs.get(task, ())):
            if _is_restored(played, number, owned[0]):
                continue
            where = ", ".join(f"{each.instance} (thread {each.thread})" for each in owned)
            yield BrokenRule(
                "nothing lost", f"{task} is assigned to {where} since {owned[0].begin_ms} ms and does not run"
            )
        elif played.world.ledger.owner(number) is None:
            yield BrokenRule("nothing lost", f"{task} runs, and the ledger has no owner")


def _is_handed_over(played: PlayedStreamsEpisode, given_up_ms: int) -> bool:
    latest = played.generations[-1] if played.generations else None
    return (
        latest is not None
        and latest.followup == "immediate"
        and given_up_ms >= latest.assigned_ms - played.world.begin_ms
        and played.episode.until_ms - given_up_ms <= played.world.timings.max_poll_interval_ms
    )


def _is_restored(played: PlayedStreamsEpisode, task: int, owner: _Stretch) -> bool:
    """True if a task that moved after the last change is still being restored."""
    changes = _last_changes(played)
    instance = played.world.instances.get(owner.instance)
    store = None if instance is None else instance.stores.get(task)
    return bool(changes) and owner.begin_ms > changes[-1] and store is not None and store.load is not None


def _rest(played: PlayedStreamsEpisode) -> Iterator[BrokenRule]:
    if played.is_cut:
        yield BrokenRule(
            "rest",
            f"each rebalance requests the next one at once, even {played.episode.until_ms} ms after the beginning: it "
            "goes in a cycle, and the simulation stops here",
        )
        return
    changes = _last_changes(played)
    if len(changes) < 2:
        return
    begin = played.world.begin_ms
    wait = changes[1] - changes[0]
    restless = [
        each.assigned_ms - begin
        for each in played.generations
        for change in changes[:1]
        if change - wait // 4 < each.assigned_ms - begin < change
    ]
    if restless:
        yield BrokenRule(
            "rest",
            f"{len(restless)} rebalances in the last {wait // 4} ms before {changes[0]} ms, when nothing had happened "
            f"for {wait} ms",
        )
        return
    placed = [_placement_before(played, at) for at in (*changes, played.episode.until_ms)]
    if placed[-1] == placed[-2]:
        return
    moved = sorted(
        {
            kind
            for instance in {*placed[-1], *placed[-2]}
            for kind, before, after in zip(
                ("active", "standby"), placed[-2].get(instance, ((), ())), placed[-1].get(instance, ((), ())),
                strict=True,
            )
            if before != after
        }
    )  # fmt: skip
    period = next((back for back in range(2, len(placed)) if placed[-1 - back] == placed[-1]), None)
    swing = f"it swings between {period} placements" if period else "no placement came back"
    yield BrokenRule(
        "at rest",
        f"{' and '.join(moved)} tasks moved at {changes[-1]} ms and at the {len(changes) - 1} changes before: {swing}",
    )


def _last_changes(played: PlayedStreamsEpisode) -> list[int]:
    found: list[int] = []
    after = played.episode.until_ms
    wait = 0
    for event in reversed(played.episode.events):
        wait = wait or after - event.at_ms
        if event.type != "metadata_changes" or after - event.at_ms != wait:
            break
        found.insert(0, event.at_ms)
        after = event.at_ms
    return found[-LAST_CHANGES:]


def _placement_before(
    played: PlayedStreamsEpisode, at_ms: int
) -> Mapping[str, tuple[tuple[int, ...], tuple[int, ...]]]:
    begin = played.world.begin_ms
    latest: Mapping[str, tuple[tuple[int, ...], tuple[int, ...]]] = {}
    for each in played.generations:
        if each.assigned_ms - begin < at_ms:
            latest = each.assigned
    return latest


def _restoring(played: PlayedStreamsEpisode) -> Iterator[BrokenRule]:
    world = played.world
    end_ms = world.begin_ms + played.episode.until_ms
    for read in world.reads.all:
        changelog = world.changelogs[read.task]
        size = 0.0 if changelog is None else changelog.end(end_ms) * (changelog.changelog.bytes_per_record or 0.0)
        if not -_ROUNDING * max(1.0, size) <= read.size <= size * (1 + _ROUNDING) + _ROUNDING:
            yield BrokenRule(
                "restoring",
                f"{read.instance} read {read.size:.0f} bytes of {world.tasks[read.task]} from "
                f"{read.begun_ms - world.begin_ms} ms on; its changelogs have {size:.0f}",
            )


def _generations(generations: Iterable[Generation]) -> Iterator[BrokenRule]:
    for before, after in pairwise(generations):
        if after.number <= before.number or after.assigned_ms < before.assigned_ms:
            yield BrokenRule("generations", f"generation {after.number} came after {before.number}")
        if not after.prepared_ms <= after.joined_ms <= after.assigned_ms:
            yield BrokenRule("generations", f"generation {after.number} was assigned before it had begun")


def _times(history: _History) -> Iterator[BrokenRule]:
    world = history.played.world
    begin, end, output = world.begin_ms, history.end_ms, world.timings.output_ms
    for number, task in enumerate(map(str, world.tasks)):
        reached = 0
        spans: list[tuple[int, int]] = []
        for since, until, cause in world.ledger.intervals[number]:
            since, until = since - begin, until - begin
            if not reached <= since < until <= end:
                yield BrokenRule("times", f"{task}: interval {since} to {until} ms ({cause}) after {reached} ms")
            reached = until
            if spans and spans[-1][1] == since:
                spans[-1] = (spans[-1][0], until)
            else:
                spans.append((since, until))
        # Initially running tasks had output before.
        runs = [(run.begin_ms + (output if run.begin_ms else 0), run.end_ms) for run in history.runs.get(task, ())]
        covered = [*((since, until) for since, until in runs if since < until), *history.absent(task)]
        left = _gaps(covered, end)
        if spans != left:
            wrong = next((pair for pair in (*spans, *left) if (pair in spans) != (pair in left)), None)
            yield BrokenRule(
                "times", f"{task}: no thread processed it in {left}, but the intervals are {spans}: {wrong}"
            )


def _answers(played: PlayedStreamsEpisode) -> Iterator[BrokenRule]:
    for at_ms, message in played.failures[:1]:
        yield BrokenRule("answers", f"there was no new target at {at_ms - played.world.begin_ms} ms: {message:.500}")


def _gaps(covered: Iterable[tuple[int, int]], end: int) -> list[tuple[int, int]]:
    found, reached = [], 0
    for since, until in sorted(covered):
        if since > reached:
            found.append((reached, since))
        reached = max(reached, until)
    if reached < end:
        found.append((reached, end))
    return found
