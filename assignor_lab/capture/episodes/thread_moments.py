"""When threads of a recorded experiment first asked to join, and when those of a closed instance left.

Both are the machine's doing, as is what a process takes to start, and not the group's: it hears of it then.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import attrs

from assignor_lab.capture.episodes.instances import instance_of
from assignor_lab.capture.episodes.timeline import Done, Timeline
from assignor_lab.simulation.streams.timings import Timings

__all__ = ["ThreadMoment", "joins", "joins_ms", "leaves", "leaves_ms"]

#: What a coordinator says of a join that sets a rebalance off.
_NEW_MEMBER = re.compile(r"^Adding new member (?P<member>\S+)")
#: A consumer's name after its client's, and a static member's after its instance id.
_THREAD = re.compile(r"^-(?:StreamThread-)?(?P<number>[0-9]{1,5})(?:-|$)")


@attrs.frozen
class ThreadMoment:
    """A moment of one thread.

    Args:
        time_ms: When, in epoch milliseconds.
        instance: Whose thread it is.
        thread: Its number, from 1.
    """

    time_ms: int
    instance: str
    thread: int


def joins(timeline: Timeline, names: Mapping[str, str]) -> tuple[ThreadMoment, ...]:
    """Every first join that the recording tells of, by time.

    Brokers write down each join of a streams group, when they have gone through it; the first one of a group takes them
    a while. Of a classic group they tell of those that set a rebalance off: of whoever comes first.

    Args:
        timeline: The recording.
        names: What client ids begin with, to the instance.
    """
    first = [
        (generation.prepared_ms, new["member"])
        for generation in timeline.generations
        if (new := _NEW_MEMBER.match(generation.reason)) is not None
    ]
    return _moments([*first, *_written_down(timeline)], names)


def leaves(timeline: Timeline, names: Mapping[str, str]) -> tuple[ThreadMoment, ...]:
    """Every member of a streams group that left, by time."""
    return _moments(_told(timeline, "left"), names)


def _written_down(timeline: Timeline) -> Iterator[tuple[int, str]]:
    """When each join was written down: with the member's next state, before it joins again or goes."""
    found, states = [], dict[str, int]()
    for each in reversed(timeline.members):
        if each.state:
            states[each.member] = each.time_ms
            continue
        after = states.pop(each.member, None)
        if each.event == "joins":
            written_ms = each.time_ms if after is None else after
            found.append((written_ms, timeline.clients.get(each.member, "")))
    yield from reversed(found)


def _told(timeline: Timeline, event: str) -> Iterator[tuple[int, str]]:
    for each in timeline.members:
        if each.event == event:
            yield each.time_ms, timeline.clients.get(each.member, "")


def _moments(told: Iterable[tuple[int, str]], names: Mapping[str, str]) -> tuple[ThreadMoment, ...]:
    found = []
    for time_ms, consumer in told:
        instance = instance_of(consumer, names)
        number = None if instance is None else _thread(consumer, [name for name, of in names.items() if of == instance])
        if instance is not None and number is not None:
            found.append(ThreadMoment(time_ms, instance, number))
    return tuple(sorted(found, key=lambda each: each.time_ms))


def _thread(consumer: str, names: Iterable[str]) -> int | None:
    for name in names:
        if consumer.startswith(name) and (thread := _THREAD.match(consumer[len(name) :])) is not None:
            return int(thread["number"])
    return None


def joins_ms(
    timeline: Timeline, told: Sequence[ThreadMoment], done: Done, threads: int, startup_ms: int | None
) -> list[int | None]:
    """What a start says of its threads' joins: milliseconds after it, or ``None`` where that is not told.

    Whoever is not told of in a group that was empty came after the one who is: else it would have been the first.

    Args:
        timeline: The recording.
        told: All joins that are told of.
        done: The start.
        threads: Threads of the instance.
        startup_ms: What the process took until it had started its threads, if it is known.
    """
    own = _after(timeline, told, done, threads)
    if own or not told:
        return own
    first_ms = told[0].time_ms - done.time_ms
    usual = Timings().join_ms + (Timings().startup_ms if startup_ms is None else startup_ms)
    return [first_ms + 1] * threads if usual <= first_ms and _is_within(timeline, told[0], done) else []


def leaves_ms(timeline: Timeline, told: Sequence[ThreadMoment], done: Done, threads: int) -> list[int | None]:
    """What a stop says of when its threads left: milliseconds after it, or ``None`` where that is not told."""
    return _after(timeline, told, done, threads)


def _after(timeline: Timeline, told: Sequence[ThreadMoment], done: Done, threads: int) -> list[int | None]:
    first: dict[int, int] = {}
    for each in told:
        if each.instance == done.instance and _is_within(timeline, each, done):
            first.setdefault(each.thread, each.time_ms - done.time_ms)
    return [first.get(number) for number in range(1, threads + 1)] if first else []


def _is_within(timeline: Timeline, each: ThreadMoment, done: Done) -> bool:
    """Whether it was after something was done to an instance, and before the next thing was."""
    until = (
        other.time_ms for other in timeline.done if other.instance == done.instance and other.time_ms > done.time_ms
    )
    return done.time_ms <= each.time_ms < min(until, default=each.time_ms + 1)
