"""The assignment message of Connect, from leader to worker, versions 0 to 3 (Kafka: ``ExtendedAssignment``).

Kafka 4.3.1's bytes: ``ConnectProtocol`` (0) and ``IncrementalCooperativeConnectProtocol`` (1 and 2). Version 3 is the
proposal for KIP-987: the layout of version 2 under another number.
"""

from __future__ import annotations

import attrs

from assignment_api.connect import ConnectorTaskId, Jobs
from assignment_api.java import DEFAULT_JDK, JdkGeneration, iteration_order_of_set_copy, string_hash
from assignment_api.streams.ids import utf16_key
from assignor_lab.kafka.wire.connect.errors import UnsupportedConnectVersionError
from assignor_lab.kafka.wire.connect.fields import (
    FieldReader,
    JobLists,
    int16_bytes,
    int32_bytes,
    int64_bytes,
    jobs_bytes,
    string_bytes,
)

__all__ = [
    "CONFIG_MISMATCH",
    "LATEST_CONNECT_VERSION",
    "NO_ERROR",
    "AssignmentMessage",
    "checked_version",
    "decode_connect_assignment",
    "encode_connect_assignment",
    "read_assignment",
    "read_version",
]

#: Values of ``error``.
NO_ERROR, CONFIG_MISMATCH = 0, 1

#: The newest version that is written; 2 is Kafka's newest.
LATEST_CONNECT_VERSION = 3

_FIRST_INCREMENTAL = 1


@attrs.frozen
class AssignmentMessage:
    """An assignment with the exact content of its bytes.

    From version 1 on it is a *difference*: new and revoked jobs, without kept ones. Inside a subscription it has all
    jobs of the worker. Lists keep the order and the duplicates of the bytes.

    Args:
        error: 0 none, 1 the leader could not read the configuration as far as a member has.
        delay_ms: Time until the rejoin; 0 = not planned. Version 0 has none.
    """

    version: int
    error: int
    leader: str
    leader_url: str
    config_offset: int
    connectors: tuple[str, ...] = ()
    tasks: tuple[ConnectorTaskId, ...] = ()
    revoked_connectors: tuple[str, ...] = ()
    revoked_tasks: tuple[ConnectorTaskId, ...] = ()
    delay_ms: int = 0

    @property
    def assigned(self) -> Jobs:
        return Jobs(self.connectors, self.tasks)

    @property
    def revoked(self) -> Jobs:
        return Jobs(self.revoked_connectors, self.revoked_tasks)


def decode_connect_assignment(data: bytes) -> AssignmentMessage:
    """Read an assignment of any version as Kafka's incremental workers do.

    Fields beyond the version may be missing at the end of the bytes and take their defaults. Bytes behind the last
    field are ignored. Versions above 3 are read as version 3.

    Raises:
        UnsupportedConnectVersionError: if the version is below 0.
        ConnectSchemaError: if the bytes end within a field, or a size is impossible.
    """
    return read_assignment(FieldReader(data))


def encode_connect_assignment(message: AssignmentMessage, jdk: JdkGeneration = DEFAULT_JDK) -> bytes:
    """Write an assignment as Kafka 4.3.1 does; fields that the version does not have are left out.

    Assigned connectors come in the order of a Java hash set, then connectors with assigned tasks only. Revoked ones
    come in the order of their lists (Kafka: ``ExtendedAssignment``).

    Raises:
        UnsupportedConnectVersionError: if the version is none of 0 to 3.
        ConnectSchemaError: if a value does not fit into its field.
    """
    connectors = list(dict.fromkeys(message.connectors))
    hashes = [string_hash(connector) for connector in connectors]
    parts = [
        int16_bytes("version", checked_version(message.version)),
        int16_bytes("error", message.error),
        string_bytes("leader", message.leader),
        string_bytes("leader-url", message.leader_url),
        int64_bytes("config-offset", message.config_offset),
        jobs_bytes(
            "assignment", iteration_order_of_set_copy(connectors, hashes, jdk, sort_key=utf16_key), message.tasks
        ),
    ]
    if message.version >= _FIRST_INCREMENTAL:
        parts.append(jobs_bytes("revoked", dict.fromkeys(message.revoked_connectors), message.revoked_tasks))
        parts.append(int32_bytes("delay", message.delay_ms))
    return b"".join(parts)


def read_assignment(reader: FieldReader) -> AssignmentMessage:
    version = read_version(reader)
    error = reader.int16("error")
    leader = reader.string("leader")
    leader_url = reader.string("leader-url")
    config_offset = reader.int64("config-offset")
    assigned = _optional_jobs(reader, "assignment")
    revoked = _optional_jobs(reader, "revoked")
    delay = reader.int32("delay") if reader.remaining else 0
    return AssignmentMessage(
        version,
        error,
        leader,
        leader_url,
        config_offset,
        assigned.connectors,
        assigned.tasks,
        revoked.connectors,
        revoked.tasks,
        delay,
    )


def read_version(reader: FieldReader) -> int:
    """Reads the version at the head of a message; all but negative ones are readable."""
    version = reader.int16("version")
    if version < 0:
        raise UnsupportedConnectVersionError(f"version {version}: versions start at 0", reader.position - 2)
    return version


def checked_version(version: int) -> int:
    """``version``, if it can be written.

    Raises:
        UnsupportedConnectVersionError: if it is none of 0 to 3.
    """
    if not 0 <= version <= LATEST_CONNECT_VERSION:
        raise UnsupportedConnectVersionError(
            f"version {version}: versions 0 to {LATEST_CONNECT_VERSION} can be written, 0 eager, 1 compatible, "
            "2 sessioned, 3 static"
        )
    return version


def _optional_jobs(reader: FieldReader, field: str) -> JobLists:
    jobs = reader.nullable_jobs(field) if reader.remaining else None
    return JobLists() if jobs is None else jobs
