"""Changes of a stopped connector's offsets from outside (Kafka: ``connect.runtime.rest``)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from assignment_api.connectors import SinkConnector, SourceConnector
from assignor_lab.kafka.herder.config_log.reader import ConfigSnapshot
from assignor_lab.kafka.herder.config_log.records import TargetState, without_nulls
from connect_workers.contract import BadRequestError, HerderError, NotFoundError, Offset, OffsetsAnswer
from connect_workers.logs.cluster_logs import ClusterLogs
from connect_workers.plugins.connector_plugins import ConnectorPlugins
from connect_workers.storage import check_topic

__all__ = ["alter_offsets", "check_stopped", "reset_offsets"]

_MOST_DEPTH = 50


def check_stopped(snapshot: ConfigSnapshot, name: str) -> dict[str, str]:
    """Configuration of a connector whose offsets may be changed.

    Raises:
        NotFoundError: if there is no such connector.
        BadRequestError: if it is not stopped.
    """
    config = snapshot.connectors.get(name)
    if config is None:
        raise NotFoundError(f"Connector {name} not found")
    if snapshot.target_state(name) is not TargetState.STOPPED or snapshot.task_count(name) != 0:
        raise BadRequestError(
            "Connectors must be in the STOPPED state before their offsets can be modified. This can be done for the "
            f"specified connector by issuing a 'PUT' request to the '/connectors/{name}/stop' endpoint"
        )
    return without_nulls(config)


async def alter_offsets(
    name: str, offsets: Sequence[Offset], config: Mapping[str, str], plugins: ConnectorPlugins, logs: ClusterLogs
) -> OffsetsAnswer:
    """Changes offsets after the connector has accepted them.

    Raises:
        BadRequestError: if they are none.
        HerderError: if the connector refuses them, or they cannot be written.
    """
    connector = plugins.kind(config.get("connector.class", "")).connector()
    if isinstance(connector, SinkConnector):
        places = _sink_places(offsets)
        known = await _heard(name, "alter", connector, config, dict(places))
        await asyncio.wrap_future(logs.offsets.write_sink(name, [(*where, at) for where, at in places.items()]))
    elif isinstance(connector, SourceConnector):
        pairs = [(each.partition, each.offset) for each in offsets]
        for each in offsets:
            _check_depth(each.partition)
            _check_depth(each.offset)
        known = await _heard(name, "alter", connector, config, pairs)
        await asyncio.wrap_future(logs.offsets.write_source(name, pairs))
    else:
        raise HerderError(f"connector {name} is neither a source nor a sink")
    return _answer("altered", known=known)


async def reset_offsets(
    name: str, config: Mapping[str, str], plugins: ConnectorPlugins, logs: ClusterLogs
) -> OffsetsAnswer:
    """Deletes all offsets after the connector has accepted that.

    Raises:
        HerderError: if the connector refuses, or it cannot be written.
    """
    connector = plugins.kind(config.get("connector.class", "")).connector()
    if isinstance(connector, SinkConnector):
        places = {
            (each.partition["kafka_topic"], each.partition["kafka_partition"]): None
            for each in logs.offsets.listed(name, sink=True)
        }
        known = await _heard(name, "reset", connector, config, places)
        await asyncio.wrap_future(logs.offsets.write_sink(name, [(*where, None) for where in places]))
    elif isinstance(connector, SourceConnector):
        pairs = [(each.partition, None) for each in logs.offsets.listed(name, sink=False)]
        known = await _heard(name, "reset", connector, config, pairs)
        await asyncio.wrap_future(logs.offsets.write_source(name, pairs))
    else:
        raise HerderError(f"connector {name} is neither a source nor a sink")
    return _answer("reset", known=known)


async def _heard(name: str, verb: str, connector: Any, config: Mapping[str, str], offsets: Any) -> bool:
    try:
        return bool(await asyncio.to_thread(connector.alter_offsets, config, offsets))
    except Exception as error:
        raise HerderError(f"Failed to {verb} offsets for connector {name}: {error}") from error


def _answer(verb: str, *, known: bool) -> OffsetsAnswer:
    if known:
        return OffsetsAnswer(f"The offsets for this connector have been {verb} successfully")
    return OffsetsAnswer(
        f"The Connect framework-managed offsets for this connector have been {verb} successfully. However, if this "
        f"connector manages offsets externally, they will need to be manually {verb} in the system that the connector "
        "uses."
    )


def _sink_places(offsets: Sequence[Offset]) -> dict[tuple[str, int], int | None]:
    places: dict[tuple[str, int], int | None] = {}
    for each in offsets:
        topic, number = each.partition.get("kafka_topic"), each.partition.get("kafka_partition")
        if not isinstance(topic, str) or (partition := _count(number)) is None or len(each.partition) != 2:
            raise BadRequestError(
                "The partition for a sink connector offset has to be an object with the keys 'kafka_topic' (a text) "
                "and 'kafka_partition' (a number), and no others"
            )
        at = None if each.offset is None else _count(each.offset.get("kafka_offset"))
        if each.offset is not None and (at is None or len(each.offset) != 1):
            raise BadRequestError(
                "The offset for a sink connector has to be null or an object with the key 'kafka_offset' (a number "
                "from 0), and no other"
            )
        places[check_topic(topic), partition] = at
    return places


def _count(value: Any) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 19:
        return int(value)
    return value if type(value) is int and 0 <= value < 1 << 63 else None


def _check_depth(value: Any, depth: int = 0) -> None:
    # Written values must be readable again, also on a deeper stack.
    if depth > _MOST_DEPTH:
        raise BadRequestError(f"partitions and offsets may be nested {_MOST_DEPTH} deep")
    if isinstance(value, Mapping):
        for item in value.values():
            _check_depth(item, depth + 1)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _check_depth(item, depth + 1)
