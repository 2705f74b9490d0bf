"""``SubscriptionInfo``, a Streams member's message to the leader, versions 1 to 11.

Kafka: ``SubscriptionInfoData.json``.

It is the user data of the consumer protocol's subscription. Encoding gives Kafka 4.3.1's bytes, including hash orders:
:attr:`SubscriptionInfo.task_offset_sums` and :attr:`SubscriptionInfo.client_tags` have the order of insertion into
Java's hash maps. Decoding takes time and memory linear in the bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar
from uuid import UUID

import attrs

from assignment_api.java import iteration_order, string_hash, task_id_hash
from assignment_api.streams import ProcessID, TaskId
from assignment_api.streams.ids import utf16_key
from assignor_lab.kafka.wire.byte_reader import ByteReader
from assignor_lab.kafka.wire.errors import (
    DuplicateTagError,
    InvalidFieldError,
    InvalidVersionError,
    MessageTooShortError,
    RefusedAssignmentError,
    UnencodableVersionError,
)
from assignor_lab.kafka.wire.integer_map import order_of_computed_keys
from assignor_lab.kafka.wire.texts import decode_utf8, encode_utf8

__all__ = [
    "LATEST_SUPPORTED_VERSION",
    "RUNNING_ACTIVE",
    "STREAMS_ASSIGNOR",
    "UNKNOWN_OFFSET_SUM",
    "UNKNOWN_VERSION",
    "SubscriptionInfo",
    "decode_subscription",
    "encode_subscription",
]

#: Name under which Streams offers its only assignor to the group. Kafka: ``StreamsPartitionAssignor.name``.
STREAMS_ASSIGNOR = "stream"
#: The newest version that Kafka 4.3.1 writes.
LATEST_SUPPORTED_VERSION = 11
#: Placeholder for a version that a message does not carry.
UNKNOWN_VERSION = -1
#: Offset sum of a task that ran as active at the member. Kafka: ``Task.LATEST_OFFSET``.
RUNNING_ACTIVE = -2
#: Offset sum of a task with state of unknown extent. Kafka: ``UNKNOWN_OFFSET_SUM``.
UNKNOWN_OFFSET_SUM = -3

_FIRST_WITH_END_POINT = 2
_FIRST_WITH_LATEST_VERSION = 3
_FIRST_WITH_OFFSET_SUMS = 7
_FIRST_WITH_UNIQUE_FIELD = 8
_FIRST_WITH_ERROR_CODE = 9
_FIRST_WITH_NAMED_TOPOLOGIES = 10
_FIRST_WITH_TAGS = 11
_MAX_SHORT = 0x7FFF

_T = TypeVar("_T")


@attrs.frozen
class SubscriptionInfo:
    """A member's message; a field that its version does not have holds the default.

    Args:
        latest_supported_version: The newest version that the member knows; -1 in versions 1 and 2.
        task_offset_sums: Task to the sum of its changelog offsets, or -2 (running as active) or -3 (unknown).
        unique_field: Signed byte that changes with each join.
    """

    version: int
    latest_supported_version: int
    process_id: ProcessID
    user_end_point: str | None = None
    task_offset_sums: Mapping[TaskId, int] = attrs.field(factory=dict)
    unique_field: int = 0
    error_code: int = 0
    client_tags: Mapping[str, str] = attrs.field(factory=dict)


def decode_subscription(data: bytes) -> SubscriptionInfo:
    """Read a message; bytes behind its end are ignored, and of a version newer than 11 only two numbers are read.

    Raises:
        MessageTooShortError: if a number lies beyond the end.
        InvalidFieldError: if the length of a field contradicts the message.
        InvalidVersionError: if the version numbers contradict each other.
        DuplicateTagError: if a tag is named twice.
    """
    reader = ByteReader(data, MessageTooShortError)
    version = reader.int32()
    if version > LATEST_SUPPORTED_VERSION:
        latest = reader.int32()
        _check_versions(version, latest, 4)
        return SubscriptionInfo(version, latest, ProcessID(UUID(int=0)))
    # Kafka's generated reader gets the version as a short.
    return _read(reader, version, (version + 0x8000 & 0xFFFF) - 0x8000)


def encode_subscription(info: SubscriptionInfo) -> bytes:
    """Write a message as Kafka 4.3.1 does; fields that the version does not have are left out.

    Raises:
        InvalidVersionError: if the version numbers contradict each other.
        RefusedAssignmentError: if a version below 10 cannot hold a task of a named topology.
        UnencodableVersionError: if the version is newer than 11.
        InvalidFieldError: if the name of a topology is too long.
    """
    version = info.version
    _check_versions(version, info.latest_supported_version)
    if version < _FIRST_WITH_NAMED_TOPOLOGIES and any(task.topology_name for task in info.task_offset_sums):
        raise RefusedAssignmentError(
            f"tasks of named topologies need version 10 or later, this is version {version}: drop the names or raise it"
        )
    if version > LATEST_SUPPORTED_VERSION:
        raise UnencodableVersionError(f"version {version} is newer than {LATEST_SUPPORTED_VERSION}, the latest known")
    parts = [_int32(version)]
    if version >= _FIRST_WITH_LATEST_VERSION:
        parts.append(_int32(info.latest_supported_version))
    parts.append(info.process_id.id.bytes)
    tasks = _in_hash_order(info.task_offset_sums)
    if version < _FIRST_WITH_OFFSET_SUMS:
        parts.append(
            _plain_tasks(_kept_in_set(task for task in tasks if info.task_offset_sums[task] == RUNNING_ACTIVE))
        )
        parts.append(
            _plain_tasks(_kept_in_set(task for task in tasks if info.task_offset_sums[task] != RUNNING_ACTIVE))
        )
    if version >= _FIRST_WITH_END_POINT:
        parts.append(_bytes(encode_utf8(info.user_end_point or "")))
    if version >= _FIRST_WITH_NAMED_TOPOLOGIES:
        parts.append(_named_sums(tasks, info.task_offset_sums))
    elif version >= _FIRST_WITH_OFFSET_SUMS:
        parts.append(_grouped_sums(tasks, info.task_offset_sums))
    if version >= _FIRST_WITH_UNIQUE_FIELD:
        parts.append(struct.pack(">b", info.unique_field))
    if version >= _FIRST_WITH_ERROR_CODE:
        parts.append(_int32(info.error_code))
    if version >= _FIRST_WITH_TAGS:
        parts.append(_tags(info.client_tags))
    return b"".join(parts)


def _check_versions(version: int, latest: int, position: int | None = None) -> None:
    if latest == UNKNOWN_VERSION:
        if not 1 <= version < _FIRST_WITH_LATEST_VERSION:
            raise InvalidVersionError(
                f"version {version} without a latest supported version: only versions 1 and 2 have none", position
            )
    elif not 1 <= version <= latest:
        raise InvalidVersionError(
            f"version {version} is not between 1 and {latest}, the member's latest supported version", position
        )


# --- reading --------------------------------------------------------------------------------------


def _read(reader: ByteReader, version: int, layout: int) -> SubscriptionInfo:
    """``version`` as in the message, ``layout`` as the generated reader uses it."""
    latest = reader.int32() if layout >= _FIRST_WITH_LATEST_VERSION else UNKNOWN_VERSION
    process = ProcessID(UUID(bytes=reader.take(16)))
    running: list[TaskId] = []
    other: list[TaskId] = []
    if layout < _FIRST_WITH_OFFSET_SUMS:
        running = _array(reader, "prevTasks", lambda: _plain_task(reader))
        other = _array(reader, "standbyTasks", lambda: _plain_task(reader))
    end_point = _take_bytes(reader, "userEndPoint") if layout >= _FIRST_WITH_END_POINT else b""
    sums = _read_sums(reader, layout) if layout >= _FIRST_WITH_OFFSET_SUMS else []
    unique_field = reader.int8() if layout >= _FIRST_WITH_UNIQUE_FIELD else 0
    error_code = reader.int32() if layout >= _FIRST_WITH_ERROR_CODE else 0
    tags = _array(reader, "clientTags", lambda: _read_tag(reader)) if layout >= _FIRST_WITH_TAGS else []
    _check_versions(version, latest, 0)
    if version < _FIRST_WITH_OFFSET_SUMS:
        sums = [*((task, RUNNING_ACTIVE) for task in running), *((task, UNKNOWN_OFFSET_SUM) for task in other)]
    return SubscriptionInfo(
        version,
        latest,
        process,
        decode_utf8(end_point) or None,
        dict(sums),
        unique_field,
        error_code,
        _without_duplicates(tags),
    )


def _array(reader: ByteReader, name: str, item: Callable[[], _T]) -> list[_T]:
    start = reader.position
    size = reader.int32()
    if size < 0:
        raise InvalidFieldError(f"the array {name} has the length {size}, but must be there", start)
    if size > reader.remaining:
        raise InvalidFieldError(f"the array {name} has {size} items, but only {reader.remaining} bytes are left", start)
    return [item() for _ in range(size)]


def _take_bytes(reader: ByteReader, name: str) -> bytes:
    start = reader.position
    size = reader.int32()
    if size < 0:
        raise InvalidFieldError(f"the field {name} has the length {size}, but must be there", start)
    return _take(reader, name, size)


def _take(reader: ByteReader, name: str, size: int) -> bytes:
    if size > reader.remaining:
        raise InvalidFieldError(
            f"the field {name} has {size} bytes, but only {reader.remaining} are left", reader.position
        )
    return reader.take(size)


def _plain_task(reader: ByteReader) -> TaskId:
    return TaskId(reader.int32(), reader.int32())


def _read_sums(reader: ByteReader, layout: int) -> list[tuple[TaskId, int]]:
    if layout >= _FIRST_WITH_NAMED_TOPOLOGIES:
        return _array(reader, "taskOffsetSums", lambda: _named_sum(reader))
    groups = _array(reader, "taskOffsetSums", lambda: _group_of_sums(reader))
    return [sum_of_task for group in groups for sum_of_task in group]


def _named_sum(reader: ByteReader) -> tuple[TaskId, int]:
    subtopology, partition, offset_sum = reader.int32(), reader.int32(), reader.int64()
    size = reader.int16()
    name = None if size < 0 else decode_utf8(_take(reader, "namedTopology", size))
    return TaskId(subtopology, partition, name), offset_sum


def _group_of_sums(reader: ByteReader) -> list[tuple[TaskId, int]]:
    subtopology = reader.int32()
    return _array(reader, "partitionToOffsetSum", lambda: (TaskId(subtopology, reader.int32()), reader.int64()))


def _read_tag(reader: ByteReader) -> tuple[int, str, str]:
    start = reader.position
    key = decode_utf8(_take_bytes(reader, "key"))
    return start, key, decode_utf8(_take_bytes(reader, "value"))


def _without_duplicates(tags: Iterable[tuple[int, str, str]]) -> dict[str, str]:
    # Kafka notices only when it builds a map of them, after reading all other fields.
    named: dict[str, str] = {}
    for position, key, value in tags:
        if key in named:
            raise DuplicateTagError(f"the client tag {key!r} stands here a second time", position)
        named[key] = value
    return named


# --- writing --------------------------------------------------------------------------------------


def _in_hash_order(tasks: Iterable[TaskId]) -> list[TaskId]:
    listed = list(tasks)
    hashes = [task_id_hash(task.subtopology, task.partition, task.topology_name) for task in listed]
    return iteration_order(listed, hashes, sort_key=TaskId.sort_key)


#: Versions 1 to 6 move the tasks from the hash map into two hash sets.
_kept_in_set = _in_hash_order


def _plain_tasks(tasks: Sequence[TaskId]) -> bytes:
    return _int32(len(tasks)) + b"".join(struct.pack(">ii", task.subtopology, task.partition) for task in tasks)


def _grouped_sums(tasks: Sequence[TaskId], sums: Mapping[TaskId, int]) -> bytes:
    groups: dict[int, list[TaskId]] = {}
    for task in tasks:
        groups.setdefault(task.subtopology, []).append(task)
    parts = [_int32(len(groups))]
    for number in order_of_computed_keys(task.subtopology for task in tasks):
        parts.append(struct.pack(">ii", number, len(groups[number])))
        parts.extend(struct.pack(">iq", task.partition, sums[task]) for task in groups[number])
    return b"".join(parts)


def _named_sums(tasks: Sequence[TaskId], sums: Mapping[TaskId, int]) -> bytes:
    parts = [_int32(len(tasks))]
    for task in tasks:
        parts.append(struct.pack(">iiq", task.subtopology, task.partition, sums[task]))
        parts.append(_nullable_text(task.topology_name))
    return b"".join(parts)


def _nullable_text(text: str | None) -> bytes:
    if text is None:
        return struct.pack(">h", -1)
    encoded = encode_utf8(text)
    if len(encoded) > _MAX_SHORT:
        raise InvalidFieldError(f"the name of a topology takes {len(encoded)} bytes: {_MAX_SHORT} are possible")
    return struct.pack(">h", len(encoded)) + encoded


def _tags(tags: Mapping[str, str]) -> bytes:
    keys = list(tags)
    in_map = iteration_order(keys, [string_hash(key) for key in keys], sort_key=utf16_key)
    return _int32(len(keys)) + b"".join(_bytes(encode_utf8(key)) + _bytes(encode_utf8(tags[key])) for key in in_map)


def _bytes(data: bytes) -> bytes:
    return _int32(len(data)) + data


def _int32(number: int) -> bytes:
    return struct.pack(">i", number)
