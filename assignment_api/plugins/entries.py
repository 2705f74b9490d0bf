"""Descriptions that hooks return: cheap to create; imports happen on first use."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

import attrs

from assignment_api.connect import ConnectProtocol
from assignment_api.plugins.errors import PluginDefinitionError
from assignment_api.plugins.settings import declared_by

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from assignment_api.connect import ConnectAssignor
    from assignment_api.connectors import Connector
    from assignment_api.consumer import (
        ConsumerGroupPartitionAssignor,
        ConsumerPartitionAssignor,
        ShareGroupPartitionAssignor,
    )
    from assignment_api.group.assignor import TaskAssignor as GroupTaskAssignor
    from assignment_api.plugins.settings import Setting
    from assignment_api.releases import KafkaRelease
    from assignment_api.streams.assignor import TaskAssignor

__all__ = [
    "ConnectAssignorPlugin",
    "ConnectorPlugin",
    "GroupAssignorPlugin",
    "History",
    "MetricPlugin",
    "PartitionAssignorPlugin",
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


_optional_call = attrs.validators.optional(_called)


def _text(instance: object, attribute: attrs.Attribute[Any], value: object) -> None:
    if not isinstance(value, str):
        raise PluginDefinitionError(f"{type(instance).__name__}.{attribute.name}: {value!r:.80} is no text")


def _each_of(*known: str) -> Callable[[object, attrs.Attribute[Any], tuple[object, ...]], None]:
    def validate(instance: object, attribute: attrs.Attribute[Any], value: tuple[object, ...]) -> None:
        for item in value:
            if item not in known:
                raise PluginDefinitionError(
                    f"{type(instance).__name__}.{attribute.name}: {item!r:.80} is none of {', '.join(known)}"
                )

    return validate


_connect_protocols = _each_of(*(protocol.value for protocol in ConnectProtocol))
_rebalance_protocols = _each_of("eager", "cooperative")


def _tuple(values: object) -> tuple[Any, ...]:
    if isinstance(values, (list, tuple)):
        return tuple(values)
    raise PluginDefinitionError(f"{values!r:.80} is neither a list nor a tuple")


@attrs.frozen
class TaskAssignorPlugin:
    """A task assignor for Kafka Streams, from hook ``assignor_lab_task_assignors``.

    Args:
        name: Not reserved (``assignment_api.plugins.reserved``).
        factory: Creates an assignor for one rebalance, usually the class. Import the algorithm inside, so that listings
            stay cheap.
        java_classes: Full names of the replaced Java classes, so that an application's ``.properties`` work unchanged.
            ``org.apache.kafka.`` belongs to the built-ins.
        summary: One sentence for listings.
        settings: Own configuration keys. If any is declared, others of its name are errors; empty: unchecked.
        at_release: Creates an assignor that answers as a release of Kafka, for ``NAME@RELEASE``; ``None``: its answers
            do not depend on releases.

    Raises:
        PluginDefinitionError: if a field is invalid.
    """

    name: str = attrs.field(validator=_name)
    factory: Callable[[], TaskAssignor] = attrs.field(validator=_called)
    aliases: tuple[str, ...] = attrs.field(default=(), converter=_tuple, validator=_names)
    java_classes: tuple[str, ...] = attrs.field(default=(), converter=_tuple, validator=_java_classes)
    summary: str = attrs.field(default="", validator=_text)
    settings: tuple[Setting, ...] = attrs.field(default=(), converter=_tuple, validator=declared_by)
    at_release: Callable[[KafkaRelease], TaskAssignor] | None = attrs.field(default=None, validator=_optional_call)


@attrs.frozen
class ConnectAssignorPlugin:
    """An assignor for Kafka Connect, from hook ``assignor_lab_connect_assignors``.

    Args:
        factory: Creates an assignor for the lifetime of a worker's process.
        protocols: Supported values of ``connect.protocol``; empty: it raises ``UnsupportedConnectProtocolError`` for
            others.
        settings: As for :class:`TaskAssignorPlugin`.

    Raises:
        PluginDefinitionError: if a field is invalid.
    """

    name: str = attrs.field(validator=_name)
    factory: Callable[[], ConnectAssignor] = attrs.field(validator=_called)
    aliases: tuple[str, ...] = attrs.field(default=(), converter=_tuple, validator=_names)
    summary: str = attrs.field(default="", validator=_text)
    protocols: tuple[str, ...] = attrs.field(default=(), converter=_tuple, validator=_connect_protocols)
    settings: tuple[Setting, ...] = attrs.field(default=(), converter=_tuple, validator=declared_by)


@attrs.frozen
class ConnectorPlugin:
    """A connector, from hook ``assignor_lab_connectors``.

    Args:
        name: For ``connector.class``.
        load: Imports its class, of ``SourceConnector`` or ``SinkConnector``, when a worker starts.
        java_classes: Further full names; plugin lists show the first. ``org.apache.kafka.`` belongs to the built-ins.

    Raises:
        PluginDefinitionError: if a field is invalid.
    """

    name: str = attrs.field(validator=_name)
    load: Callable[[], type[Connector]] = attrs.field(validator=_called)
    java_classes: tuple[str, ...] = attrs.field(default=(), converter=_tuple, validator=_java_classes)
    summary: str = attrs.field(default="", validator=_text)


@attrs.frozen
class GroupAssignorPlugin:
    """A broker-side assignor (KIP-1071), from hook ``assignor_lab_group_assignors``.

    Args:
        factory: Creates an assignor for one assignment.
        settings: As for :class:`TaskAssignorPlugin`.
        at_release: As for :class:`TaskAssignorPlugin`.

    Raises:
        PluginDefinitionError: if a field is invalid.
    """

    name: str = attrs.field(validator=_name)
    factory: Callable[[], GroupTaskAssignor] = attrs.field(validator=_called)
    aliases: tuple[str, ...] = attrs.field(default=(), converter=_tuple, validator=_names)
    summary: str = attrs.field(default="", validator=_text)
    settings: tuple[Setting, ...] = attrs.field(default=(), converter=_tuple, validator=declared_by)
    at_release: Callable[[KafkaRelease], GroupTaskAssignor] | None = attrs.field(default=None, validator=_optional_call)


@attrs.frozen
class PartitionAssignorPlugin:
    """An assignor for consumer groups or share groups.

    From the hooks ``assignor_lab_consumer_assignors``, ``assignor_lab_consumer_group_assignors`` and
    ``assignor_lab_share_group_assignors``.

    Args:
        factory: Creates an assignor for one assignment, of the interface that belongs to the hook.
        aliases: Further names, such as Kafka's own.
        java_classes: As for :class:`TaskAssignorPlugin`.
        protocols: Client side: supported rebalance protocols, ``eager`` and ``cooperative``; empty: eager alone.
        settings: As for :class:`TaskAssignorPlugin`.

    Raises:
        PluginDefinitionError: if a field is invalid.
    """

    name: str = attrs.field(validator=_name)
    factory: Callable[[], ConsumerPartitionAssignor | ConsumerGroupPartitionAssignor | ShareGroupPartitionAssignor] = (
        attrs.field(validator=_called)
    )
    aliases: tuple[str, ...] = attrs.field(default=(), converter=_tuple, validator=_names)
    java_classes: tuple[str, ...] = attrs.field(default=(), converter=_tuple, validator=_java_classes)
    summary: str = attrs.field(default="", validator=_text)
    protocols: tuple[str, ...] = attrs.field(default=(), converter=_tuple, validator=_rebalance_protocols)
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


_kind = _one_of_kinds("streams", "connect", "streams-group", "consumer", "consumer-group", "share-group")
_family_kind = _one_of_kinds(
    *("streams", "connect", "streams-group", "streams-episode", "consumer", "consumer-group", "share-group")
)


@attrs.frozen
class MetricPlugin:
    """A figure for one answer to one state, from hook ``assignor_lab_metrics``.

    Args:
        unit: ``tasks``, ``bytes``, ``ms``, ``1`` for a ratio.
        direction: ``lower`` or ``higher`` is better, or ``none``.
        summary: One sentence for reports.
        compute: Function of state and answer alone; ``None`` without the data. By kind: ``ApplicationMetadata`` and
            ``TaskAssignment``; :class:`~assignment_api.connect.Rebalance` and
            :class:`~assignment_api.connect.ConnectAssignment`; :class:`~assignment_api.group.GroupSpec`,
            :class:`~assignment_api.group.TopologyDescriber` and :class:`~assignment_api.group.GroupAssignment`;
            :class:`~assignment_api.consumer.ConsumerGroupState` or
            :class:`~assignment_api.consumer.SubscribedGroup`, and
            :class:`~assignment_api.consumer.PartitionAssignment`.
        group: Heading in reports: ``balance``, ``spread``, ``movement``, or your own.
        unavoidable: One sentence about the unavoidable part, or empty.
        kind: ``streams``, ``connect``, ``streams-group``, ``consumer``, ``consumer-group`` or ``share-group``.

    Raises:
        PluginDefinitionError: if a field is invalid.
    """

    name: str = attrs.field(validator=_name)
    unit: str = attrs.field(validator=_text)
    direction: Literal["lower", "higher", "none"] = attrs.field(validator=_direction)
    summary: str = attrs.field(validator=_text)
    compute: Callable[..., float | None] = attrs.field(validator=_called)
    group: str = attrs.field(default="other", validator=_text)
    unavoidable: str = attrs.field(default="", validator=_text)
    kind: Literal["streams", "connect", "streams-group", "consumer", "consumer-group", "share-group"] = attrs.field(
        default="streams", validator=_kind
    )


Previous_contra = TypeVar("Previous_contra", contravariant=True)


class History(Protocol[Previous_contra]):
    """One group over several rounds: events depend on the seed, states also on answers.

    Answers: :class:`~assignment_api.TaskAssignment` (Streams), :class:`~assignment_api.group.GroupAssignment`
    (brokers), :class:`~assignment_api.consumer.PartitionAssignment` (consumers), or member id to the
    :class:`~assignment_api.connect.Jobs` after the previous round (Connect).
    """

    def round(self, number: int, previous: Previous_contra | None) -> Mapping[str, Any]:
        """The leader's view in a round.

        Rounds come in order, once for each assignor. Events and the growth of lags depend on the seed alone, so every
        assignor meets the same ones.

        Args:
            previous: The assignor's last answer; ``None`` in round 0, and after a failure.

        Returns:
            A scenario document of format 1; of kind ``connect``, with all rounds so far.
        """
        ...


def _rounds(instance: object, attribute: attrs.Attribute[Any], value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise PluginDefinitionError(f"{type(instance).__name__}.{attribute.name}: {value!r:.80} is no number from 1")


@attrs.frozen
class ScenarioFamily:
    """States created from a seed, from hook ``assignor_lab_scenario_families``.

    Args:
        summary: One sentence about the events.
        rounds: Of each history, at least 1.
        history: Creates a seed's history, equal in every process.
        size: A seed's relative work, such as clients times tasks; cheap, since called for every seed first. ``None``:
            about equal.
        kind: ``streams``, ``connect``, ``streams-group``, ``streams-episode``, ``consumer``, ``consumer-group`` or
            ``share-group``.

    Raises:
        PluginDefinitionError: if a field is invalid.
    """

    name: str = attrs.field(validator=_name)
    summary: str = attrs.field(validator=_text)
    rounds: int = attrs.field(validator=_rounds)
    history: Callable[[int], History[Any]] = attrs.field(validator=_called)
    size: Callable[[int], float] | None = attrs.field(default=None, validator=_optional_call)
    kind: Literal[
        "streams", "connect", "streams-group", "streams-episode", "consumer", "consumer-group", "share-group"
    ] = attrs.field(default="streams", validator=_family_kind)
