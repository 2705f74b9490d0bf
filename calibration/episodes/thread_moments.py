"""First joins of threads in a recorded experiment, and leaves of closed instances' threads.

Both depend on the machine alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import attrs

from assignor_lab.capture.timelines.instances import instance_of
from assignor_lab.capture.timelines.timeline import RecordedTimeline, TimelineAction
from assignor_lab.simulation.streams.timings import StreamsTimings

__all__ = ["ThreadMoment", "joins", "joins_ms", "leaves", "leaves_ms"]

#: The coordinator's log line on a join that triggers a rebalance.
_NEW_MEMBER = re.compile(r"^Adding new member (?P<member>\S+)")
#: A consumer's name after its client's, and a static member's after its instance id.
_THREAD = re.compile(r"^-(?:StreamThread-)?(?P<number>[0-9]{1,5})(?:-|$)")


@attrs.frozen
class ThreadMoment:
    """A moment of one thread.

    Args:
        time_ms: In epoch milliseconds.
        thread: Its number, from 1.
    """

    time_ms: int
    instance: str
    thread: int


def joins(timeline: RecordedTimeline, names: Mapping[str, str]) -> tuple[ThreadMoment, ...]:
    """Every recorded first join, by time.

    Brokers record a join of a streams group after processing it, which takes a while for the first one. For a classic
    group they record only joins that trigger a rebalance: the first members'.
    """
    first = [
        (generation.prepared_ms, new["member"])
        for generation in timeline.generations
        if (new := _NEW_MEMBER.match(generation.reason)) is not None
    ]
    return _moments([*first, *_written_down(timeline)], names)


def leaves(timeline: RecordedTimeline, names: Mapping[str, str]) -> tuple[ThreadMoment, ...]:
    return _moments(_logged(timeline, "left"), names)


def _written_down(timeline: RecordedTimeline) -> Iterator[tuple[int, str]]:
    """A join's record: with the member's next state, before its next join or leave."""
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


def _logged(timeline: RecordedTimeline, event: str) -> Iterator[tuple[int, str]]:
    for each in timeline.members:
        if each.event == event:
            yield each.time_ms, timeline.clients.get(each.member, "")


def _moments(logged: Iterable[tuple[int, str]], names: Mapping[str, str]) -> tuple[ThreadMoment, ...]:
    found = []
    for time_ms, consumer in logged:
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
    timeline: RecordedTimeline,
    moments: Sequence[ThreadMoment],
    done: TimelineAction,
    threads: int,
    startup_ms: int | None,
) -> list[int | None]:
    """Milliseconds from a ``start`` event to each thread's join, or ``None``.

    In an empty group, an unrecorded thread came after the recorded one: otherwise it would have been the first.

    Args:
        startup_ms: From the process's start to its threads' start, if known.
    """
    own = _after(timeline, moments, done, threads)
    if own or not moments:
        return own
    first_ms = moments[0].time_ms - done.time_ms
    usual = StreamsTimings().join_ms + (StreamsTimings().startup_ms if startup_ms is None else startup_ms)
    return [first_ms + 1] * threads if usual <= first_ms and _is_within(timeline, moments[0], done) else []


def leaves_ms(
    timeline: RecordedTimeline, moments: Sequence[ThreadMoment], done: TimelineAction, threads: int
) -> list[int | None]:
    """Milliseconds from a ``stop`` event to each thread's leave, or ``None``."""
    return _after(timeline, moments, done, threads)


def _after(
    timeline: RecordedTimeline, moments: Sequence[ThreadMoment], done: TimelineAction, threads: int
) -> list[int | None]:
    first: dict[int, int] = {}
    for each in moments:
        if each.instance == done.instance and _is_within(timeline, each, done):
            first.setdefault(each.thread, each.time_ms - done.time_ms)
    return [first.get(number) for number in range(1, threads + 1)] if first else []


def _is_within(timeline: RecordedTimeline, each: ThreadMoment, done: TimelineAction) -> bool:
    until = (
        other.time_ms for other in timeline.done if other.instance == done.instance and other.time_ms > done.time_ms
    )
    return done.time_ms <= each.time_ms < min(until, default=each.time_ms + 1)
