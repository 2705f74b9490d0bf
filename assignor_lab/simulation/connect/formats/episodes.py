"""Episodes of kind ``connect-episode``: reads a document's events (scenario format, section 6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any, BinaryIO

import attrs

from assignment_api.connect import (
    ConnectorTaskId,
    ConnectorTaskIdFormatError,
    ConnectProtocol,
    Jobs,
    StaticJobs,
)
from assignor_lab.documents.json_text import parse_json
from assignor_lab.documents.shapes import (
    INT_MAX,
    LONG_MAX,
    Check,
    Mismatch,
    at,
    count,
    faults_at,
    list_of,
    map_of,
    nullable,
    one_of,
    record,
    suggestion,
    text,
    whole,
)
from assignor_lab.model.connect_episodes import ConnectDetails, ConnectEvent
from assignor_lab.scenarios import Place, Scenario
from assignor_lab.simulation.connect.episode import LEADER, ConnectEpisode
from assignor_lab.simulation.connect.timings import ConnectTimings
from assignor_lab.simulation.connect.worker_settings import WorkerSettings
from assignor_lab.simulation.episode_files import check_kind, episodes_in

__all__ = ["EVENT_TYPES", "read_episode", "read_episodes", "read_events"]

#: A year: longer times are mistakes, and the virtual clock advances heartbeat by heartbeat.
_LONGEST_MS = 366 * 24 * 3_600_000

_moment = whole(0, _LONGEST_MS)
_duration = whole(1, _LONGEST_MS)
_names = list_of(text)
_protocol = one_of(*(protocol.value for protocol in ConnectProtocol))


def _task(value: Any) -> ConnectorTaskId:
    try:
        return ConnectorTaskId.parse(text(value))
    except ConnectorTaskIdFormatError as error:
        raise Mismatch(str(error)) from None


_tasks = list_of(_task)
_static_keys = record({}, {"connectors": nullable(_names), "tasks": nullable(_tasks)})


def _static(value: Any) -> StaticJobs:
    return StaticJobs(**_static_keys(value))


_settings: Mapping[str, Check[Any]] = {
    "protocol": lambda value: ConnectProtocol(_protocol(value)),
    "max_delay_ms": whole(0, INT_MAX),
    "static": _static,
}

#: Type of an event to its required and its optional keys, besides ``at_ms`` and ``type``.
_EVENTS: Mapping[str, tuple[Mapping[str, Check[Any]], Mapping[str, Check[Any]]]] = {
    "start": ({"worker": text}, _settings),
    "stop": ({"worker": text}, {}),
    "crash": ({"worker": text}, {}),
    "bounce": ({"worker": text, "down_ms": _duration}, _settings),
    "rolling_restart": ({"down_ms": _duration, "every_ms": _duration}, {"workers": _names, **_settings}),
    "partition": ({"worker": text, "for_ms": _duration}, {}),
    "stall": ({"worker": text, "for_ms": _duration}, {}),
    "block_config": ({"worker": text, "for_ms": _duration}, {}),
    "lose_sync": ({"worker": text}, {}),
    "configure": ({"downgrade": one_of("kafka", "kip415")}, {}),
    "create": ({"connectors": map_of(text, count)}, {"via": text}),
    "alter": ({"connectors": map_of(text, count)}, {"via": text}),
    "delete": ({"connectors": _names}, {"via": text}),
}
EVENT_TYPES = tuple(_EVENTS)

_TIMINGS = {
    field.name: whole(0, _LONGEST_MS) for field in attrs.fields(ConnectTimings) if isinstance(field.default, int)
}


def read_episodes(source: str | PathLike[str] | BinaryIO) -> list[ConnectEpisode]:
    """All episodes of a file.

    Raises:
        DocumentFormatError: if the file cannot be read, or holds anything except episodes of Connect groups.
    """
    return episodes_in(source, read_episode)


def read_episode(scenario: Scenario) -> ConnectEpisode:
    check_kind(scenario, "connect-episode")
    with faults_at(scenario.place):
        return _episode(scenario)


def _episode(scenario: Scenario) -> ConnectEpisode:
    document = scenario.document
    until = at(_moment, document["until_ms"], "until_ms")
    timings = at(record({}, _TIMINGS), document.get("timings", {}), "timings")
    if timings.get("start_stop_threads", 1) < 1 or timings.get("heartbeat_interval_ms", 1) < 1:
        raise Mismatch("start_stop_threads and heartbeat_interval_ms have to be at least 1", "timings")
    start_ms, connectors, workers = _initial(document["initial"])
    leader = document.get("leader")
    if leader is not None and leader not in workers:
        raise Mismatch(f"{leader!r:.80} is no member of the group: {suggestion(leader, workers, 'members')}", "leader")
    events = [at(_event, event, "events", index) for index, event in enumerate(document["events"])]
    return ConnectEpisode(
        scenario.id,
        start_ms,
        connectors,
        workers,
        tuple(sorted(events, key=lambda event: event.at_ms)),
        until,
        ConnectTimings.from_mapping(timings),
        scenario.place,
        leader,
    )


def _initial(initial: Mapping[str, Any]) -> tuple[int, Mapping[str, int], Mapping[str, tuple[WorkerSettings, Jobs]]]:
    if len(initial["rounds"]) != 1:
        raise Mismatch(
            f"an episode begins with one state, found {len(initial['rounds'])} rounds: give the last one alone",
            "initial", "rounds",
        )  # fmt: skip
    begin = initial["rounds"][0]
    protocol = ConnectProtocol(initial["protocol"])
    workers: dict[str, tuple[WorkerSettings, Jobs]] = {}
    for index, member in enumerate(begin["members"]):
        path = ("initial", "rounds", 0, "members", index)
        if member["id"] in workers:
            raise Mismatch(f"member {member['id']!r:.80} is there twice", *path, "id")
        static = at(_static, member["static"], *path, "static")
        owned = Jobs(member["owned"]["connectors"], at(_tasks, member["owned"]["tasks"], *path, "owned", "tasks"))
        settings = WorkerSettings(
            protocol, initial["max_delay_ms"], static,
            url=member.get("url", ""), labels=member.get("labels", {}),
        )  # fmt: skip
        workers[member["id"]] = (settings, owned)
    if begin["time_ms"] > LONG_MAX // 2:
        raise Mismatch("too late for a clock that is to run on", "initial", "rounds", 0, "time_ms")
    return max(1, begin["time_ms"]), begin["connectors"], workers


def read_events(texts: Iterable[str], place: Place, members: Iterable[str]) -> tuple[ConnectEvent, ...]:
    """Events of a group from JSON texts, in their order of time.

    Raises:
        DocumentFormatError: if one is not in the format.
    """
    with faults_at(place):
        found = [at(_event, parse_json(text.encode()), "events", number) for number, text in enumerate(texts)]
        started = [event.worker for event in found if event.type == "start"]
        known = dict.fromkeys([LEADER, *members, *started])
        for number, event in enumerate(found):
            of_one = "worker" in _EVENTS[event.type][0]
            for name in (*([event.worker] if of_one else ()), *(event.details.workers or ())):
                if name not in known:
                    hint = suggestion(name, known, "workers")
                    raise Mismatch(f"there is no worker {name!r:.80}: {hint}", "events", number, "worker")
    return tuple(sorted(found, key=lambda event: event.at_ms))


def _event(value: Any) -> ConnectEvent:
    if not isinstance(value, Mapping) or not isinstance(value.get("type"), str):
        raise Mismatch('expected an object with "at_ms" and "type"')
    kind = value["type"]
    if kind not in _EVENTS:
        raise Mismatch(f'unknown type "{kind:.80}" of event: {suggestion(kind, EVENT_TYPES, "types")}', "type")
    required, optional = _EVENTS[kind]
    read = record({"at_ms": _moment, "type": text, **required}, optional)(value)
    at_ms, worker = read.pop("at_ms"), read.pop("worker", "")
    if kind == "delete":
        read["deleted"] = read.pop("connectors")
    return ConnectEvent(at_ms, read.pop("type"), worker, ConnectDetails(**read))
