"""Threads that were added to a running process or removed from it, as the members of its decisions show them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import attrs

from assignor_lab.capture.histories.moments import Moment, Participant
from assignor_lab.documents.wording import natural_order
from assignor_lab.simulation.streams.presence import next_thread
from assignor_lab.simulation.streams.timings import Timings

__all__ = ["ThreadChange", "ThreadsOfProcess", "threads_of_process"]

#: Threads that first appear so soon after their process were started with it: they join one after the other.
_WITH_PROCESS_MS = 60_000


@attrs.frozen
class ThreadChange:
    """A thread that was added or removed.

    Args:
        place: Place of the first decision that shows it.
        type: ``add_thread`` or ``remove_thread``.
        details: Further keys of the episode's event.
    """

    place: int
    type: str
    details: Mapping[str, object]


@attrs.frozen
class ThreadsOfProcess:
    """Threads of a process from its start to its end.

    Args:
        members: Member ids of the threads that were started with the process, by number.
        changes: Later changes, by time.
    """

    members: tuple[str, ...]
    changes: tuple[ThreadChange, ...]


def threads_of_process(
    moments: Sequence[Moment], place: int, process: str, timings: Timings, *, is_start: bool
) -> ThreadsOfProcess:
    """The threads of a process that first appears at a place.

    A thread that is missing for less than ``max.poll.interval.ms`` was late and was not removed. Threads that are
    missing shortly before their process is gone ended with it.

    Args:
        moments: The decisions, by time.
        place: Place of its first decision.
        process: Its process id.
        timings: The group's timeouts.
        is_start: Whether the process was started then, and did not run before.
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
        # A member that joined again under another id, where ids are all that is known of threads.
        for old, other in zip(list(missing), list(new), strict=False):
            if not (old.isdigit() or other.isdigit()):
                numbers[other] = numbers.pop(old)
                missing.remove(old)
                new.remove(other)
        if ends_ms is None or times[index] < ends_ms:
            changes += [ThreadChange(at, "remove_thread", {"thread": numbers.pop(key)}) for key in missing]
        for key in new:
            numbers[key] = next_thread(list(numbers.values()))
            changes.append(ThreadChange(at, "add_thread", {"member_id": here[key]}))
    return ThreadsOfProcess(tuple(began[key] for key in sorted(began, key=natural_order)), tuple(changes))


def _appearances(moments: Sequence[Moment], place: int, process: str) -> Iterator[tuple[int, Participant]]:
    """Place and participant, as long as each decision has a member of the one before."""
    before = moments[place].participants[process]
    for at in range(place, len(moments)):
        each = moments[at].participants.get(process)
        if each is None or (at > place and each.members.isdisjoint(before.members)):
            return
        yield at, each
        before = each


def _is_back(key: str, index: int, shown: Sequence[Mapping[str, str]], times: Sequence[int], timings: Timings) -> bool:
    """Whether a thread that is missing appears again before ``max.poll.interval.ms``, or is yet to join at all."""
    back = next((at for at in range(index + 1, len(shown)) if key in shown[at]), None)
    if back is None:
        return False
    last = next((at for at in range(index - 1, -1, -1) if key in shown[at]), None)
    return last is None or times[back] - times[last] <= timings.max_poll_interval_ms


def _ends_ms(moments: Sequence[Moment], last: int, process: str, timings: Timings) -> int | None:
    """The moment from which a missing thread may have ended with its process; ``None``: it did not end."""
    client = moments[last].participants[process].client_id
    session_ms = max(timings.session_timeout_ms, timings.streams_session_timeout_ms)
    stops = [
        int(each["time_ms"])
        for moment in moments[max(0, last - 1) : last + 2]
        for each in moment.document["source"].get("done", ())
        if each["client"] == client and each["type"] in ("stop", "fenced")
    ]
    if last + 1 < len(moments):
        return min([moments[last + 1].time_ms - session_ms, *stops])
    return min(stops) if stops else None
