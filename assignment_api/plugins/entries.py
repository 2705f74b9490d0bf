"""Entries that a plugin's hooks return: descriptions of its offers, cheap to create and to list.

A description holds a factory or a function. The import and the computation happen on its first use.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol, TypeVar

import attrs

from assignment_api.connect import ConnectAssignor, ConnectProtocol
from assignment_api.connectors import Connector
from assignment_api.group.assignor import TaskAssignor as GroupTaskAssignor
from assignment_api.plugins.errors import PluginDefinitionError
from assignment_api.plugins.settings import Setting, declared_by
from assignment_api.streams.assignor import TaskAssignor

__all__ = [
    "ConnectAssignorPlugin",
    "ConnectorPlugin",
    "GroupAssignorPlugin",
    "History",
    "MetricPlugin",
    "ScenarioFamily",
    "TaskAssignorPlugin",
]

_NAME = re.compile(r"\A[A-Za-z][A-Za-z0-9_-]{0,63}\Z")
_JAVA_CLASS = re.compile(r"\A[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)+\Z", re.ASCII)


def _name(instance: object, attribute: attrs.Attribute[Any], value: object) -> None:
    if not isinstance(value, str) or not _NAME.match(value):
        raise PluginDefinitionError(
            f"{type(instance).__name__}.{attribute.name}: {value!r:.80} is no name: a letter, then at most 63 letters, "
            "digits, '_' or '-' (dots and colons have a meaning where a plugin is selected)"
        )


def _names(instance: object, attribute: attrs.Attribute[Any], value: tuple[object, ...]) -> None:
    for item in value:
        _name(instance, attribute, item)


def _java_classes(instance: object, attribute: attrs.Attribute[Any], value: tuple[object, ...]) -> None:
    for item in value:
        if not isinstance(item, str) or not _JAVA_CLASS.match(item):
            raise PluginDefinitionError(
                f"{type(instance).__name__}.{attribute.name}: {item!r:.80} is no full name of a Java class"
            )


def _called(instance: object, attribute: attrs.Attribute[Any], value: object) -> None:
    if not callable(value):
        raise PluginDefinitionError(f"{type(instance).__name__}.{attribute.name}: {value!r:.80} cannot be called")


def _text(instance: object, attribute: attrs.Attribute[Any], value: object) -> None:
    if not isinstance(value, str):
        raise PluginDefinitionError(f"{type(instance).__name__}.{attribute.name}: {value!r:.80} is no text")


def _connect_protocols(instance: object, attribute: attrs.Attribute[Any], value: tuple[object, ...]) -> None:
    known = [protocol.value for protocol in ConnectProtocol]
    for item in value:
        if item not in known:
            raise PluginDefinitionError(
                f"{type(instance).__name__}.{attribute.name}: {item!r:.80} is none of {', '.join(known)}"
            )


def _tuple(values: object) -> tuple[Any, ...]:
    if isinstance(values, (list, tuple)):
        return tuple(values)
    raise PluginDefinitionError(f"{values!r:.80} is neither a list nor a tuple")


@attrs.frozen
class TaskAssignorPlugin:
    """A task assignor for Kafka Streams, as hook ``assignor_lab_task_assignors`` returns it.

    Args:
        name: Its name for selection. Names of built-ins are reserved (``assignment_api.plugins.reserved``).
        factory: Creates one assignor for one rebalance, usually the class itself. Import the algorithm in here, so that
            listing plugins stays cheap.
        aliases: Further names of the same assignor.
        java_classes: Full names of the Java classes that it replaces, so that an application's ``.properties``
            file works unchanged. ``org.apache.kafka.`` belongs to the built-ins.
        summary: One sentence for listings.
        settings: Configuration keys of its own. If it declares any, other keys of its name are errors; empty: its keys
            are not checked.

    Raises:
        PluginDefinitionError: if a field is invalid, such as a name or a factory that cannot be called.
    """

    name: str = attrs.field(validator=_name)
    factory: Callable[[], TaskAssignor] = attrs.field(validator=_called)
    aliases: tuple[str, ...] = attrs.field(default=(), converter=_tuple, validator=_names)
    java_classes: tuple[str, ...] = attrs.field(default=(), converter=_tuple, validator=_java_classes)
    summary: str = attrs.field(default="", validator=_text)
    settings: tuple[Setting, ...] = attrs.field(default=(), converter=_tuple, validator=declared_by)


@attrs.frozen
class ConnectAssignorPlugin:
    """An assignor for Kafka Connect, as hook ``assignor_lab_connect_assignors`` returns it.

    Args:
        name: Its name for selection.
        factory: Creates one assignor, which lives as long as its worker's process; usually the class itself.
        aliases: Further names of the same assignor.
        summary: One sentence for listings.
        protocols: Values of ``connect.protocol`` under which it can lead a group; empty: it raises
            ``UnsupportedConnectProtocolError`` for the others.
        settings: Configuration keys of its own. If it declares any, other keys of its name are errors; empty: its keys
            are not checked.

    Raises:
        PluginDefinitionError: if a name or a protocol is invalid, or the factory cannot be called.
    """

    name: str = attrs.field(validator=_name)
    factory: Callable[[], ConnectAssignor] = attrs.field(validator=_called)
    aliases: tuple[str, ...] = attrs.field(default=(), converter=_tuple, validator=_names)
    summary: str = attrs.field(default="", validator=_text)
    protocols: tuple[str, ...] = attrs.field(default=(), converter=_tuple, validator=_connect_protocols)
    settings: tuple[Setting, ...] = attrs.field(default=(), converter=_tuple, validator=declared_by)


@attrs.frozen
class ConnectorPlugin:
    """A connector for ``assignor connect serve``, as hook ``assignor_lab_connectors`` returns it.

    Args:
        name: Its name for selection in ``connector.class``.
        load: Imports its class, a subclass of ``SourceConnector`` or ``SinkConnector``. Called when a worker starts.
        java_classes: Further full names for selection, as in requests of Connect's clients; plugin lists show the first
            one. ``org.apache.kafka.`` belongs to the built-ins.
        summary: One sentence for listings.

    Raises:
        PluginDefinitionError: if a name is invalid, or ``load`` cannot be called.
    """

    name: str = attrs.field(validator=_name)
    load: Callable[[], type[Connector]] = attrs.field(validator=_called)
    java_classes: tuple[str, ...] = attrs.field(default=(), converter=_tuple, validator=_java_classes)
    summary: str = attrs.field(default="", validator=_text)


@attrs.frozen
class GroupAssignorPlugin:
    """A broker-side assignor of KIP-1071, as hook ``assignor_lab_group_assignors`` returns it.

    Args:
        name: Its name for selection.
        factory: Creates one assignor for one assignment.
        aliases: Further names of the same assignor.
        summary: One sentence for listings.
        settings: Configuration keys of its own. If it declares any, other keys of its name are errors; empty: its keys
            are not checked.

    Raises:
        PluginDefinitionError: if a name is invalid or the factory cannot be called.
    """

    name: str = attrs.field(validator=_name)
    factory: Callable[[], GroupTaskAssignor] = attrs.field(validator=_called)
    aliases: tuple[str, ...] = attrs.field(default=(), converter=_tuple, validator=_names)
    summary: str = attrs.field(default="", validator=_text)
    settings: tuple[Setting, ...] = attrs.field(default=(), converter=_tuple, validator=declared_by)


def _direction(instance: object, attribute: attrs.Attribute[Any], value: object) -> None:
    if value not in ("lower", "higher", "none"):
        raise PluginDefinitionError(
            f"{type(instance).__name__}.{attribute.name}: {value!r:.80} is none of 'lower', 'higher', 'none'"
        )


def _one_of_kinds(*kinds: str) -> Callable[[object, attrs.Attribute[Any], object], None]:
    def validate(instance: object, attribute: attrs.Attribute[Any], value: object) -> None:
        if value not in kinds:
            listed = ", ".join(map(repr, kinds))
            raise PluginDefinitionError(
                f"{type(instance).__name__}.{attribute.name}: {value!r:.80} is none of {listed}"
            )

    return validate


_kind = _one_of_kinds("streams", "connect", "streams-group")
_family_kind = _one_of_kinds("streams", "connect", "streams-group", "streams-episode")


@attrs.frozen
class MetricPlugin:
    """A figure for one answer to one state, as hook ``assignor_lab_metrics`` returns it.

    Args:
        name: Name of the column.
        unit: Unit of the figure: ``tasks``, ``bytes``, ``ms``, ``1`` for a ratio.
        direction: Whether a ``lower`` or a ``higher`` figure is better, or ``none``.
        summary: One sentence for users; reports show it.
        compute: Function of the state and the answer alone; returns ``None`` if the state lacks the data. Of kind
            ``streams`` it takes an ``ApplicationMetadata`` and a ``TaskAssignment``, of kind ``connect`` a
            :class:`~assignment_api.connect.Rebalance` and a :class:`~assignment_api.connect.ConnectAssignment`, of kind
            ``streams-group`` a :class:`~assignment_api.group.GroupSpec`, a
            :class:`~assignment_api.group.TopologyDescriber` and a :class:`~assignment_api.group.GroupAssignment`.
        group: Heading in reports: ``balance``, ``spread``, ``movement``, or a text of your own.
        unavoidable: One sentence about the part that no assignor can avoid; may be empty.
        kind: Kind of the measured answers: to ``streams`` applications, to each rebalance in the history of a
            ``connect`` group, or those of broker-side assignors (``streams-group``).

    Raises:
        PluginDefinitionError: if a field is of the wrong kind.
    """

    name: str = attrs.field(validator=_name)
    unit: str = attrs.field(validator=_text)
    direction: Literal["lower", "higher", "none"] = attrs.field(validator=_direction)
    summary: str = attrs.field(validator=_text)
    compute: Callable[..., float | None] = attrs.field(validator=_called)
    group: str = attrs.field(default="other", validator=_text)
    unavoidable: str = attrs.field(default="", validator=_text)
    kind: Literal["streams", "connect", "streams-group"] = attrs.field(default="streams", validator=_kind)


Previous_contra = TypeVar("Previous_contra", contravariant=True)


class History(Protocol[Previous_contra]):
    """One group over several rounds; its events depend on the seed, its state also on the answers.

    An answer is a :class:`~assignment_api.TaskAssignment` for groups of Streams, and a
    :class:`~assignment_api.group.GroupAssignment` for groups that brokers assign. For groups of Connect it is a mapping
    from member id to the :class:`~assignment_api.connect.Jobs` that the member ran after the previous round.
    """

    def round(self, number: int, previous: Previous_contra | None) -> Mapping[str, Any]:
        """The leader's view of the state in a round.

        Rounds are called in order, once for each assignor. Joins, leaves, crashes, returns and the growth of lags
        depend on the seed alone, so that every assignor meets the same events.

        Args:
            previous: The same assignor's answer in the previous round; ``None`` in round 0, and after a failure.

        Returns:
            A scenario document of format 1 and the family's kind. One of kind ``connect`` holds all rounds up to this
            one.
        """
        ...


def _rounds(instance: object, attribute: attrs.Attribute[Any], value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise PluginDefinitionError(f"{type(instance).__name__}.{attribute.name}: {value!r:.80} is no number from 1")


@attrs.frozen
class ScenarioFamily:
    """States created from a seed, as hook ``assignor_lab_scenario_families`` returns it.

    Args:
        name: Its name for selection.
        summary: One sentence about the events of this family's groups.
        rounds: Number of rounds of each history, at least 1.
        history: Creates the history of a seed; equal seeds give equal histories in every process.
        size: Work of a seed's history compared with the family's other ones, such as clients times tasks. It must be
            cheap, since it is called for every seed before any history is created. ``None``: all are about equal.
        kind: Kind of the documents: ``streams``, ``connect``, ``streams-group`` or ``streams-episode``.

    Raises:
        PluginDefinitionError: if a field is of the wrong kind.
    """

    name: str = attrs.field(validator=_name)
    summary: str = attrs.field(validator=_text)
    rounds: int = attrs.field(validator=_rounds)
    history: Callable[[int], History[Any]] = attrs.field(validator=_called)
    size: Callable[[int], float] | None = attrs.field(default=None, validator=attrs.validators.optional(_called))
    kind: Literal["streams", "connect", "streams-group", "streams-episode"] = attrs.field(
        default="streams", validator=_family_kind
    )
