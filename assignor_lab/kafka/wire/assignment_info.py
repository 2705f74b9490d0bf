"""``AssignmentInfo``, the leader's message to a Streams member, versions 1 to 11.

It is the user data of the consumer protocol's assignment. Encoding gives Kafka 4.3.1's bytes, including hash orders:
maps and sets in :class:`AssignmentInfo` have the order of insertion into Java's. Decoding takes time and memory linear
in the bytes: counts are checked against the remaining bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence

import attrs

from assignment_api.java import host_info_hash, iteration_order, string_hash, task_id_hash, topic_partition_hash
from assignment_api.streams import HostInfo, TaskId
from assignment_api.streams.ids import utf16_key
from assignor_lab.kafka.wire.byte_reader import ByteReader
from assignor_lab.kafka.wire.errors import CorruptMessageError, InvalidVersionError, RefusedAssignmentError
from assignor_lab.kafka.wire.subscription_info import LATEST_SUPPORTED_VERSION, UNKNOWN_VERSION
from assignor_lab.kafka.wire.texts import MalformedTextError, decode_modified_utf8, encode_modified_utf8

__all__ = ["NO_REBALANCE", "AssignmentInfo", "Partition", "decode_assignment", "encode_assignment", "order_as_given"]

#: ``next_rebalance_ms`` of a member that need not rejoin on its own.
NO_REBALANCE = 2**63 - 1

_FIRST_WITH_HOSTS = 2
_FIRST_WITH_COMMON_VERSION = 3
_FIRST_WITH_ERROR_CODE = 4
_FIRST_WITH_DICTIONARY = 5
_FIRST_WITH_STANDBY_HOSTS = 6
_FIRST_WITH_NEXT_REBALANCE = 7
_FIRST_WITH_NAMED_TOPOLOGIES = 10

#: Fewest bytes of an item: Kafka refuses a count larger than the whole message divided by that.
_ACTIVE_TASK, _STANDBY_TASK, _HOST, _PARTITION, _DICTIONARY_ENTRY, _INDEXED_PARTITION = 8, 12, 10, 6, 6, 8
_MAX_TEXT_BYTES = 0xFFFF

Partition = tuple[str | None, int]
_Hosts = Mapping[HostInfo, tuple[Partition, ...]]


SetOrder = Callable[[Iterable[Partition]], Sequence[tuple[str, int]]]


@attrs.frozen
class AssignmentInfo:
    """A leader's message; a field that its version does not have holds the default.

    Args:
        commonly_supported_version: The newest version that all members know; -1 in versions 1 and 2.
        active_tasks: A task for each partition of the consumer's assignment, in the order of those partitions.
        standby_tasks: Standby task to its source partitions.
        partitions_by_host: End point to the source partitions of the active tasks there.
        standby_partitions_by_host: End point to the source partitions of the standby tasks there.
        error_code: 0 none, 1 missing source topics, 2 version probing, 3 failed assignment, 4 shutdown.
    """

    version: int
    commonly_supported_version: int = UNKNOWN_VERSION
    active_tasks: Sequence[TaskId] = ()
    standby_tasks: Mapping[TaskId, tuple[Partition, ...]] = attrs.field(factory=dict)
    partitions_by_host: _Hosts = attrs.field(factory=dict)
    standby_partitions_by_host: _Hosts = attrs.field(factory=dict)
    error_code: int = 0
    next_rebalance_ms: int = NO_REBALANCE


def decode_assignment(data: bytes) -> AssignmentInfo:
    """Read a message; bytes behind its end are ignored.

    Raises:
        CorruptMessageError: if a count is negative or larger than the message could hold.
        RefusedAssignmentError: if the version is unknown, a text is malformed, or the bytes end too early.
    """
    reader = ByteReader(data, RefusedAssignmentError)
    version = reader.int32()
    if not 1 <= version <= LATEST_SUPPORTED_VERSION:
        raise RefusedAssignmentError(
            f"an assignment of version {version}: versions 1 to {LATEST_SUPPORTED_VERSION} are known", 0
        )
    common = reader.int32() if version >= _FIRST_WITH_COMMON_VERSION else UNKNOWN_VERSION
    active = [_read_task(reader, version) for _ in range(_count(reader, "active tasks", _ACTIVE_TASK))]
    standby: dict[TaskId, tuple[Partition, ...]] = {}
    for _ in range(_count(reader, "standby tasks", _STANDBY_TASK)):
        task = _read_task(reader, version)
        standby[task] = _read_partitions(reader)
    hosts: _Hosts = {}
    standby_hosts: _Hosts = {}
    if version >= _FIRST_WITH_DICTIONARY:
        topics = _read_dictionary(reader)
        hosts = _read_hosts(reader, topics)
        if version >= _FIRST_WITH_STANDBY_HOSTS:
            standby_hosts = _read_hosts(reader, topics)
    elif version >= _FIRST_WITH_HOSTS:
        hosts = _read_hosts(reader, None)
    return AssignmentInfo(
        version,
        common,
        active,
        standby,
        hosts,
        standby_hosts,
        reader.int32() if version >= _FIRST_WITH_ERROR_CODE else 0,
        reader.int64() if version >= _FIRST_WITH_NEXT_REBALANCE else NO_REBALANCE,
    )


def encode_assignment(info: AssignmentInfo, order_of_set: SetOrder | None = None) -> bytes:
    """Write a message as Kafka 4.3.1 does; fields that the version does not have are left out.

    Args:
        order_of_set: The order of the partitions of a standby task; ``None``: that of a hash set of the usual size.

    Raises:
        InvalidVersionError: if the version is none of 1 to 11.
        RefusedAssignmentError: if a version below 10 cannot hold a task of a named topology, or a text is too long or
            missing.
    """
    version = info.version
    if not 1 <= version <= LATEST_SUPPORTED_VERSION:
        raise InvalidVersionError(f"version {version}: an assignment has version 1 to {LATEST_SUPPORTED_VERSION}")
    parts = [_int32(version)]
    if version >= _FIRST_WITH_COMMON_VERSION:
        parts.append(_int32(info.commonly_supported_version))
    parts.append(_int32(len(info.active_tasks)))
    parts.extend(_task(task, version) for task in info.active_tasks)
    parts.append(_standby_tasks(info.standby_tasks, version, order_of_set or _set_order))
    if version >= _FIRST_WITH_DICTIONARY:
        both = [info.partitions_by_host]
        if version >= _FIRST_WITH_STANDBY_HOSTS:
            both.append(info.standby_partitions_by_host)
        indices = _topic_indices(both)
        parts.append(_dictionary(indices))
        parts.extend(_hosts(hosts, indices) for hosts in both)
    elif version >= _FIRST_WITH_HOSTS:
        parts.append(_hosts(info.partitions_by_host, None))
    if version >= _FIRST_WITH_ERROR_CODE:
        parts.append(_int32(info.error_code))
    if version >= _FIRST_WITH_NEXT_REBALANCE:
        parts.append(struct.pack(">q", info.next_rebalance_ms))
    return b"".join(parts)


# --- reading --------------------------------------------------------------------------------------


def _count(reader: ByteReader, subject: str, fewest_bytes: int) -> int:
    start = reader.position
    count = reader.int32()
    if count < 0 or count > len(reader) // fewest_bytes:
        raise CorruptMessageError(f"{count} {subject} in a message of {len(reader)} bytes", start)
    return count


def _read_task(reader: ByteReader, version: int) -> TaskId:
    subtopology, partition = reader.int32(), reader.int32()
    if version < _FIRST_WITH_NAMED_TOPOLOGIES:
        return TaskId(subtopology, partition)
    units = reader.take(2 * max(reader.int32(), 0))
    return TaskId(subtopology, partition, units.decode("utf-16-be", "surrogatepass"))


def _read_text(reader: ByteReader) -> str:
    size = reader.uint16()
    start = reader.position
    try:
        return decode_modified_utf8(reader.take(size))
    except MalformedTextError as error:
        raise RefusedAssignmentError("not Java's modified UTF-8", start + error.position) from None


def _read_partitions(reader: ByteReader) -> tuple[Partition, ...]:
    count = _count(reader, "partitions", _PARTITION)
    return tuple(dict.fromkeys((_read_text(reader), reader.int32()) for _ in range(count)))


def _read_dictionary(reader: ByteReader) -> dict[int, str]:
    count = _count(reader, "topics", _DICTIONARY_ENTRY)
    return {reader.int32(): _read_text(reader) for _ in range(count)}


def _read_hosts(reader: ByteReader, topics: Mapping[int, str] | None) -> _Hosts:
    hosts: dict[HostInfo, tuple[Partition, ...]] = {}
    for _ in range(_count(reader, "hosts", _HOST)):
        host = HostInfo(_read_text(reader), reader.int32())
        hosts[host] = _read_partitions(reader) if topics is None else _read_indexed_partitions(reader, topics)
    return hosts


def _read_indexed_partitions(reader: ByteReader, topics: Mapping[int, str]) -> tuple[Partition, ...]:
    count = _count(reader, "partitions", _INDEXED_PARTITION)
    return tuple(dict.fromkeys((topics.get(reader.int32()), reader.int32()) for _ in range(count)))


# --- writing --------------------------------------------------------------------------------------


def _task(task: TaskId, version: int) -> bytes:
    head = struct.pack(">ii", task.subtopology, task.partition)
    if version >= _FIRST_WITH_NAMED_TOPOLOGIES:
        units = utf16_key(task.topology_name or "")
        return head + _int32(len(units) // 2) + units
    if task.topology_name is not None:
        raise RefusedAssignmentError(
            f"task {task} of a named topology needs version 10 or later, this is version {version}: drop the name or "
            "raise the version"
        )
    return head


def _standby_tasks(tasks: Mapping[TaskId, tuple[Partition, ...]], version: int, order_of_set: SetOrder) -> bytes:
    listed = list(tasks)
    hashes = [task_id_hash(task.subtopology, task.partition, task.topology_name) for task in listed]
    parts = [_int32(len(listed))]
    for task in iteration_order(listed, hashes, sort_key=TaskId.sort_key):
        parts.append(_task(task, version))
        parts.append(_listed(order_of_set(tasks[task]), None))
    return b"".join(parts)


def _hosts(hosts: _Hosts, indices: Mapping[str, int] | None) -> bytes:
    parts = [_int32(len(hosts))]
    for host in _hosts_in_order(hosts):
        parts.append(_text(host.host) + _int32(host.port))
        parts.append(_partitions(hosts[host], indices))
    return b"".join(parts)


def _hosts_in_order(hosts: _Hosts) -> list[HostInfo]:
    listed = list(hosts)
    hashes = [host_info_hash(host.host, host.port) for host in listed]
    return iteration_order(listed, hashes, sort_key=_host_key)


def _host_key(host: HostInfo) -> tuple[bytes, int]:
    return utf16_key(host.host), host.port


def _partitions(partitions: Sequence[Partition], indices: Mapping[str, int] | None) -> bytes:
    return _listed(_set_order(partitions), indices)


def _listed(ordered: Sequence[tuple[str, int]], indices: Mapping[str, int] | None) -> bytes:
    parts = [_int32(len(ordered))]
    for topic, number in ordered:
        parts.append((_text(topic) if indices is None else _int32(indices[topic])) + _int32(number))
    return b"".join(parts)


def order_as_given(partitions: Iterable[Partition]) -> list[tuple[str, int]]:
    """The partitions in their listed order: a leader's own sets are of other sizes than the usual one.

    Raises:
        RefusedAssignmentError: if a topic has no name.
    """
    return [_named(partition) for partition in partitions]


def _set_order(partitions: Iterable[Partition]) -> list[tuple[str, int]]:
    listed = [_named(partition) for partition in dict.fromkeys(partitions)]
    return iteration_order(listed, [topic_partition_hash(*partition) for partition in listed], sort_key=_partition_key)


def _named(partition: Partition) -> tuple[str, int]:
    topic, number = partition
    if topic is None:
        raise RefusedAssignmentError(f"partition {number} of a topic without a name: only bytes can have that")
    return topic, number


def _partition_key(partition: tuple[str, int]) -> tuple[bytes, int]:
    return utf16_key(partition[0]), partition[1]


def _topic_indices(both: Sequence[_Hosts]) -> dict[str, int]:
    """Topics are numbered in the order of a hash set of all partitions, filled host by host."""
    filled = [partition for hosts in both for host in _hosts_in_order(hosts) for partition in _set_order(hosts[host])]
    indices: dict[str, int] = {}
    for topic, _ in _set_order(filled):
        indices.setdefault(topic, len(indices))
    return indices


def _dictionary(indices: Mapping[str, int]) -> bytes:
    topics = list(indices)
    in_map = iteration_order(topics, [string_hash(topic) for topic in topics], sort_key=utf16_key)
    return _int32(len(topics)) + b"".join(_int32(indices[topic]) + _text(topic) for topic in in_map)


def _text(text: str) -> bytes:
    encoded = encode_modified_utf8(text)
    if len(encoded) > _MAX_TEXT_BYTES:
        raise RefusedAssignmentError(f"a name takes {len(encoded)} bytes: {_MAX_TEXT_BYTES} are possible")
    return struct.pack(">H", len(encoded)) + encoded


def _int32(number: int) -> bytes:
    return struct.pack(">i", number)
