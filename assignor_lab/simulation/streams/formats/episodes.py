"""Episodes of kind ``streams-episode``: reads a document's group and events (scenario format, section 6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO
from uuid import UUID

import attrs

from assignment_api.releases import KafkaRelease, read_release
from assignment_api.streams import HostInfo, ProcessID, TaskId, TaskInfo, Workload
from assignor_lab.documents.errors import Place
from assignor_lab.documents.files import read_document
from assignor_lab.documents.json_text import parse_json
from assignor_lab.documents.shapes import (
    LONG_MAX,
    Check,
    Mismatch,
    any_value,
    at,
    boolean,
    faults_at,
    list_of,
    map_of,
    nullable,
    number,
    one_of,
    record,
    suggestion,
    text,
    whole,
)
from assignor_lab.documents.wording import plural
from assignor_lab.kafka.wire import LATEST_SUPPORTED_VERSION
from assignor_lab.model.history import GroupHistory
from assignor_lab.model.streams_episodes import EpisodePast, EventDetails, StreamsEvent
from assignor_lab.scenarios import Scenario, scenario_from_document
from assignor_lab.scenarios.consumers import static_instance
from assignor_lab.scenarios.scenario import EpisodeContent
from assignor_lab.scenarios.settings import Settings, is_exactly_once
from assignor_lab.scenarios.with_racks import RackFiller
from assignor_lab.simulation.episode_files import check_kind, episodes_in
from assignor_lab.simulation.streams.episode import (
    Changelog,
    PastDraw,
    PastPlays,
    StreamsEpisode,
    first_event_ms,
)
from assignor_lab.simulation.streams.formats.recorded import recorded_history
from assignor_lab.simulation.streams.formats.timings import LONGEST_MS, check_timings, with_timings
from assignor_lab.simulation.streams.presence import refuse_contradictions
from assignor_lab.simulation.streams.seen_waits import SeenWaits
from assignor_lab.simulation.streams.timings import StreamsTimings, timings_of_settings

__all__ = [
    "EVENT_NEEDS", "read_episode", "read_episodes", "read_past", "read_workload", "started_instances", "with_workload",
]  # fmt: skip

#: Assumed if only the state's bytes are known.
_RECORD_BYTES = 200
#: For an unknown state: more than any recovery lag.
_UNKNOWN_RECORDS = float(2**31 - 1)

#: Simulated versions of members' messages: older ones count no joins; the newest one is a future version.
_OLDEST_VERSION, _NEWEST_VERSION = 8, LATEST_SUPPORTED_VERSION + 1

_moment = whole(0, LONGEST_MS)
_duration = whole(1, LONGEST_MS)


def _process_id(value: Any) -> ProcessID:
    try:
        return ProcessID(UUID(text(value)))
    except ValueError:
        raise Mismatch(f'"{text(value):.60}" is no process id: expected a UUID') from None


def _host(value: Any) -> HostInfo:
    host, separator, port = text(value).rpartition(":")
    if not separator or not host or not port.isascii() or not port.isdigit() or int(port) > 65_535:
        raise Mismatch('expected "host:port", such as "host1:8080"')
    return HostInfo(host, int(port))


def _release(value: Any) -> KafkaRelease:
    found = read_release(text(value))
    if found is None:
        raise Mismatch('expected a release of Kafka, such as "4.4.0"')
    return found


_by_thread = list_of(nullable(whole(0, LONGEST_MS)))

_settings: Mapping[str, Check[Any]] = {
    "process_id": _process_id,
    "threads": whole(1, 10_000),
    "rack": text,
    "tags": map_of(text, text),
    "host": _host,
    "instance_id": text,
    "machine": text,
    "member_ids": list_of(text),
    "startup_ms": whole(0, LONGEST_MS),
    "joins_ms": _by_thread,
    "metadata_version": whole(_OLDEST_VERSION, _NEWEST_VERSION),
    "release": _release,
}

#: Type of an event to its required and its optional keys, besides ``at_ms`` and ``type``.
_EVENTS: Mapping[str, tuple[Mapping[str, Check[Any]], Mapping[str, Check[Any]]]] = {
    "start": ({"client": text}, _settings),
    "stop": ({"client": text}, {"leave": boolean, "leaves_ms": _by_thread}),
    "crash": ({"client": text}, {}),
    "pause": ({"client": text, "for_ms": _duration}, {}),
    "busy": ({"client": text, "for_ms": _duration}, {"thread": whole(1, 10_000)}),
    "add_thread": ({"client": text}, {"joins_ms": lambda value: [whole(0, LONGEST_MS)(value)], "member_id": text}),
    "remove_thread": ({"client": text}, {"thread": whole(1, 10_000)}),
    "corrupt": ({"client": text, "tasks": list_of(text)}, {}),
    "tasks": ({"tasks": list_of(text)}, {}),
    "lose_disk": ({"client": text}, {"process_id": _process_id}),
    "rolling_restart": (
        {"down_ms": _duration, "every_ms": _duration},
        {
            "clients": list_of(text),
            "leave": boolean,
            "metadata_version": whole(_OLDEST_VERSION, _NEWEST_VERSION),
        },
    ),
    "end_offsets_fail": ({"for_ms": _duration}, {}),
    "broker_restart": ({"down_ms": _duration}, {}),
    "replica_moves": ({"rack_is_new": boolean}, {}),
    "metadata_changes": ({}, {}),
}
#: Type of an event to its required keys, besides ``at_ms`` and ``type``.
EVENT_NEEDS = {kind: tuple(required) for kind, (required, _) in _EVENTS.items()}

_KIND = "streams-episode"
#: ``dsl.store.suppliers.class`` of stores in memory ends in this.
_IN_MEMORY = "InMemoryDslStoreSuppliers"
_TRANSACTIONAL, _UNCOMMITTED = "enable.transactional.statestores", "statestore.uncommitted.max.bytes"
_UNCOMMITTED_BYTES = 64 * 1024 * 1024


def _share(value: Any) -> float:
    found = float(number(value))
    if not 0 <= found <= 1:
        raise Mismatch("expected a share from 0 to 1")
    return found


_changelog = record(
    {"records": number, "bytes_per_record": nullable(number)},
    {"records_per_s": number, "backlog_records": number, "retained_records": number, "in_memory_share": _share},
)


def read_episodes(
    source: str | PathLike[str] | BinaryIO,
    workload: Path | None = None,
    timings: Mapping[str, int] | None = None,
    racks: RackFiller | None = None,
    settings: Settings | None = None,
) -> list[StreamsEpisode]:
    """All episodes of a file, with replaced timings and settings (:func:`with_timings`).

    Raises:
        DocumentFormatError: if the file cannot be read, or holds anything except episodes of Streams groups.
    """

    def read(scenario: Scenario) -> StreamsEpisode:
        check_kind(scenario, _KIND)
        scenario = scenario if racks is None else racks.filled_scenario(scenario)
        weighed = scenario if workload is None else with_workload(scenario, workload)
        return read_episode(with_timings(weighed, timings or {}, settings))

    return episodes_in(source, read)


def read_episode(scenario: Scenario) -> StreamsEpisode:
    check_kind(scenario, _KIND)
    with faults_at(scenario.place):
        return _episode(scenario)


def _episode(scenario: Scenario) -> StreamsEpisode:
    document = scenario.document
    content: EpisodeContent = scenario.content
    initial = content.initial
    until = at(_moment, document["until_ms"], "until_ms")
    # The state's source gives the settings that the episode does not.
    settings = {**document["initial"].get("settings", {}), **document.get("settings", {})}
    timings = {**timings_of_settings(settings), **at(check_timings, document.get("timings", {}), "timings")}
    if initial.time_ms > LONG_MAX // 2:
        raise Mismatch("too late for a clock that is to run on", "initial", "source", "time_ms")
    tasks = tuple(sorted(initial.tasks, key=lambda task: task.id.sort_key()))
    known = {str(task.id) for task in tasks}
    assumptions = list(at(list_of(text), document.get("assumptions", []), "assumptions"))
    assumptions += document["initial"].get("assumptions", [])
    changelogs = _changelogs(document, tasks, initial.workload, known, settings, assumptions)
    inputs = tuple(_input(task, initial.workload) for task in tasks)
    weights = () if initial.workload is None else map(initial.workload.of, (task.id for task in tasks))
    if all(weight.input_bytes_per_s is None for weight in weights):
        assumptions.append(
            "the tasks' input is unknown: bytes across zones are those of state alone (give input_bytes_per_s with "
            "--workload)"
        )
    events = [at(_event, event, "events", index) for index, event in enumerate(document["events"])]
    _refuse_unknown_tasks(events, known)
    running = {str(client.process_id): max(1, client.num_stream_threads) for client in initial.clients}
    refuse_contradictions(events, running, until)
    start_ms = max(1, initial.time_ms)
    return StreamsEpisode(
        id=scenario.id,
        protocol=at(one_of("classic", "streams"), document.get("protocol", "classic"), "protocol"),
        assignor=at(text, document["assignor"], "assignor") if "assignor" in document else None,
        start_ms=start_ms,
        config=scenario.config,
        tasks=tasks,
        changelogs=changelogs,
        input_bytes_per_s=inputs,
        clients=initial.clients,
        lags=tuple(
            {TaskId.parse(task): lag for task, lag in (client["lags"] or {}).items()}
            for client in document["initial"]["clients"]
        ),
        instance_ids=tuple(static_instance(client) for client in document["initial"]["clients"]),
        events=tuple(events),
        until_ms=until,
        timings=_timings(timings, initial.workload),
        missing_topics=tuple(at(list_of(text), document.get("missing_topics", []), "missing_topics")),
        eos=at(boolean, document.get("eos", is_exactly_once(settings) or False), "eos"),
        is_transactional=at(boolean, settings.get(_TRANSACTIONAL, False), "settings", _TRANSACTIONAL),
        uncommitted_max_bytes=int(settings.get(_UNCOMMITTED, _UNCOMMITTED_BYTES)),
        coming_refiner=at(boolean, document.get("coming_refiner", False), "coming_refiner"),
        assumptions=tuple(assumptions),
        place=scenario.place,
        recorded=_recorded(document, scenario.id, tasks, start_ms, events, until, is_empty=not initial.clients),
        plays=_past_plays(document),
        waits=_waits(document),
        past_timings=at(_past_timings, document.get("past_timings", {}), "past_timings"),
    )


def started_instances(scenario: Scenario) -> set[str]:
    """Names of the instances that events start; the events need not be right."""
    events = scenario.document["events"]
    return {event["client"] for event in events if event.get("type") == "start" and "client" in event}


def read_past(scenario: Scenario) -> EpisodePast | None:
    """The recorded past behind an episode; ``None`` if its source does not show when tasks were without an owner."""
    document = scenario.document
    recorded = document["recorded"]
    downtime = recorded.get("downtime")
    if downtime is None:
        return None
    with faults_at(scenario.place):
        events = [at(_event, event, "events", index) for index, event in enumerate(document["events"])]
    return EpisodePast(
        document["initial"]["source"]["time_ms"],
        document["until_ms"],
        events,
        {task: [(begin, end) for begin, end in intervals] for task, intervals in downtime["tasks"].items()},
        bool(downtime["shows_restoring"]),
        recorded["generations"][-1]["followup"] == "none",
    )


def _recorded(
    document: Mapping[str, Any],
    group: str,
    tasks: Iterable[TaskInfo],
    start_ms: int,
    events: Iterable[StreamsEvent],
    until_ms: int,
    *,
    is_empty: bool,
) -> GroupHistory | None:
    recorded = document.get("recorded")
    if recorded is None:
        return None
    first_ms = first_event_ms(events, is_empty=is_empty)
    names = [str(task.id) for task in tasks]
    return recorded_history(
        recorded, group, document.get("protocol", "classic"), names, start_ms + first_ms, start_ms + until_ms
    )


_moved = list_of(whole(-LONGEST_MS, LONGEST_MS))
_draw = record({"seed": text}, {"moved": list_of(_moved)})
_plays = record({"draws": list_of(_draw)}, {"error": nullable(number), "own": any_value})


_waits_of_kind = list_of(whole(0, LONGEST_MS))
_seen_waits = record({}, {each.name: _waits_of_kind for each in attrs.fields(SeenWaits)})


_past_timings = record({}, {"session_timeout_ms": whole(1, LONGEST_MS)})


def _waits(document: Mapping[str, Any]) -> SeenWaits:
    given = at(_seen_waits, document.get("waits", {}), "waits")
    return SeenWaits(**{kind: tuple(waits) for kind, waits in given.items()})


def _past_plays(document: Mapping[str, Any]) -> PastPlays:
    given = at(_plays, document.get("plays", {"draws": []}), "plays")
    return PastPlays(tuple(map(_past_draw, given.get("draws", ()))), given.get("error"))


def _past_draw(given: Mapping[str, Any]) -> PastDraw:
    moved = given.get("moved", ())
    if any(len(each) != 2 for each in moved):
        raise Mismatch("expected pairs of an event's place and a time", "plays", "draws", "moved")
    return PastDraw(given["seed"], dict(moved))


def _refuse_unknown_tasks(events: Iterable[StreamsEvent], known: set[str]) -> None:
    for index, event in enumerate(events):
        if event.type == "tasks" and not event.details.tasks:
            raise Mismatch("expected at least one task that exists after this event", "events", index, "tasks")
        for place, name in enumerate(event.details.tasks or ()):
            if name not in known:
                hint = suggestion(name, sorted(known), "tasks")
                raise Mismatch(f"there is no task {name!r:.80}: {hint}", "events", index, "tasks", place)


_workload = record(
    {},
    {
        "tasks": map_of(text, record({}, {"state_bytes": number, "input_bytes_per_s": number, "weight": number})),
        "restore_bytes_per_s": number,
        "changelogs": map_of(text, _changelog),
    },
)
#: Most bytes of a file of a workload.
_LARGEST_WORKLOAD = 64 * 1024 * 1024


def read_workload(file: Path) -> dict[str, Any]:
    """Weights of the tasks in an operator's file: ``tasks``, ``restore_bytes_per_s``, ``changelogs``."""
    given: dict[str, Any] = read_document(
        file, parse_json, _workload, max_bytes=_LARGEST_WORKLOAD, subject="a workload"
    )
    return given


def with_workload(scenario: Scenario, file: Path) -> Scenario:
    """An episode's scenario with the workload of an operator's file, which replaces its own.

    The file is one JSON object: a scenario's ``workload``, with ``changelogs`` as in an episode.

    Raises:
        DocumentFormatError: with its place, if the scenario is no episode, or the file is wrong or names an unknown
            task.
    """
    check_kind(scenario, _KIND)
    given = read_workload(file)
    known = {task["id"] for task in scenario.document["initial"]["tasks"]}
    with faults_at(Place(str(file))):
        for part in ("tasks", "changelogs"):
            for name in given.get(part, {}):
                if name not in known:
                    raise Mismatch(f"there is no task {name!r:.80}: {suggestion(name, sorted(known), 'tasks')}", part)
    sizes = {name: weighs["state_bytes"] for name, weighs in given.get("tasks", {}).items() if "state_bytes" in weighs}
    changelogs = {
        name: each if name not in sizes else {**each, "bytes_per_record": sizes[name] / _records_of(each)}
        for name, each in scenario.document.get("changelogs", {}).items()
        if name not in sizes or (each.get("bytes_per_record") is None and _records_of(each) > 0)
    }
    initial = scenario.document["initial"]
    workload = {key: given[key] for key in ("tasks", "restore_bytes_per_s") if key in given}
    document = {
        **scenario.document,
        "initial": {**initial, "workload": {**initial.get("workload", {}), **workload}},
        "changelogs": {**changelogs, **given.get("changelogs", {})},
    }
    if "restore_bytes_per_s" in given:
        timings = {**document.get("timings", {}), "restore_bytes_per_s": max(1, int(given["restore_bytes_per_s"]))}
        document["timings"] = timings
    return scenario_from_document(document, scenario.place)


def _records_of(changelog: Mapping[str, Any]) -> float:
    checked = at(_changelog, changelog, "changelogs")
    return float(checked["records"] + checked.get("backlog_records", 0))


def _timings(timings: Mapping[str, int], workload: Workload | None) -> StreamsTimings:
    if "restore_bytes_per_s" not in timings and workload is not None and workload.restore_bytes_per_s:
        timings = {**timings, "restore_bytes_per_s": max(1, int(workload.restore_bytes_per_s))}
    return StreamsTimings.from_mapping(timings)


def _input(task: TaskInfo, workload: Workload | None) -> float:
    return 0.0 if workload is None else workload.of(task.id).input_bytes_per_s or 0.0


def _changelogs(
    document: Mapping[str, Any],
    tasks: Iterable[TaskInfo],
    workload: Workload | None,
    known: set[str],
    settings: Settings,
    assumptions: list[str],
) -> tuple[Changelog | None, ...]:
    given = at(map_of(text, _changelog), document.get("changelogs", {}), "changelogs")
    in_memory = 1.0 if str(settings.get("dsl.store.suppliers.class", "")).endswith(_IN_MEMORY) else 0.0
    for name in given:
        if name not in known:
            raise Mismatch(f"there is no task {name!r:.80}: {suggestion(name, sorted(known), 'tasks')}", "changelogs")
    unknown = 0
    found: list[Changelog | None] = []
    for task in tasks:
        state_bytes = None if workload is None else workload.of(task.id).state_bytes
        if not task.is_logged:
            found.append(None)
        elif str(task.id) in given:
            found.append(Changelog(**{"in_memory_share": in_memory, **given[str(task.id)]}))
        elif state_bytes is not None:
            found.append(Changelog(state_bytes / _RECORD_BYTES, _RECORD_BYTES, in_memory_share=in_memory))
        else:
            unknown += 1
            found.append(Changelog(_UNKNOWN_RECORDS, None, is_known=False, in_memory_share=in_memory))
    if unknown:
        assumptions.append(
            f"nothing is known of the state of {plural(unknown, 'task')}: bytes, and times that include "
            "restoring, are unknown. An instance without a copy counts as behind (give sizes "
            "with --workload, or record with --sample-every)"
        )
    return tuple(found)


def _event(value: Any) -> StreamsEvent:
    kind = value["type"]
    if kind not in _EVENTS:
        raise Mismatch(f'unknown type "{kind:.80}" of event: {suggestion(kind, EVENT_NEEDS, "types")}', "type")
    required, optional = _EVENTS[kind]
    read = record({"at_ms": _moment, "type": text, **required}, {**optional, "within_ms": list_of(_moment)})(value)
    at_ms, within = read.pop("at_ms"), read.pop("within_ms", None)
    if within is not None and (len(within) != 2 or not within[0] <= at_ms <= within[1]):
        raise Mismatch("expected the earliest and the latest time of this event, around at_ms", "within_ms")
    open_ms = None if within is None else (within[0], within[1])
    return StreamsEvent(at_ms, read.pop("type"), read.pop("client", ""), EventDetails(**read), open_ms)
