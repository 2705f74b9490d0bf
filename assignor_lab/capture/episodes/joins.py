"""When threads of a recorded experiment first asked to join their group, which is the machine's doing and not the group's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import attrs

from assignor_lab.capture.episodes.instances import instance_of
from assignor_lab.capture.episodes.timeline import Done, Timeline
from assignor_lab.simulation.streams.timings import Timings

__all__ = ["Join", "first_joins", "joins_ms"]

#: What a coordinator says of a join that sets a rebalance off.
_NEW_MEMBER = re.compile(r"^Adding new member (?P<member>\S+)")
#: A consumer's name after its client's, and a static member's after its instance id.
_THREAD = re.compile(r"^-(?:StreamThread-)?(?P<number>[0-9]{1,5})(?:-|$)")


@attrs.frozen
class Join:
    """A thread's first request to join.

    Args:
        time_ms: When, in epoch milliseconds.
        instance: Whose thread it is.
        thread: Its number, from 1.
    """

    time_ms: int
    instance: str
    thread: int


def first_joins(timeline: Timeline, names: Mapping[str, str]) -> tuple[Join, ...]:
    """Every first join that the recording tells of, by time.

    Brokers write down each join of a streams group. Of a classic group they tell of those that set a rebalance off:
    of whoever comes first.

    Args:
        timeline: The recording.
        names: What client ids begin with, to the instance.
    """
    return tuple(sorted(_joins(timeline, names), key=lambda each: each.time_ms))


def _joins(timeline: Timeline, names: Mapping[str, str]) -> Iterator[Join]:
    told = [(each.time_ms, timeline.clients.get(each.member, "")) for each in timeline.members if each.event == "joins"]
    for generation in timeline.generations:
        if (new := _NEW_MEMBER.match(generation.reason)) is not None:
            told.append((generation.prepared_ms, new["member"]))
    for time_ms, consumer in told:
        instance = instance_of(consumer, names)
        if instance is None:
            continue
        for name in (each for each, of in names.items() if of == instance and consumer.startswith(f"{each}-")):
            if (thread := _THREAD.match(consumer[len(name) :])) is not None:
                yield Join(time_ms, instance, int(thread["number"]))
                break


def joins_ms(timeline: Timeline, joins: tuple[Join, ...], done: Done, threads: int, startup_ms: int | None) -> list[int | None]:
    """What a start says of its threads' joins: milliseconds after it, or ``None`` where that is not told.

    Who is not told of in a group that was empty came after the one who is: else it would have been the first.

    Args:
        timeline: The recording.
        joins: All that is told.
        done: The start.
        threads: Threads of the instance.
        startup_ms: What the process took until it had started its threads, if it is known.
    """
    later = [each.time_ms for each in timeline.done if each.instance == done.instance and each.time_ms > done.time_ms]
    until = later[0] if later else None
    within = [each for each in joins if done.time_ms <= each.time_ms and (until is None or each.time_ms < until)]
    own = {each.thread: each.time_ms - done.time_ms for each in reversed(within) if each.instance == done.instance}
    if own:
        return [own.get(number) for number in range(1, threads + 1)]
    first = joins[0] if joins else None
    usual = Timings().join_ms + (Timings().startup_ms if startup_ms is None else startup_ms)
    if first is None or not done.time_ms + usual <= first.time_ms or first not in within:
        return []
    return [first.time_ms - done.time_ms] * threads
