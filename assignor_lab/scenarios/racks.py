"""Racks that an operator writes in a file: of the clients, of the brokers, and of the partitions.

Documented in "Give the racks in a file" (docs/how-to/racks.md). A file of TOML, or the ``.properties`` file of one
instance, whose ``client.rack`` is then that of the configured client.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import attrs

from assignment_api.input_files import read_input
from assignment_api.plugins.properties import PropertiesSyntaxError, decode_properties, parse_properties
from assignor_lab.documents.errors import DocumentFormatError
from assignor_lab.documents.files import read_document
from assignor_lab.documents.shapes import (
    INT_MAX,
    Check,
    Mismatch,
    described,
    format_number,
    list_of,
    map_of,
    record,
    text,
    whole,
)
from assignor_lab.documents.toml_text import parse_toml

__all__ = ["ANY_TOPIC", "Racks", "read_racks"]

FORMAT = 1
#: Every topic that is not named.
ANY_TOPIC = "*"
_MAX_BYTES = 64 * 1024 * 1024
_CLIENT_RACK = ("client.rack", "consumer.client.rack", "main.consumer.client.rack")
_CLIENT_TAG = "client.tag."
#: A line of ``kafka-topics.sh --describe``.
_PARTITION = re.compile(
    r"\A(?>.*?\bTopic:\s*([^\s:]+)\s)(?>.*?\bPartition:\s*(\d{1,9})\s)"
    r".*?\bReplicas:\s*(\d{1,9}(?:,\d{1,9})*)(?:\s|\Z)"
)


@attrs.frozen
class Racks:
    """Racks of clients and partitions.

    Args:
        topics: Topic to the racks of each partition, from 0; those of :data:`ANY_TOPIC` hold for every partition.
    """

    files: tuple[str, ...]
    clients: Mapping[str, str]
    topics: Mapping[str, Sequence[tuple[str, ...]]]
    where: Mapping[str, str] = attrs.field(factory=dict)

    def of_partition(self, topic: str, partition: int) -> tuple[str, ...]:
        """Racks of the replicas of a partition; empty if no file has them."""
        known = self.topics.get(topic)
        if known is None:
            return tuple(self.topics[ANY_TOPIC][0]) if ANY_TOPIC in self.topics else ()
        return known[partition] if partition < len(known) else ()


def read_racks(paths: Iterable[str | PathLike[str]] | str | PathLike[str]) -> Racks:
    """The racks in some files.

    Raises:
        DocumentFormatError: if a file cannot be read or is not in the format, or two of them contradict each other;
            with file, line and key.
    """
    names = (paths,) if isinstance(paths, (str, PathLike)) else tuple(paths)
    clients: dict[str, str] = {}
    topics: dict[str, Sequence[tuple[str, ...]]] = {}
    where: dict[str, str] = {}
    for path in names:
        name = fspath(path)
        found = _of_instance(Path(path)) if name.endswith(".properties") else _of_file(Path(path))
        for key, rack in found.clients.items():
            if clients.setdefault(key, rack) != rack:
                reason = f"{described(rack)}, but {where[key]} has {described(clients[key])}: keep one of them"
                raise DocumentFormatError(name, _line_of(Path(path), key), key, reason)
            where[key] = found.where.get(key, name)
        for topic, partitions in found.topics.items():
            if topics.setdefault(topic, partitions) != partitions:
                raise DocumentFormatError(name, _line_of(Path(path), topic), topic, "another file has other racks")
    return Racks(tuple(fspath(path) for path in names), clients, topics, where)


# --- files of racks ---------------------------------------------------------------------------------


def _name(value: Any) -> str:
    found = text(value)
    if not found.strip():
        raise Mismatch("expected the name of a rack, found an empty text: leave out entries without a rack")
    return found


def _replica(value: Any) -> int | str:
    if type(value) is int:
        return whole(0, INT_MAX)(value)
    if type(value) is not str:
        raise Mismatch(f"expected the number of a broker, or the name of a rack, found {described(value)}")
    return _name(value)


def _broker(value: Any) -> None:
    if not re.fullmatch(r"\d{1,9}", text(value)):
        raise Mismatch(f"expected the number of a broker (broker.id, node.id), found {described(value)}")


_replicas: Check[list[int | str]] = list_of(_replica)
_partitions: Check[list[list[int | str]]] = list_of(_replicas)
_DOCUMENT = record(
    {"format": format_number(FORMAT)},
    {
        "clients": map_of(text, _name),
        "brokers": map_of(_broker, _name),
        "topics": map_of(text, lambda value: value),
        "described": text,
    },
)


def _of_file(path: Path) -> Racks:
    def check(value: Any) -> Racks:
        document = _DOCUMENT(value)
        brokers = {int(number): rack for number, rack in document.get("brokers", {}).items()}
        topics = {
            topic: _of_topic(topic, partitions, brokers) for topic, partitions in document.get("topics", {}).items()
        }
        if "described" in document:
            for topic, partitions in _described(path.parent / document["described"], brokers).items():
                topics.setdefault(topic, partitions)
        clients = document.get("clients", {})
        if not clients and not topics:
            raise Mismatch("neither clients nor topics in it: brokers alone do not show the places of the partitions")
        return Racks((str(path),), clients, topics)

    try:
        return read_document(path, parse_toml, check, max_bytes=_MAX_BYTES, subject="a file of racks")
    except DocumentFormatError as error:
        if error.line is not None or not error.key or error.file != fspath(path):
            raise
        raise DocumentFormatError(error.file, _line_of(path, error.key), error.key, error.reason) from None


def _of_topic(topic: str, value: Any, brokers: Mapping[int, str]) -> list[tuple[str, ...]]:
    try:
        if topic == ANY_TOPIC:
            return [_racks(_replicas(value), brokers)]
        if type(value) is list and value and type(value[0]) is not list:
            raise Mismatch("expected a list for each partition, from 0: [[1, 2], [2, 3]]", 0)
        found = []
        for number, replicas in enumerate(_partitions(value)):
            try:
                found.append(_racks(replicas, brokers))
            except Mismatch as mismatch:
                raise mismatch.inside(number) from None
    except Mismatch as mismatch:
        raise mismatch.inside("topics", topic) from None
    return found


def _racks(replicas: Sequence[int | str], brokers: Mapping[int, str]) -> tuple[str, ...]:
    """The racks of a partition, each once; as in Kafka, none at all if one replica's is unknown."""
    if not replicas:
        raise Mismatch("expected at least one replica, found an empty list: leave out unknown partitions")
    racks: dict[str, None] = {}
    for index, replica in enumerate(replicas):
        if type(replica) is str:
            racks[replica] = None
        elif replica in brokers:
            racks[brokers[int(replica)]] = None
        else:
            raise Mismatch(f"broker {replica} is not among the brokers: add its rack there", index)
    return tuple(racks)


def _described(path: Path, brokers: Mapping[int, str]) -> dict[str, list[tuple[str, ...]]]:
    content = read_document(
        path, _text_of, lambda value: value, max_bytes=_MAX_BYTES, subject="a description of topics"
    )
    found: dict[str, dict[int, tuple[str, ...]]] = {}
    for number, line in enumerate(content.splitlines(), start=1):
        match = _PARTITION.search(line)
        if match is None:
            continue
        try:
            racks = _racks([int(replica) for replica in match[3].split(",")], brokers)
        except Mismatch as mismatch:
            raise DocumentFormatError(str(path), number, f"{match[1]}-{match[2]}", mismatch.reason) from None
        found.setdefault(match[1], {})[int(match[2])] = racks
    if not found:
        raise DocumentFormatError(
            str(path), None, "", "no line of a partition in it: give the output of kafka-topics.sh --describe"
        )
    return {
        topic: [partitions.get(number, ()) for number in range(max(partitions) + 1)]
        for topic, partitions in found.items()
    }


def _text_of(content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Mismatch(f"byte {error.start} is not UTF-8: save the file as UTF-8") from None


def _line_of(path: Path, key: str) -> int | None:
    """The line of the last name in ``key``, as a key or a table at the start of a line."""
    try:
        lines = read_input(path).decode("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    names = [part.strip('"') for part in re.findall(r'"(?:[^"\\]|\\.)*+"?|[^.\[\]"]+', key)]
    for name in reversed(names):
        entry = re.compile(rf"""\s*(?:["']?{re.escape(name)}["']?\s*[=:]|\[{re.escape(name)}\])""")
        for number, line in enumerate(lines, start=1):
            if entry.match(line):
                return number
    return None


# --- files of instances -----------------------------------------------------------------------------


def _of_instance(path: Path) -> Racks:
    def check(value: Any) -> Racks:
        given: dict[str, tuple[str, int]] = value
        rack = next((given[key] for key in reversed(_CLIENT_RACK) if key in given and given[key][0]), None)
        if rack is None:
            raise Mismatch("no client.rack in it: this file names the rack of no client", "client.rack")
        tags = [
            f"{key.removeprefix(_CLIENT_TAG)}={held}" for key, (held, _) in given.items() if key.startswith(_CLIENT_TAG)
        ]
        names = [given[key][0] for key in ("application.server", "client.id") if key in given and given[key][0]]
        name = names[0] if names else ",".join(sorted(tags))
        if not name:
            raise Mismatch(
                "neither application.server nor client.id nor client.tag.* in it: its client is unknown; "
                "name it in a file of racks",
                "client.rack",
                line=rack[1],
            )
        return Racks((str(path),), {name: rack[0]}, {}, {name: f"{path}, line {rack[1]}"})

    return read_document(path, _properties, check, max_bytes=_MAX_BYTES, subject="a .properties file")


def _properties(content: bytes) -> dict[str, tuple[str, int]]:
    try:
        return {
            entry.key: (entry.value.strip(), entry.line)
            for entry in parse_properties(decode_properties(content))
            if entry.key in (*_CLIENT_RACK, "application.server", "client.id") or entry.key.startswith(_CLIENT_TAG)
        }
    except PropertiesSyntaxError as error:
        raise Mismatch(str(error)) from None
