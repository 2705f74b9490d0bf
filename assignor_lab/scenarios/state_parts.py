"""Parts of a Streams group's state as its source gives them: clients, members and tasks, with ids as texts.

The values of the SPI have Kafka's order and types. These have the order of the source, which the leader reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

__all__ = ["MemberNames", "StateClient", "StateMember", "StatePartition", "StateStart", "StateTask"]


@attrs.frozen
class MemberNames:
    """Further names of a consumer; ``None``: it has none, or it is unknown."""

    client_id: str | None
    instance_id: str | None


@attrs.frozen
class StateClient:
    """An instance in the input of a leader.

    Args:
        host: ``application.server``, or ``None``.
        lags: Task to lag; ``None`` without end offsets.
        previous_by_consumer: Consumer to reported tasks, or ``None``.
        members: Consumers with known names.
    """

    process_id: str
    rack: str | None
    tags: Mapping[str, str]
    host: str | None
    threads: int
    consumers: Sequence[str]
    previous_active: Sequence[str]
    previous_standby: Sequence[str]
    lags: Mapping[str, int] | None
    previous_by_consumer: Mapping[str, Sequence[str]] | None
    members: Mapping[str, MemberNames] = attrs.field(factory=dict)


@attrs.frozen
class StateMember:
    """A member in the input of a broker: its tasks by sub-topology, its offsets by sub-topology and partition."""

    id: str
    instance_id: str | None
    rack: str | None
    process_id: str
    tags: Mapping[str, str]
    active: Mapping[str, Sequence[int]]
    standby: Mapping[str, Sequence[int]]
    warmup: Mapping[str, Sequence[int]]
    task_offsets: Mapping[str, Mapping[str, int]]
    task_end_offsets: Mapping[str, Mapping[str, int]]
    client_id: str | None = None


@attrs.frozen
class StatePartition:
    """A partition of a task; ``racks`` are those of its replicas, ``None`` if they are unknown."""

    topic: str
    partition: int
    source: bool
    changelog: bool
    racks: Sequence[str] | None


@attrs.frozen
class StateTask:
    """A task; unknown stores and partitions are ``None``."""

    id: str
    stateful: bool
    logged: bool
    stores: Sequence[str] | None
    partitions: Sequence[StatePartition] | None


@attrs.frozen
class StateStart:
    """The start of an instance in an episode; ``client`` is its name there."""

    client: str
    process_id: str | None = None
    host: str | None = None
    instance_id: str | None = None
    rack: str | None = None
    tags: Mapping[str, str] = attrs.field(factory=dict)
