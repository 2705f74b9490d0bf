"""Pins: text that assigns tasks to clients.

One pin is ``<tasks> -> <clients>``. Tasks are ``1_3``, ``1_*``, ``0_0..0_15``, ``*``, in a named topology
``orders__1_3``, ``orders__1_*``, ``orders__0_0..orders__0_15``, ``orders__*``; several with commas or blanks between
them. Clients are ``process:<uuid>``, ``host:<name>`` with or without ``:<port>``, ``tag:<key>=<value>``; several with
``|`` between them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import attrs

from assignment_api import ConfigError, ProcessID, ProcessIdFormatError, StreamsClientState, TaskId, TaskIdFormatError

__all__ = ["ClientSelector", "TaskPin", "TaskPattern", "parse_pins"]

_ARROW = "->"
_RANGE = ".."
_SEPARATORS = re.compile(r"[,\s]+")
_SUBTOPOLOGY = re.compile(r"[0-9]{1,9}\Z")


@attrs.frozen
class TaskPattern:
    """Tasks of one sub-topology, or of all of them.

    Args:
        topology_name: Name of the topology, or ``None``: the application has no named topologies.
        subtopology: Number of the sub-topology, or ``None``: any.
        first: First partition, or ``None``: from the beginning.
        last: Last partition, included, or ``None``: to the end.
        any_topology: Whether the topology's name does not matter (``*``).
    """

    text: str
    topology_name: str | None = None
    subtopology: int | None = None
    first: int | None = None
    last: int | None = None
    any_topology: bool = False

    @classmethod
    def parse(cls, text: str) -> TaskPattern:
        """Read one pattern.

        Raises:
            TaskIdFormatError: if the text is not a pattern.
        """
        if text == "*":
            return cls(text, any_topology=True)
        name, separator, rest = text.partition("__")
        if separator and name and rest == "*":
            return cls(text, name)
        if text.endswith("_*"):
            return cls(text, *_subtopology_of(text))
        start, is_range, end = text.partition(_RANGE)
        first = TaskId.parse(start)
        last = TaskId.parse(end) if is_range else first
        if (first.topology_name, first.subtopology) != (last.topology_name, last.subtopology):
            raise TaskIdFormatError(f"{text!r:.80}: both ends of a range must be in one sub-topology")
        if last.partition < first.partition:
            raise TaskIdFormatError(f"{text!r:.80}: the range ends before it begins")
        return cls(text, first.topology_name, first.subtopology, first.partition, last.partition)

    def matches(self, task: TaskId) -> bool:
        return (
            (self.any_topology or self.topology_name == task.topology_name)
            and (self.subtopology is None or self.subtopology == task.subtopology)
            and (self.first is None or self.first <= task.partition)
            and (self.last is None or task.partition <= self.last)
        )


def _subtopology_of(text: str) -> tuple[str | None, int]:
    name, separator, rest = text.removesuffix("_*").partition("__")
    if not separator:
        name, rest = "", text.removesuffix("_*")
    if not _SUBTOPOLOGY.match(rest):
        raise TaskIdFormatError(f"{text!r:.80}: the part before '_*' is no number of a sub-topology")
    return name or None, int(rest)


@attrs.frozen
class ClientSelector:
    """Clients with one property in common.

    Args:
        process_id: Only this process, or ``None``.
        host: ``application.server``, as ``host`` or ``host:port`` in small letters, or ``None``.
        tag: Key and value of a client tag, or ``None``.
    """

    text: str
    process_id: ProcessID | None = None
    host: str | None = None
    tag: tuple[str, str] | None = None

    @classmethod
    def parse(cls, text: str) -> ClientSelector:
        """Read one selector.

        Raises:
            ConfigError: if the text is not a selector.
        """
        kind, _, value = text.partition(":")
        value = value.strip()
        if kind == "process" and value:
            try:
                return cls(text, process_id=ProcessID.parse(value))
            except ProcessIdFormatError as error:
                raise ConfigError(str(error)) from None
        if kind == "host" and value:
            return cls(text, host=value.lower())
        key, equals, wanted = value.partition("=")
        if kind == "tag" and key.strip() and equals and wanted.strip():
            return cls(text, tag=(key.strip(), wanted.strip()))
        raise ConfigError(
            f"{text!r:.80} is no client: expected process:<uuid>, host:<name>, host:<name>:<port> or tag:<key>=<value>"
        )

    def matches(self, client: StreamsClientState) -> bool:
        if self.process_id is not None:
            return client.process_id == self.process_id
        if self.tag is not None:
            return client.client_tags.get(self.tag[0]) == self.tag[1]
        server = client.host_info
        return server is not None and self.host in (server.host.lower(), str(server).lower())


@attrs.frozen
class TaskPin:
    """Tasks with their allowed clients.

    Args:
        tasks: Patterns, any of which selects a task.
        clients: Selectors, any of which allows a client.
    """

    text: str
    tasks: tuple[TaskPattern, ...]
    clients: tuple[ClientSelector, ...]

    @classmethod
    def parse(cls, text: str) -> TaskPin:
        """Read ``<tasks> -> <clients>``.

        Raises:
            ConfigError: if the text is not a pin; names the wrong part.
        """
        tasks, arrow, clients = text.partition(_ARROW)
        if not arrow or not tasks.strip() or not clients.strip():
            raise ConfigError(f"{text!r:.80} is no pin: expected '<tasks> -> <clients>', such as '1_* -> tag:zone=a'")
        try:
            patterns = tuple(TaskPattern.parse(item) for item in _SEPARATORS.split(tasks.strip()) if item)
        except TaskIdFormatError as error:
            raise ConfigError(f"{error}; tasks are written as 1_3, 1_* or 0_0..0_15") from None
        selectors = tuple(ClientSelector.parse(item.strip()) for item in clients.split("|"))
        return cls(" ".join(text.split()), patterns, selectors)

    def matches_task(self, task: TaskId) -> bool:
        """True if this pin selects ``task``. An earlier pin may take precedence."""
        return any(pattern.matches(task) for pattern in self.tasks)

    def matches_client(self, client: StreamsClientState) -> bool:
        return any(selector.matches(client) for selector in self.clients)


def parse_pins(key: str, value: object) -> tuple[TaskPin, ...]:
    """Pins in order: a list of texts, or one text with ``;`` or line ends between the pins.

    Raises:
        ConfigError: naming ``key``, if the value is neither, or contains an invalid pin.
    """
    texts: Iterable[object]
    if isinstance(value, str):
        texts = re.split(r"[;\n]", value)
    elif isinstance(value, Sequence):
        texts = value
    else:
        raise ConfigError(f"Invalid value {value!r:.80} for configuration {key}: expected a list of pins")
    pins = []
    for text in texts:
        if not isinstance(text, str):
            raise ConfigError(f"Invalid value {text!r:.80} for configuration {key}: expected a text for each pin")
        if text.strip():
            try:
                pins.append(TaskPin.parse(text.strip()))
            except ConfigError as error:
                raise ConfigError(f"Invalid value for configuration {key}: {error}") from None
    return tuple(pins)
