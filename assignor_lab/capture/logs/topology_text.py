"""Reads the text of Java's ``Topology#describe``: what each sub-topology reads and which stores it has.

A log does not show it, so ``assignor import-log --topology FILE`` takes it from here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import attrs

from assignor_lab.capture.errors import TopologyTextError

__all__ = ["SubTopologyText", "parse_topology", "read_topology"]

_MAX_BYTES = 32 * 2**20
_TOPOLOGY = re.compile(r"\s*Topology: (.+?):?\s*\Z")
_SUB_TOPOLOGY = re.compile(r"\s*Sub-topology: ([0-9]{1,9})(?: for global store .*)?\s*\Z")
_SOURCE = re.compile(r"\s*Source: (.+?) \(topics: (.*)\)\s*\Z")
_PROCESSOR = re.compile(r"\s*Processor: (.+?) \(stores: \[(.*)\]\)\s*\Z")
_PREDECESSORS = re.compile(r"\s*<-- (.*?)\s*\Z")
#: How Kafka names the processor that reads a topic as a table: by itself, or after the name that ``Consumed`` gives.
_TABLE, _NAMED_TABLE = "KTABLE-SOURCE", "-table-source"
_SINK = re.compile(r"\s*Sink: .+? \(topic: (.*)\)\s*\Z")
#: Kafka's name for a topic that the application makes for itself; the application id is put before it.
_REPARTITION = "-repartition"


@attrs.frozen
class SubTopologyText:
    """A sub-topology.

    Args:
        source_topics: Topics that it reads, in the order of the text; internal ones without the application id.
        stores: Its state stores, logged or not, in the order of the text.
        internal_topics: Those of ``source_topics`` that the application makes for itself.
        pattern: Whether topics are subscribed by a regular expression, so that their names are unknown.
        tables: Stores of topics that are read as tables, to those: with ``topology.optimization`` their changelogs.
    """

    source_topics: tuple[str, ...]
    stores: tuple[str, ...]
    internal_topics: frozenset[str]
    pattern: bool
    tables: Mapping[str, str] = attrs.field(factory=dict)


@attrs.define
class _Begun:
    is_global: bool
    topics: dict[str, None] = attrs.field(factory=dict)
    stores: dict[str, None] = attrs.field(factory=dict)
    pattern: bool = False
    #: Name of a source to its topics, and the table that the processor of the latest lines fills, if it is one.
    sources: dict[str, list[str]] = attrs.field(factory=dict)
    table: str | None = None
    tables: dict[str, str] = attrs.field(factory=dict)


def read_topology(path: Path) -> Mapping[tuple[str | None, int], SubTopologyText]:
    """Reads a description from a file; see :func:`parse_topology`.

    Raises:
        TopologyTextError: if the file cannot be read or is no description.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise TopologyTextError(str(path), None, f"cannot be read: {error.strerror or error}") from error
    if len(data) > _MAX_BYTES:
        raise TopologyTextError(str(path), None, f"is longer than {_MAX_BYTES // 2**20} MiB: is this a description?")
    return parse_topology(data.decode("utf-8", "replace"), str(path))


def parse_topology(text: str, name: str = "<text>") -> Mapping[tuple[str | None, int], SubTopologyText]:
    """Reads a description.

    Args:
        text: What ``System.out.println(topology.describe())`` prints; other lines around it do no harm.
        name: The file's name, for messages.

    Returns:
        (Name of the topology or ``None``, number) to the sub-topology; global ones have no tasks and are left out.

    Raises:
        TopologyTextError: if there is no sub-topology, or one is there twice.
    """
    begun: dict[tuple[str | None, int], _Begun] = {}
    sinks: dict[str, None] = {}
    for number, key, is_global, line in _lines(text):
        if line is None:
            if key in begun:
                raise TopologyTextError(name, number, f"sub-topology {key[1]} stands here a second time")
            begun[key] = _Begun(is_global)
        elif key in begun:
            _take(begun[key], sinks, line)
    if not begun:
        raise TopologyTextError(
            name, None, "no line 'Sub-topology: 0': give the text that Java's Topology#describe prints"
        )
    global_stores = {store for sub in begun.values() if sub.is_global for store in sub.stores}
    return {
        key: SubTopologyText(
            tuple(sub.topics),
            tuple(store for store in sub.stores if store not in global_stores),
            frozenset(topic for topic in sub.topics if topic in sinks and topic.endswith(_REPARTITION)),
            sub.pattern,
            {store: topic for store, topic in sub.tables.items() if store not in global_stores},
        )
        for key, sub in begun.items()
        if not sub.is_global
    }


def _lines(text: str) -> Iterator[tuple[int, tuple[str | None, int], bool, str | None]]:
    """Line number, sub-topology, whether it is global, and the line; no line where the sub-topology begins."""
    topology: str | None = None
    key: tuple[str | None, int] = (None, -1)
    for number, line in enumerate(text.splitlines(), start=1):
        if found := _TOPOLOGY.match(line):
            topology = found[1]
        elif found := _SUB_TOPOLOGY.match(line):
            key = (topology, int(found[1]))
            yield number, key, "for global store" in line, None
        else:
            yield number, key, False, line


def _take(sub: _Begun, sinks: dict[str, None], line: str) -> None:
    if found := _SOURCE.match(line):
        topics = found[2]
        if topics.startswith("[") and topics.endswith("]"):
            sub.sources[found[1]] = [name for name in topics[1:-1].split(", ") if name]
            sub.topics.update(dict.fromkeys(sub.sources[found[1]]))
        else:
            sub.pattern = True
        sub.table = None
    elif found := _PROCESSOR.match(line):
        stores = [name for name in found[2].split(", ") if name]
        sub.stores.update(dict.fromkeys(stores))
        is_table = found[1].startswith(_TABLE) or found[1].endswith(_NAMED_TABLE)
        sub.table = stores[0] if is_table and len(stores) == 1 else None
    elif sub.table is not None and (found := _PREDECESSORS.match(line)):
        topics_of = sub.sources.get(found[1], [])
        if len(topics_of) == 1:
            sub.tables[sub.table] = topics_of[0]
        sub.table = None
    elif found := _SINK.match(line):
        sinks[found[1]] = None
