"""The instances of a recorded experiment: their configuration, and the process ids on their disks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import attrs

from assignment_api.java import string_hash
from assignment_api.streams import ProcessID, TaskId
from assignor_lab.capture.episodes.timeline import Done, Timeline
from assignor_lab.capture.recorded import Recording
from assignor_lab.documents.json_lines import json_lines
from assignor_lab.documents.shapes import any_value, faults_at, map_of, open_record, text

__all__ = [
    "Incarnation", "client_names", "first_after", "incarnations", "instance_of", "process_ids", "read_configs",
    "settings_document",
]  # fmt: skip

_LINE = open_record({"instance": text, "config": map_of(text, any_value)}, hint="is this configs.jsonl of a recording?")
#: Hosts that are the machine of whoever connects to them.
_HERE = ("127.0.0.1", "localhost", "[::1]", "::1")


@attrs.frozen
class Incarnation:
    """An instance for as long as it keeps its disk.

    Args:
        instance: Its name.
        disks_lost: How many it has lost before.
    """

    instance: str
    disks_lost: int


def read_configs(path: Path) -> dict[str, Mapping[str, Any]]:
    """Instance to its configuration, from ``configs.jsonl``.

    Raises:
        DocumentFormatError: if the file cannot be read, or a line of it is no instance's configuration.
    """
    found: dict[str, Mapping[str, Any]] = {}
    for place, line in json_lines(str(path)):
        with faults_at(place):
            fields = _LINE(line)
        found[fields["instance"]] = fields["config"]
    return found


def settings_document(config: Mapping[str, Any]) -> dict[str, Any]:
    """What a ``start`` event says of an instance with this configuration."""
    document: dict[str, Any] = {"threads": int(config.get("num.stream.threads", 1))}
    tags = {key[len("client.tag.") :]: str(value) for key, value in config.items() if key.startswith("client.tag.")}
    for key, name in (("client.rack", "rack"), ("application.server", "host"), ("group.instance.id", "instance_id")):
        if config.get(key):
            document[name] = str(config[key])
    if tags:
        document["tags"] = tags
    hosts = [address.rpartition(":")[0] for address in str(config.get("bootstrap.servers", "")).split(",")]
    if hosts and all(host.strip() in _HERE for host in hosts):
        document["machine"] = "one"
    return document


def instance_of(consumer: str, clients: Mapping[str, str]) -> str | None:
    """The instance that a consumer belongs to.

    Args:
        consumer: Its member id or client id, which begins with that of its instance.
        clients: What member ids of an instance begin with, to its name.
    """
    matching = [client for client in clients if consumer.startswith(f"{client}-")]
    return clients[max(matching, key=len)] if matching else None


def client_names(configs: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """What member ids begin with, to the instance: its client id, and the instance id of static members."""
    names: dict[str, str] = {}
    for instance, config in configs.items():
        for key in ("client.id", "group.instance.id"):
            if config.get(key):
                names[str(config[key])] = instance
        names.setdefault(instance, instance)
    return names


def first_after(moments: Iterable[tuple[int, str]], timeline: Timeline, done: Done) -> int | None:
    """The first of an instance's moments after something was done to it, and before the next thing was.

    Args:
        moments: Moments and instances, by time.
        timeline: The recording.
        done: What was done.
    """
    later = [each.time_ms for each in timeline.done if each.instance == done.instance and each.time_ms > done.time_ms]
    found = next((time for time, who in moments if who == done.instance and time >= done.time_ms), None)
    return None if found is None or (later and found >= later[0]) else found


def incarnations(timeline: Timeline) -> list[tuple[int, Incarnation]]:
    """Every start: when, and of which incarnation."""
    lost: dict[str, int] = {}
    found = []
    for each in timeline.done:
        if each.type == "lose_disk":
            lost[each.instance] = lost.get(each.instance, 0) + 1
        elif each.type == "start":
            found.append((each.time_ms, Incarnation(each.instance, lost.get(each.instance, 0))))
    return found


def process_ids(
    timeline: Timeline, names: Mapping[str, str], recording: Recording | None
) -> tuple[dict[Incarnation, ProcessID], list[str]]:
    """The process id of each incarnation, and sentences about those that were made up.

    Process ids are random, and assignors break ties by them. Where no answer of a broker shows them, ids are made up
    whose order is the one in which the recorded assignments go round.
    """
    starts = incarnations(timeline)
    joined = {each.member: each.time_ms for each in timeline.members if each.event == "joins"}
    found = {} if recording is None else _seen(starts, names, recording, joined)
    missing = [each for _, each in starts if each not in found]
    if not missing:
        return found, []
    if found:
        return found, ["process ids of instances that no answer of a broker shows are made up"]
    order = _order(timeline, starts, names)
    make = _made_up if timeline.kind == "streams-classic" else hashed_process_id
    made = {each: make(place, each.disks_lost) for place, each in enumerate(order)}
    return made, [
        "the recording has no process ids, which are random and decide ties: they are made up, in the order in which "
        "its assignments go round"
    ]


def _made_up(place: int, number: int) -> ProcessID:
    return ProcessID(UUID(f"{place + 1:08x}-0000-4000-8000-{number:012x}"))


#: Brokers keep processes in hash tables of fewer buckets than this.
_BUCKETS = 4096


def hashed_process_id(place: int, number: int) -> ProcessID:
    """A process id that a broker's hash table has at ``place``, whatever its size.

    Args:
        place: From 0; past the table's size it counts from 0 again.
        number: Tells ids of one place apart.
    """
    for salt in range(number * _MOST_TRIES, (number + 1) * _MOST_TRIES):
        process = _made_up(place, salt)
        code = string_hash(str(process)) & 0xFFFFFFFF
        if (code ^ (code >> 16)) % _BUCKETS == place % _BUCKETS:
            return process
    return _made_up(place, number)


#: Salts that are tried; one in 4,096 fits.
_MOST_TRIES = 200_000


def _seen(
    starts: Sequence[tuple[int, Incarnation]],
    names: Mapping[str, str],
    recording: Recording,
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


def _order(
    timeline: Timeline, starts: Sequence[tuple[int, Incarnation]], names: Mapping[str, str]
) -> list[Incarnation]:
    """Incarnations in the order in which calm assignments give out the first tasks.

    A broker's assignor gives tasks out in order in its first target alone: later ones leave most where they are.
    """
    order: list[Incarnation] = []
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
    """Puts those of ``sequence`` that are new behind the one that stands before them there."""
    place = 0
    for each in sequence:
        if each in order:
            place = order.index(each) + 1
        else:
            order.insert(place, each)
            place += 1
