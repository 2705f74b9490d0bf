"""The process ids of a recorded experiment: from brokers' answers, or invented ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from assignment_api.streams import ProcessID, TaskId
from assignor_lab.capture.recorded.recording import RecordedResponses
from assignor_lab.capture.timelines.instances import instance_of
from assignor_lab.capture.timelines.timeline import RecordedTimeline
from calibration.episodes.decided_again import DecidedAgain
from calibration.episodes.instances import Incarnation, incarnations
from calibration.episodes.made_up_processes import hashed_process_id, ordered_process_id
from calibration.episodes.process_search import FoundProcesses, agreeing_processes
from calibration.episodes.streams_protocol import member_ids

__all__ = ["agreeing_process_ids", "process_ids_in_order", "shown_process_ids"]


def shown_process_ids(
    timeline: RecordedTimeline, names: Mapping[str, str], recording: RecordedResponses | None
) -> dict[Incarnation, ProcessID]:
    joined = {each.member: each.time_ms for each in timeline.members if each.event == "joins"}
    return {} if recording is None else _seen(incarnations(timeline), names, recording, joined)


def process_ids_in_order(timeline: RecordedTimeline, names: Mapping[str, str]) -> dict[Incarnation, ProcessID]:
    """Invented process ids, in the order of the recorded assignments.

    Process ids are random, and assignors break ties by them.
    """
    make = ordered_process_id if timeline.kind == "streams-classic" else hashed_process_id
    return {each: make(place, each.disks_lost) for place, each in enumerate(_order(timeline, names))}


def agreeing_process_ids(
    timeline: RecordedTimeline, names: Mapping[str, str], again: DecidedAgain, shown: Mapping[Incarnation, ProcessID]
) -> FoundProcesses:
    """Process ids with which the broker's assignor reproduces the recording, including recorded ids."""
    of_member = {
        member: each
        for time, each in incarnations(timeline)
        for member in member_ids(timeline, each.instance, time, names)
    }
    return agreeing_processes(again, of_member, _order(timeline, names), shown)


def _seen(
    starts: Sequence[tuple[int, Incarnation]],
    names: Mapping[str, str],
    recording: RecordedResponses,
    joined: Mapping[str, int],
) -> dict[Incarnation, ProcessID]:
    found: dict[Incarnation, ProcessID] = {}
    for seen in recording.groups:
        for member in seen.answer.members:
            instance = instance_of(member.client_id, names) or instance_of(member.member_id, names)
            if instance is None or member.subscription is None:
                continue
            begun = [each for time, each in starts if each.instance == instance and time <= seen.time_ms]
            if begun:
                found.setdefault(begun[-1], member.subscription.info.process_id)
    for seen_ms, group in recording.streams_groups:
        for described in group.members:
            instance = instance_of(described.client_id, names)
            # Members of a killed process are described until they are fenced.
            joined_ms = joined.get(described.id, seen_ms)
            begun = [each for time, each in starts if each.instance == instance and time <= joined_ms]
            if begun and (process := _process_id(described.process_id)) is not None:
                found.setdefault(begun[-1], process)
    return found


def _process_id(shown: str) -> ProcessID | None:
    try:
        return ProcessID(UUID(shown))
    except ValueError:
        return None


def _order(timeline: RecordedTimeline, names: Mapping[str, str]) -> list[Incarnation]:
    """Incarnations in the order in which calm assignments distribute the first tasks.

    Only a broker's first target distributes tasks in order: later ones move few.
    """
    starts, order = incarnations(timeline), list[Incarnation]()
    calm = timeline.generations if timeline.kind == "streams-classic" else timeline.generations[:1]
    for generation in calm:
        if generation.followup != "none":
            continue
        first: dict[Incarnation, tuple[bytes, int, int]] = {}
        for consumer, (active, _) in generation.assigned.items():
            instance = instance_of(consumer, names)
            begun = [each for time, each in starts if each.instance == instance and time <= generation.joined_ms]
            if begun and active:
                smallest = min(TaskId.parse(task).sort_key() for task in active)
                first[begun[-1]] = min(first.get(begun[-1], smallest), smallest)
        _insert(order, sorted(first, key=lambda each: first[each]))
    started = [each for _, each in starts]
    if timeline.kind == "streams-classic":
        _insert(order, started)
    return list(dict.fromkeys([*order, *started]))


def _insert(order: list[Incarnation], sequence: Iterable[Incarnation]) -> None:
    """Inserts new ones of ``sequence`` behind their predecessor there."""
    place = 0
    for each in sequence:
        if each in order:
            place = order.index(each) + 1
        else:
            order.insert(place, each)
            place += 1
