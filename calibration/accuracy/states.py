"""The state of a recorded group before a change, in the form of ``assignor capture``.

The runs of ``downtime`` have no capture. A capture of a classic group holds each member's report at its last join, and
its assignment. The timeline has both, except lags and process ids. The imported episode has process ids. A lag follows
from the moment at which an instance last had the task open.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from assignor_lab.capture.timelines.instances import instance_of
from assignor_lab.capture.timelines.timeline import RecordedTimeline, TimelineGeneration
from calibration.episodes.instances import client_names, settings_document

__all__ = ["ImportedRecording", "state_before", "workload_of"]

#: A lag in a capture: the task runs here.
_RUNS = -2


@attrs.frozen(eq=False)
class ImportedRecording:
    """A recording and its import."""

    timeline: RecordedTimeline
    episode: Mapping[str, Any]
    configs: Mapping[str, Mapping[str, Any]]

    @property
    def names(self) -> Mapping[str, str]:
        """First part of a consumer's id to the instance."""
        return client_names(self.configs)

    def end_offset(self, task: str, time_ms: int) -> int:
        line = self.episode["changelogs"][task]
        passed = (time_ms - self.timeline.done[0].time_ms) / 1000
        return int(line["records"] + line["backlog_records"] + line["records_per_s"] * passed)

    def process_ids(self, time_ms: int) -> dict[str, str]:
        found: dict[str, str] = {}
        for event in self.episode["events"]:
            if event["at_ms"] + self.timeline.done[0].time_ms < time_ms:
                if event["type"] == "start":
                    found[event["client"]] = event["process_id"]
                elif event["type"] in ("stop", "crash"):
                    found.pop(event["client"], None)
        return found


def state_before(recorded: ImportedRecording, time_ms: int) -> dict[str, Any]:
    if recorded.timeline.kind == "streams-classic":
        return _classic(recorded, time_ms)
    return _streams(recorded, time_ms)


# --- classic protocol -------------------------------------------------------------------------------------------------


def _classic(recorded: ImportedRecording, time_ms: int) -> dict[str, Any]:
    timeline = recorded.timeline
    last = [each for each in timeline.generations if each.assigned_ms < time_ms][-1]
    raw = next(each for each in timeline.document["generations"] if each.get("assignment_t") == last.assigned_ms)
    tasks = recorded.episode["initial"]["tasks"]
    stateful = [task["id"] for task in tasks if task["stateful"]]
    disks = _Disks(recorded, last.prepared_ms)
    processes = recorded.process_ids(time_ms)
    clients: list[dict[str, Any]] = []
    assignment = {}
    for instance, process in processes.items():
        consumers = _consumers(last, instance, recorded.names)
        reported = {
            consumer: [[*raw["assigned"][consumer].get(f"previous_{kind}", ())] for kind in ("active", "standby")]
            for consumer in consumers
        }
        active = [task for held, _ in reported.values() for task in held]
        # A thread reports all unused directories of its process.
        standby = list(dict.fromkeys(task for _, held in reported.values() for task in held if task not in active))
        lags = {
            task: _RUNS
            if task in active
            else recorded.end_offset(task, time_ms) - (disks.offset(instance, task) if task in standby else 0)
            for task in stateful
        }
        clients.append(
            {
                "process_id": process, "rack": None, "tags": {}, "host": None, "threads": len(consumers),
                "consumers": consumers, "previous_active": active, "previous_standby": standby,
                "lags": lags,
                "previous_by_consumer": {consumer: [*held[0], *held[1]] for consumer, held in reported.items()},
            }
        )  # fmt: skip
        assignment[process] = {
            kind: [task for consumer in consumers for task in last.assigned[consumer][place]]
            for place, kind in enumerate(("active", "standby"))
        }
    threads = {
        consumer: {"active": list(last.assigned[consumer][0]), "standby": list(last.assigned[consumer][1])}
        for client in clients
        for consumer in client["consumers"]
    }
    source = {"time_ms": time_ms, "group": timeline.group, "generation": last.number}
    if "assignor" in recorded.episode:
        source["assignor"] = recorded.episode["assignor"]
    return {
        "format": 1,
        "kind": "streams",
        "id": f"{timeline.group}-generation-{last.number}",
        "config": dict(recorded.episode["initial"]["config"]),
        "tasks": [dict(task) for task in tasks],
        "clients": clients,
        "observed": {"assignment": assignment, "followup": last.followup == "probing", "threads": threads},
        "source": source,
        "workload": workload_of(recorded, time_ms),
    }


def _consumers(generation: TimelineGeneration, instance: str, names: Mapping[str, str]) -> list[str]:
    return sorted(each for each in generation.assigned if instance_of(each, names) == instance)


def workload_of(recorded: ImportedRecording, time_ms: int) -> dict[str, Any]:
    sizes = {
        task: round(recorded.end_offset(task, time_ms) * line["bytes_per_record"])
        for task, line in recorded.episode["changelogs"].items()
    }
    return {"tasks": {task: {"state_bytes": size} for task, size in sizes.items()}}


class _Disks:
    def __init__(self, recorded: ImportedRecording, time_ms: int) -> None:
        self._recorded, self._time_ms = recorded, time_ms
        self._closed: dict[tuple[str, str], int] = {}
        opened: dict[str, set[str]] = {}
        for moment, instance, tasks in sorted(self._changes(), key=lambda each: each[0]):
            if moment > time_ms:
                break
            held = opened.get(instance, set())
            if tasks is not None:
                for task in held - tasks:
                    self._closed[instance, task] = self._read(instance, task, moment)
                opened[instance] = tasks
            else:
                opened[instance] = set()  # a kill: the disk keeps the state of the last orderly close

        self._opened = opened

    def offset(self, instance: str, task: str) -> int:
        if task in self._opened.get(instance, ()):
            return self._read(instance, task, self._time_ms)
        return self._closed.get((instance, task), 0)

    def _changes(self) -> Iterable[tuple[int, str, set[str] | None]]:
        """Moments from which an instance has these tasks open; ``None``: it was killed."""
        timeline, names = self._recorded.timeline, self._recorded.names
        stateful = self._recorded.episode["changelogs"].keys()
        for each in timeline.generations:
            held: dict[str, set[str]] = {}
            for consumer, (active, standby) in each.assigned.items():
                instance = instance_of(consumer, names)
                if instance is not None:
                    held.setdefault(instance, set()).update(stateful & {*active, *standby})
            for instance, tasks in held.items():
                yield each.assigned_ms, instance, tasks
        for done in timeline.done:
            if done.type == "stop":
                yield done.time_ms, done.instance, set()
            elif done.type == "crash":
                yield done.time_ms, done.instance, None

    def _read(self, instance: str, task: str, time_ms: int) -> int:
        end = self._recorded.end_offset(task, time_ms)
        partition = int(task.rpartition("_")[2])
        loads = [
            each
            for each in self._recorded.timeline.transfers
            if each.instance == instance and each.partition == partition and each.from_ms <= time_ms
        ]
        if not loads or (loads[-1].done_ms is not None and loads[-1].done_ms <= time_ms):
            return end
        last = loads[-1]
        until = last.done_ms or max(last.end_ms, last.from_ms + 1)
        share = min(1.0, (time_ms - last.from_ms) / (until - last.from_ms))
        return round(last.start_offset + share * (end - last.start_offset))


# --- streams protocol -------------------------------------------------------------------------------------------------


def _streams(recorded: ImportedRecording, time_ms: int) -> dict[str, Any]:
    timeline = recorded.timeline
    processes = recorded.process_ids(time_ms)
    held: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}
    for each in timeline.members:
        if each.time_ms >= time_ms:
            break
        if each.event == "left" or each.event.startswith("fenced"):
            held.pop(each.member, None)
        elif not each.event:
            held[each.member] = (each.active, each.standby)
    tags = {name: settings_document(config).get("tags", {}) for name, config in recorded.configs.items()}
    members = []
    for member, (active, standby) in held.items():
        instance = instance_of(timeline.clients.get(member, ""), recorded.names)
        if instance is not None and instance in processes:
            members.append(
                {
                    "id": member, "instance_id": None, "client_id": instance, "rack": None,
                    "process_id": processes[instance], "tags": tags[instance],
                    "active": _by_subtopology(active), "standby": _by_subtopology(standby), "warmup": {},
                    "task_offsets": {}, "task_end_offsets": {},
                }
            )  # fmt: skip
    tasks = recorded.episode["initial"]["tasks"]
    sizes: dict[str, int] = {}
    for task in tasks:
        name = task["id"].rpartition("_")[0]
        sizes[name] = sizes.get(name, 0) + 1
    stateful = {task["id"].rpartition("_")[0] for task in tasks if task["stateful"]}
    epoch = [each.epoch for each in timeline.targets if each.time_ms < time_ms][-1]
    return {
        "format": 1,
        "kind": "streams-group",
        "id": f"{timeline.group}-epoch-{epoch}",
        "config": dict(recorded.episode["initial"]["config"]),
        "subtopologies": [
            {"id": name, "tasks": count, "stateful": name in stateful} for name, count in sorted(sizes.items())
        ],
        "members": members,
        "observed": {
            "members": {
                member["id"]: {kind: member[kind] for kind in ("active", "standby", "warmup")} for member in members
            }
        },
        "source": {
            "time_ms": time_ms,
            "group": timeline.group,
            "generation": epoch,
            "client_ids": {member["id"]: timeline.clients[member["id"]] for member in members},
        },
    }


def _by_subtopology(tasks: Iterable[str]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for task in tasks:
        name, _, number = task.rpartition("_")
        found.setdefault(name, []).append(int(number))
    return {name: sorted(numbers) for name, numbers in sorted(found.items())}
