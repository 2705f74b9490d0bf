"""The subscription message of Connect, from worker to leader, versions 0 to 3.

KIP-987; Kafka: ``ExtendedWorkerState``.

Kafka 4.3.1's bytes: ``ConnectProtocol`` (0) and ``IncrementalCooperativeConnectProtocol`` (1 and 2). Version 3 is the
proposal for KIP-987: version 2 followed by a list of the worker's static jobs, which older readers ignore.
"""

from __future__ import annotations

import attrs

from assignment_api.connect import NO_JOBS, WILDCARD, Jobs, StaticJobs
from assignment_api.java import DEFAULT_JDK, JdkGeneration
from assignor_lab.kafka.wire.connect.assignment import (
    AssignmentMessage,
    checked_version,
    encode_connect_assignment,
    read_assignment,
    read_version,
)
from assignor_lab.kafka.wire.connect.fields import (
    FieldReader,
    int16_bytes,
    int32_bytes,
    int64_bytes,
    jobs_bytes,
    nullable_bytes,
    string_bytes,
)

__all__ = ["SubscriptionMessage", "decode_connect_subscription", "encode_connect_subscription"]

_FIRST_INCREMENTAL = 1
_STATIC = 3


@attrs.frozen
class SubscriptionMessage:
    """A subscription with the exact content of its bytes.

    Args:
        assignment: All jobs of the worker, with the data of its last assignment; ``None`` without jobs, and in version
            0.
        static: The worker's static jobs; ``None`` if the bytes have no such field (all versions except 3).
    """

    version: int
    url: str
    config_offset: int
    assignment: AssignmentMessage | None = None
    static: StaticJobs | None = None

    @property
    def owned(self) -> Jobs:
        """The jobs that the worker reports, in its order."""
        return NO_JOBS if self.assignment is None else self.assignment.assigned


def decode_connect_subscription(data: bytes) -> SubscriptionMessage:
    """Read a subscription of any version as Kafka's incremental leaders do.

    A missing or null assignment is ``None``; bytes behind the last field are ignored. Static jobs are read in version 3
    only, since later versions may have other fields there.

    Raises:
        UnsupportedConnectVersionError: if the version, or that of the assignment inside, is below 0.
        ConnectSchemaError: if the bytes end within a field, or a size is impossible.
    """
    reader = FieldReader(data)
    version = read_version(reader)
    url = reader.string("url")
    config_offset = reader.int64("config-offset")
    nested = reader.nullable_message("allocation") if reader.remaining else None
    assignment = None if nested is None else read_assignment(nested)
    static = _read_static(reader) if version == _STATIC and reader.remaining else None
    return SubscriptionMessage(version, url, config_offset, assignment, static)


def encode_connect_subscription(message: SubscriptionMessage, jdk: JdkGeneration = DEFAULT_JDK) -> bytes:
    """Write a subscription as Kafka 4.3.1 does; fields that the version does not have are left out.

    So only version 3 contains static jobs, and an assignment comes from version 1 on, in its own version.

    Raises:
        UnsupportedConnectVersionError: if a version is none of 0 to 3.
        ConnectSchemaError: if a value does not fit into its field.
    """
    parts = [
        int16_bytes("version", checked_version(message.version)),
        string_bytes("url", message.url),
        int64_bytes("config-offset", message.config_offset),
    ]
    if message.version >= _FIRST_INCREMENTAL:
        assignment = message.assignment
        parts.append(nullable_bytes(None if assignment is None else encode_connect_assignment(assignment, jdk)))
    if message.version >= _STATIC:
        parts.append(_static_bytes(message.static or WILDCARD))
    return b"".join(parts)


def _read_static(reader: FieldReader) -> StaticJobs:
    listed = reader.nullable_jobs("static")
    return WILDCARD if listed is None else StaticJobs(listed.connectors, listed.tasks)


def _static_bytes(static: StaticJobs) -> bytes:
    # One null: neither key is set. If either is set, the other one may be an empty list.
    if not static.is_set:
        return int32_bytes("static", -1)
    return jobs_bytes("static", static.connectors or (), static.tasks or ())
