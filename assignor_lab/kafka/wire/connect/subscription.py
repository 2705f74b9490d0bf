"""The subscription message of Connect, from worker to leader, versions 0 to 3.

KIP-987; Kafka: ``ExtendedWorkerState``.

Kafka 4.3.1's bytes: ``ConnectProtocol`` (0) and ``IncrementalCooperativeConnectProtocol`` (1 and 2). Version 3 is the
proposal for KIP-987: version 2 and a list of the worker's static jobs behind it, which older readers do not see.
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
    """A subscription as its bytes say it.

    Args:
        version: Version in which it is encoded.
        url: Where the worker's REST interface listens.
        config_offset: How far the worker has read the config topic; -1 = not at all.
        assignment: Everything that the worker owns, with what it was told last; ``None`` if it owns nothing, and in
            version 0.
        static: The worker's static jobs; ``None`` where the bytes have no such field (all versions but 3).
    """

    version: int
    url: str
    config_offset: int
    assignment: AssignmentMessage | None = None
    static: StaticJobs | None = None

    @property
    def owned(self) -> Jobs:
        """The jobs that the worker reports to own, in its order."""
        return NO_JOBS if self.assignment is None else self.assignment.assigned


def decode_connect_subscription(data: bytes) -> SubscriptionMessage:
    """Reads a subscription of any version as Kafka's incremental leaders do.

    A missing or null assignment is ``None``; bytes behind the last field are ignored. Static jobs are looked for in
    version 3 alone: what a later version will have there, nobody knows.

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
    """Writes a subscription as Kafka 4.3.1 does; fields that the version does not have are left out.

    So static jobs travel in version 3 alone, and an assignment from version 1 on; the assignment is written in its
    own version.

    Args:
        message: The subscription.
        jdk: Generation of the JVM that is emulated: it decides an order.

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
    # One null says that neither key is set; with either set, the other one may as well be an empty list.
    if not static.is_set:
        return int32_bytes("static", -1)
    return jobs_bytes("static", static.connectors or (), static.tasks or ())
