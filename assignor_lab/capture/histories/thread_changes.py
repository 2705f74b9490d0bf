"""Threads that were added to a running process or removed from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import attrs

from assignor_lab.capture.edges.moments import DecisionMoment, Participant
from assignor_lab.documents.wording import natural_order
from assignor_lab.simulation.streams.presence import next_thread
from assignor_lab.simulation.streams.timings import StreamsTimings

__all__ = ["ThreadChange", "ThreadsOfProcess", "threads_of_process"]

#: Threads join one by one after the start of their process.
_WITH_PROCESS_MS = 60_000


@attrs.frozen
class ThreadChange:
    """A thread that was added or removed.

    Args:
        type: ``add_thread`` or ``remove_thread``.
        thread: Number of a removed thread.
        member_id: Of an added thread.
    """

    place: int
    type: str
    thread: int | None = None
    member_id: str | None = None


@attrs.frozen
class ThreadsOfProcess:
    """Threads of a process.

    Args:
        members: That started with it, by number.
        seen: Place of the first decision that has each of them.
    """

    members: tuple[str, ...]
    changes: tuple[ThreadChange, ...]
    seen: tuple[int, ...] = ()


def threads_of_process(
    moments: Sequence[DecisionMoment], place: int, process: str, timings: StreamsTimings, *, is_start: bool
) -> ThreadsOfProcess:
    """The threads of a process that first appears at an index.

    A thread that is missing for less than ``max.poll.interval.ms`` was late. Threads that are missing shortly before
    the end of their process ended with it.

    Args:
        is_start: False if the process ran before.
    """
    seen = list(_appearances(moments, place, process))
    shown = [each.threads for _, each in seen]
    times = [moments[at].time_ms for at, _ in seen]
    soon_ms = times[0] + _WITH_PROCESS_MS if is_start else times[0]
    began = {key: each[key] for each, time in zip(shown, times, strict=True) if time <= soon_ms for key in each}
    numbers = {key: number for number, key in enumerate(sorted(began, key=natural_order), start=1)}
    changes: list[ThreadChange] = []
    ends_ms = _ends_ms(moments, seen[-1][0], process, timings)
    for index in range(1, len(seen)):
        at, here = seen[index][0], shown[index]
        missing = [key for key in numbers if key not in here and not _is_back(key, index, shown, times, timings)]
        new = [key for key in here if key not in numbers]
        # A member rejoined under another id.
        for old, other in zip(list(missing), list(new), strict=False):
            if not (old.isdigit() or other.isdigit()):
                numbers[other] = numbers.pop(old)
                missing.remove(old)
                new.remove(other)
        if ends_ms is None or times[index] < ends_ms:
            changes += [ThreadChange(at, "remove_thread", numbers.pop(key)) for key in missing]
        for key in new:
            numbers[key] = next_thread(list(numbers.values()))
            changes.append(ThreadChange(at, "add_thread", member_id=here[key]))
    keys = sorted(began, key=natural_order)
    places = tuple(next(at for (at, _), each in zip(seen, shown, strict=True) if key in each) for key in keys)
    return ThreadsOfProcess(tuple(began[key] for key in keys), tuple(changes), places)


def _appearances(moments: Sequence[DecisionMoment], place: int, process: str) -> Iterator[tuple[int, Participant]]:
    """Consecutive decisions that share a member."""
    before = moments[place].participants[process]
    for at in range(place, len(moments)):
        each = moments[at].participants.get(process)
        if each is None or not each.share.continues(before.share):
            return
        yield at, each
        before = each


def _is_back(
    key: str, index: int, shown: Sequence[Mapping[str, str]], times: Sequence[int], timings: StreamsTimings
) -> bool:
    """Before ``max.poll.interval.ms``, or not joined yet."""
    back = next((at for at in range(index + 1, len(shown)) if key in shown[at]), None)
    if back is None:
        return False
    last = next((at for at in range(index - 1, -1, -1) if key in shown[at]), None)
    return last is None or times[back] - times[last] <= timings.max_poll_interval_ms


def _ends_ms(moments: Sequence[DecisionMoment], last: int, process: str, timings: StreamsTimings) -> int | None:
    """Earliest moment at which a missing thread can have ended with its process."""
    client = moments[last].participants[process].client_id
    session_ms = max(timings.session_timeout_ms, timings.streams_session_timeout_ms)
    stops = [
        each.time_ms
        for moment in moments[max(0, last - 1) : last + 2]
        for each in moment.noted
        if each.client == client and each.type in ("stop", "fenced", "gone")
    ]
    if last + 1 < len(moments):
        return min([moments[last + 1].time_ms - session_ms, *stops])
    return min(stops) if stops else None
