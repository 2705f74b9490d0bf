"""Creates an episode from a recorded experiment: a timeline, and the folder of its recording."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from assignment_api.plugins import Registry, effective_config
from assignment_api.plugins.layers import Layer, layer_of
from assignment_api.releases import RELEASE_KEY
from assignment_api.streams import ProcessID, TaskId
from assignment_api.streams.configs import ASSIGNMENT_KEYS
from assignor_lab.capture.edges.timelines import read_timeline
from assignor_lab.capture.recorded.recording import read_recording
from assignor_lab.capture.timelines.instances import first_after  # fmt: skip
from assignor_lab.capture.timelines.timeline import RecordedTimeline
from assignor_lab.capture.topology.evidence import reuses_sources
from assignor_lab.documents.errors import DocumentFormatError
from assignor_lab.groups.streams_group.leading import brokers_assignor
from assignor_lab.runtime.discovery import discovered
from assignor_lab.scenarios import scenario_from_document
from assignor_lab.scenarios.settings import CLASSIC_KEYS, given_settings, group_settings, is_exactly_once
from assignor_lab.simulation.streams.formats.episodes import read_episode
from assignor_lab.simulation.streams.timings import timings_of_settings
from calibration.episodes.decided_again import DecidedAgain
from calibration.episodes.instances import (
    RECORDED_RELEASE,
    Incarnation,
    client_names,
    incarnations,
    read_configs,
    settings_document,
)
from calibration.episodes.process_ids import agreeing_process_ids, process_ids_in_order, shown_process_ids
from calibration.episodes.process_search import FoundProcesses
from calibration.episodes.recorded import recorded_document
from calibration.episodes.streams_protocol import broker_timings, group_assignment_config, member_ids
from calibration.episodes.tasks import RecordedTasks, recorded_tasks
from calibration.episodes.thread_moments import joins, joins_ms, leaves, leaves_ms
from calibration.episodes.workload import changelog_documents

__all__ = ["import_episode"]

#: Time that an episode continues after the last action.
_AFTERWARDS_MS = 15_000
#: Files of a recording's folder with brokers' answers.
_ANSWERS = ("captures.jsonl", "captures.jsonl.gz", "polls.jsonl", "polls.jsonl.gz", "exchanges.jsonl.gz")


def import_episode(
    timeline_file: Path, folder: Path, topology: Path | None = None, registry: Registry | None = None
) -> dict[str, Any]:
    """The episode of a recorded experiment, as a document of kind ``streams-episode``.

    Args:
        folder: Folder of the recording. ``configs.jsonl`` is required; brokers' answers and leaders' logs add process
            ids, partitions and racks.
        topology: File with the text of Java's ``Topology#describe``.
        registry: Plugins with the broker's assignor, which finds unrecorded process ids; ``None``: the installed ones.

    Raises:
        DocumentFormatError: if a file cannot be read or is malformed, or another one is needed.
    """
    timeline = read_timeline(timeline_file)
    configs_file = folder / "configs.jsonl"
    if not configs_file.is_file():
        raise DocumentFormatError(
            str(configs_file), None, "", "is not there: it has the configuration of each instance; without it nothing "
            "is known of threads, timeouts and standbys",
        )  # fmt: skip
    configs = read_configs(configs_file)
    for each in timeline.done:
        if each.instance not in configs:
            raise DocumentFormatError(
                str(configs_file), None, "", f"has no line for instance {each.instance!r:.80}, which is in the timeline"
            )
    answers = [folder / name for name in _ANSWERS if (folder / name).is_file()]
    recording = read_recording(answers) if answers else None
    optimized = reuses_sources(configs[timeline.done[0].instance].get("topology.optimization"))
    tasks = recorded_tasks(timeline, folder, recording, topology, optimized=optimized)
    names = client_names(configs)
    shown = shown_process_ids(timeline, names, recording)
    if all(each in shown for _, each in incarnations(timeline)):
        return _document(timeline, configs, tasks, shown, [])
    in_order = {**process_ids_in_order(timeline, names), **shown}
    if timeline.targets:
        draft = _document(timeline, configs, tasks, in_order, [])
        found = agreeing_process_ids(
            timeline, names, _decided_again(draft, timeline, registry or discovered(effective_config()).registry), shown
        )
        if found.repeated:
            return _document(timeline, configs, tasks, {**in_order, **found.processes}, [_agreeing(found, timeline)])
    if shown:
        return _document(timeline, configs, tasks, shown, [_SOME_MADE_UP])
    return _document(timeline, configs, tasks, in_order, [_ALL_MADE_UP])


_SOME_MADE_UP = "process ids of instances that no answer of a broker shows are made up"
_ALL_MADE_UP = (
    "the recording has no process ids, which are random and decide ties: they are made up, in the order in which its "
    "assignments go round"
)


_AT_MEDIANS = (
    "the times of the members' acknowledgements are not in the episode: the median is taken, so the seed makes no "
    "difference"
)


def _agreeing(found: FoundProcesses, timeline: RecordedTimeline) -> str:
    return (
        "process ids, which are random and decide ties, are not recorded, or not all: they are made up, so that the "
        f"broker's assignor gives {found.repeated} of the {len(timeline.targets)} recorded targets, each from the "
        "recorded one before it"
    )


def _decided_again(document: Mapping[str, Any], timeline: RecordedTimeline, registry: Registry) -> DecidedAgain:
    episode = read_episode(scenario_from_document(document, timeline.place))
    standbys = int(episode.config.get("num.standby.replicas", 0))
    return DecidedAgain(timeline, episode.tasks, standbys, brokers_assignor(registry, None, episode.config).ask)


def _document(
    timeline: RecordedTimeline,
    configs: Mapping[str, Mapping[str, Any]],
    tasks: RecordedTasks,
    processes: Mapping[Incarnation, ProcessID],
    made_up: Sequence[str],
) -> dict[str, Any]:
    first_ms = timeline.done[0].time_ms
    names = client_names(configs)
    ids = [TaskId.parse(each["id"]) for each in tasks.documents]
    changelogs, assumed = changelog_documents(timeline, ids, tasks.topics, first_ms, tasks.ends)
    common = configs[timeline.done[0].instance]
    events = _events(timeline, configs, {each: str(process) for each, process in processes.items()}, names)
    settings = _settings(common, is_classic=timeline.kind == "streams-classic")
    config, timings, worked_out = _assignment_config(common), timings_of_settings(settings), list[str]()
    if timeline.kind != "streams-classic":
        config = group_assignment_config(timeline)
        settings |= group_settings(timeline.group_config)
        brokers, worked_out = broker_timings(timeline, names)
        timings.update(brokers, acknowledge_spread_ms=0)
        worked_out = [*worked_out, _AT_MEDIANS]
    until = max(timeline.end_ms, timeline.done[-1].time_ms + _AFTERWARDS_MS) - first_ms
    return {
        "format": 1,
        "kind": "streams-episode",
        "id": timeline.name,
        "protocol": "classic" if timeline.kind == "streams-classic" else "streams",
        **({"assignor": str(common["task.assignor.class"])} if common.get("task.assignor.class") else {}),
        "initial": {
            "format": 1,
            "kind": "streams",
            "id": timeline.name,
            "config": config,
            "tasks": list(tasks.documents),
            "clients": [],
            "source": {"time_ms": first_ms, "group": timeline.group},
        },
        "changelogs": changelogs,
        "missing_topics": list(tasks.missing_topics),
        "eos": is_exactly_once(settings) or False,
        **({"settings": settings} if settings else {}),
        "events": events,
        "until_ms": until,
        "timings": timings,
        "assumptions": [*worked_out, *tasks.assumptions, *assumed, *made_up, *_about_machine(configs)],
        "recorded": recorded_document(timeline, names, first_ms),
    }


def _assignment_config(config: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key in ASSIGNMENT_KEYS:
        if key in config and config[key] is not None:
            value = config[key]
            found[key] = (
                [tag.strip() for tag in str(value).split(",")] if key == "rack.aware.assignment.tags" else value
            )
    return found


def _settings(config: Mapping[str, Any], *, is_classic: bool) -> dict[str, Any]:
    found = given_settings([layer_of(Layer.SCENARIO, ((key, value, "") for key, value in config.items()))])
    found.setdefault(RELEASE_KEY, RECORDED_RELEASE)
    return {key: found[key] for key in sorted(found) if is_classic or key not in CLASSIC_KEYS}


def _about_machine(configs: Mapping[str, Mapping[str, Any]]) -> list[str]:
    if all("machine" in settings_document(config) for config in configs.values()):
        return ["the brokers are on the loopback address: all instances ran on one machine and shared its restore rate"]
    return []


def _events(
    timeline: RecordedTimeline,
    configs: Mapping[str, Mapping[str, Any]],
    processes: Mapping[Incarnation, str],
    names: Mapping[str, str],
) -> list[dict[str, Any]]:
    starts: Sequence[tuple[int, Incarnation]] = incarnations(timeline)
    first_ms = timeline.done[0].time_ms
    of_start = {(time, each.instance): each for time, each in starts}
    joined, left = joins(timeline, names), leaves(timeline, names)
    events: list[dict[str, Any]] = []
    for done in timeline.done:
        event: dict[str, Any] = {"at_ms": done.time_ms - first_ms, "type": done.type, "client": done.instance}
        if done.type == "start":
            event.update(settings_document(configs[done.instance]))
            process = processes.get(of_start[done.time_ms, done.instance])
            if process is not None:
                event["process_id"] = process
            ready = first_after(timeline.begun, timeline, done)
            if ready is not None:
                event["startup_ms"] = ready - done.time_ms
            after = joins_ms(timeline, joined, done, event["threads"], event.get("startup_ms"))
            if after:
                event["joins_ms"] = after
            ids = member_ids(timeline, done.instance, done.time_ms, names)
            if ids:
                event["member_ids"] = ids
        elif done.type == "stop":
            threads = settings_document(configs[done.instance])["threads"]
            if after := leaves_ms(timeline, left, done, threads):
                event["leaves_ms"] = after
        events.append(event)
    return events
