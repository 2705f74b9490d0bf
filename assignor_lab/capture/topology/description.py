"""Reads the text of Java's ``Topology#describe``: nodes and stores of each sub-topology.

Lines are split at fixed words, so the time is linear in the length of the text.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import attrs

from assignor_lab.capture.errors import TopologyTextError
from assignor_lab.capture.topology.internal_topics import REPARTITION, is_of_foreign_keys

__all__ = [
    "DESCRIPTION_WORDS", "DescribedStore", "SourceNode", "SubTopologyKey", "SubTopologyText", "TopologyDescription",
    "parse_topology", "topology_of_lines",
]  # fmt: skip

SubTopologyKey = tuple[str | None, int]

#: Words in each line that matters.
DESCRIPTION_WORDS = ("Topology: ", "Sub-topology: ", "Source: ", "Processor: ", "Sink: ", "<-- ", "&lt;-- ")
_WORD = re.compile("(?<![A-Za-z-])(?:" + "|".join(DESCRIPTION_WORDS) + ")")
#: Signs behind a line: of a literal, a list, or a comment.
_BEHIND = " \t\r\n\"'+;,*\\"
_GLOBAL = "for global store"
#: Prefix of a processor that reads a topic as a table. With ``Consumed.as("name")`` the processor is ``name``, and the
#: source ``name-source``.
_TABLE, _SOURCE_OF_NAMED = "KTABLE-SOURCE-", "-source"
_GENERATED = re.compile(r"\AK(?:STREAM|TABLE)-[A-Z-]{1,40}-[0-9]{10}\Z")
_DIGITS = 10
_SELECT = "KTABLE-SELECT-"
#: Likelihood that a processor's only topic is the changelog of its only store.
_OF_TABLE, _OF_ITS_NAME, _OF_ANY = range(3)


@attrs.frozen
class SourceNode:
    """A node that reads topics.

    Args:
        topics: Internal ones without the application id.
        pattern: The regular expression that it subscribes instead.
    """

    name: str
    topics: tuple[str, ...]
    pattern: str | None = None


@attrs.frozen
class DescribedStore:
    """A state store.

    Args:
        filled_from: Topics that may be its changelog: that of a table, or of a read-only store (KIP-813). Each is the
        only topic of the only source of a processor with no other store.
        is_table: True if the processor's name shows that it reads the topic as a table.
    """

    name: str
    filled_from: tuple[str, ...] = ()
    is_table: bool = False


@attrs.frozen
class SubTopologyText:
    """A sub-topology."""

    sources: tuple[SourceNode, ...]
    stores: tuple[DescribedStore, ...]

    @property
    def topics(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(topic for source in self.sources for topic in source.topics))

    @property
    def patterns(self) -> tuple[str, ...]:
        return tuple(source.pattern for source in self.sources if source.pattern is not None)


@attrs.frozen
class TopologyDescription:
    """A description.

    Args:
        subtopologies: With tasks; global ones have none.
        internal: The application writes and reads them.
    """

    name: str
    subtopologies: Mapping[SubTopologyKey, SubTopologyText]
    internal: frozenset[str]
    written: frozenset[str]


def parse_topology(text: str, name: str = "<text>") -> TopologyDescription:
    """Output of ``System.out.println(topology.describe())``, once or several times; other lines are ignored.

    Lines may have any prefix: of a log, a quote, or a comment.
    """
    return topology_of_lines([list(enumerate(text.splitlines(), start=1))], name)


def topology_of_lines(streams: Iterable[Iterable[tuple[int, str]]], name: str) -> TopologyDescription:
    """As :func:`parse_topology`, of numbered lines.

    Args:
        streams: Lines of containers that wrote at the same time.
    """
    found = [each for lines in streams for each in _descriptions(lines, name)]
    if not found:
        raise TopologyTextError(
            name, None, "no line 'Sub-topology: 0': give the text that Java's Topology#describe prints"
        )
    for line, other in found[1:]:
        if other != found[0][1]:
            _, number = next(iter(other.subtopologies), (None, 0))
            raise TopologyTextError(
                name, line, f"sub-topology {number} stands here a second time, and differs: give one description"
            )
    return found[0][1]


def _descriptions(lines: Iterable[tuple[int, str]], name: str) -> Iterator[tuple[int, TopologyDescription]]:
    """Each with the line of its first sub-topology."""
    begun: dict[SubTopologyKey, _Nodes] = {}
    first = 0
    for number, key, is_global, line in _lines(lines):
        if line is None:
            if key in begun:
                yield first, _description(begun, name)
                begun = {}
            first = first if begun else number
            begun[key] = _Nodes(is_global)
        elif key in begun:
            begun[key].take(line)
    if begun:
        yield first, _description(begun, name)


def _description(begun: Mapping[SubTopologyKey, _Nodes], name: str) -> TopologyDescription:
    sinks = {sink.topic: sink for nodes in begun.values() for sink in nodes.sinks}
    global_stores = {store for nodes in begun.values() if nodes.is_global for store in nodes.stores}
    read = {topic for nodes in begun.values() for source in nodes.sources.values() for topic in source.topics}
    internal = frozenset(topic for topic, sink in sinks.items() if topic in read and sink.is_internal)
    found = {key: nodes.finished(global_stores, internal) for key, nodes in begun.items() if not nodes.is_global}
    return TopologyDescription(name, found, internal, frozenset(sinks))


def _lines(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, SubTopologyKey, bool, str | None]]:
    """Line number, sub-topology, True if global, and the line; no line at the start of a sub-topology."""
    topology: str | None = None
    key: SubTopologyKey = (None, -1)
    for number, whole in lines:
        line = _without_prefix(whole)
        if line.startswith("Topology: "):
            topology = line.removeprefix("Topology: ").rstrip(":").strip() or None
        elif (begins := _number(line)) is not None:
            key = (topology, begins)
            yield number, key, _GLOBAL in line, None
        else:
            yield number, key, False, line


def _without_prefix(line: str) -> str:
    """From the first word of a description on, without the signs of Java's text literals at the end."""
    found = _WORD.search(line)
    if found is None:
        return ""
    line = line[found.start() :].rstrip(_BEHIND)
    return html.unescape(line) if "&" in line else line


def _number(line: str) -> int | None:
    head, _, rest = line.partition("Sub-topology: ")
    digits, _, more = rest.partition(" ")
    if head or not (digits.isascii() and digits.isdecimal() and len(digits) <= 9):
        return None
    return int(digits) if not more.strip() or more.startswith(_GLOBAL) else None


@attrs.define
class _Processor:
    name: str
    stores: tuple[str, ...]
    predecessors: tuple[str, ...] = ()


@attrs.define
class _Sink:
    name: str
    topic: str
    predecessors: tuple[str, ...] = ()

    @property
    def is_internal(self) -> bool:
        """Kafka: ``KStreamImpl#createRepartitionedSource``, ``KTableImpl#doJoinOnForeignKey``."""
        if is_of_foreign_keys(self.topic):
            return True
        if not self.topic.endswith(REPARTITION):
            return False
        # A stream written with to() has a sink with a generated name and any topic name.
        if not self.name.startswith("KSTREAM-SINK-") or _is_generated(self.topic):
            return True
        of_table = self.topic.removesuffix(REPARTITION)
        return any(name.startswith(_SELECT) or name == of_table for name in self.predecessors)


def _is_generated(topic: str) -> bool:
    """``KSTREAM-...-0000000002-repartition``."""
    digits = topic.removesuffix(REPARTITION)[-_DIGITS:]
    return topic.startswith(("KSTREAM-", "KTABLE-")) and len(digits) == _DIGITS and digits.isdecimal()


@attrs.define
class _Nodes:
    is_global: bool
    sources: dict[str, SourceNode] = attrs.field(factory=dict)
    processors: list[_Processor] = attrs.field(factory=list)
    sinks: list[_Sink] = attrs.field(factory=list)
    _latest: _Processor | _Sink | None = None

    @property
    def stores(self) -> Sequence[str]:
        return list(dict.fromkeys(store for processor in self.processors for store in processor.stores))

    def take(self, line: str) -> None:
        if line.startswith("<-- "):
            if self._latest is not None:
                self._latest.predecessors = _names(line.removeprefix("<-- "))
        elif parts := _node(line, "Source: ", " (topics: ", ")"):
            name, topics = parts
            is_list = topics.startswith("[") and topics.endswith("]")
            self.sources[name] = SourceNode(name, _names(topics[1:-1]) if is_list else (), None if is_list else topics)
            self._latest = None
        elif parts := _node(line, "Processor: ", " (stores: [", "])"):
            self._latest = _Processor(parts[0], _names(parts[1]))
            self.processors.append(self._latest)
        elif parts := _node(line, "Sink: ", " (topic: ", ")"):
            self._latest = _Sink(*parts)
            self.sinks.append(self._latest)

    def finished(self, global_stores: set[str], internal: frozenset[str]) -> SubTopologyText:
        filling: dict[str, list[tuple[int, str]]] = {}
        for processor in self.processors:
            found = self._filling(processor) if len(processor.stores) == 1 else None
            if found is not None and found[1] not in internal:
                filling.setdefault(processor.stores[0], []).append(found)
        stores = [_store(name, filling.get(name, ())) for name in self.stores if name not in global_stores]
        return SubTopologyText(tuple(self.sources.values()), tuple(stores))

    def _filling(self, processor: _Processor) -> tuple[int, str] | None:
        """The only topic of a processor if it may serve as its store's changelog, and its likelihood."""
        source = self.sources.get(processor.predecessors[0]) if len(processor.predecessors) == 1 else None
        if source is None or len(source.topics) != 1:
            return None
        if processor.name.startswith(_TABLE) or source.name == processor.name + _SOURCE_OF_NAMED:
            return _OF_TABLE, source.topics[0]
        # Read-only stores have named nodes; counts and the like, or their sources, have generated names.
        if _GENERATED.match(processor.name) or _GENERATED.match(source.name):
            return None
        is_named_after = any(processor.stores[0] in name for name in (processor.name, source.name))
        return _OF_ITS_NAME if is_named_after else _OF_ANY, source.topics[0]


def _store(name: str, filling: Sequence[tuple[int, str]]) -> DescribedStore:
    likeliest = min((rank for rank, _ in filling), default=_OF_ANY)
    topics = dict.fromkeys(topic for rank, topic in filling if rank == likeliest)
    return DescribedStore(name, tuple(topics), likeliest == _OF_TABLE)


def _node(line: str, kind: str, between: str, end: str) -> tuple[str, str] | None:
    if not (line.startswith(kind) and line.endswith(end)):
        return None
    name, found, content = line[len(kind) : -len(end)].partition(between)
    return (name, content) if found else None


def _names(text: str) -> tuple[str, ...]:
    return tuple(name for name in text.strip().split(", ") if name)
