"""The instances of a recorded experiment, and their configuration."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from assignor_lab.capture.timelines.timeline import RecordedTimeline
from assignor_lab.documents.json_lines import json_lines
from assignor_lab.documents.shapes import any_value, faults_at, map_of, open_record, text

__all__ = ["RECORDED_RELEASE", "Incarnation", "client_names", "incarnations", "read_configs", "settings_document"]

#: Release of the recordings whose configuration names none (``kafka.release``).
RECORDED_RELEASE = "4.3.1"
_LINE = open_record({"instance": text, "config": map_of(text, any_value)}, hint="is this configs.jsonl of a recording?")
_HERE = ("127.0.0.1", "localhost", "[::1]", "::1")


@attrs.frozen
class Incarnation:
    """An instance for as long as it keeps its disk.

    Args:
        disks_lost: Number of disks that it lost before.
    """

    instance: str
    disks_lost: int


def read_configs(path: Path) -> dict[str, Mapping[str, Any]]:
    found: dict[str, Mapping[str, Any]] = {}
    for place, line in json_lines(str(path)):
        with faults_at(place):
            fields = _LINE(line)
        found[fields["instance"]] = fields["config"]
    return found


def settings_document(config: Mapping[str, Any]) -> dict[str, Any]:
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


def client_names(configs: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Prefix of member ids to the instance: its client id, and the instance id of static members."""
    names: dict[str, str] = {}
    for instance, config in configs.items():
        for key in ("client.id", "group.instance.id"):
            if config.get(key):
                names[str(config[key])] = instance
        names.setdefault(instance, instance)
    return names


def incarnations(timeline: RecordedTimeline) -> list[tuple[int, Incarnation]]:
    lost: dict[str, int] = {}
    found = []
    for each in timeline.done:
        if each.type == "lose_disk":
            lost[each.instance] = lost.get(each.instance, 0) + 1
        elif each.type == "start":
            found.append((each.time_ms, Incarnation(each.instance, lost.get(each.instance, 0))))
    return found
