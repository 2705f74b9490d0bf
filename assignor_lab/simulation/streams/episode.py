"""An episode of a Streams group: who is there, what its tasks weigh, and what happens."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any, Literal
from uuid import UUID

import attrs

from assignment_api.streams import HostInfo, ProcessID, StreamsClientState, TaskId, TaskInfo
from assignor_lab.documents.errors import Place
from assignor_lab.kafka.wire import LATEST_SUPPORTED_VERSION
from assignor_lab.simulation.streams.timings import Timings

__all__ = [
    "Changelog", "Event", "InstanceSettings", "ProtocolOfGroup", "StreamsEpisode", "drawn_member_id",
    "drawn_process_id",
]  # fmt: skip

#: What a Streams group may speak.
ProtocolOfGroup = Literal["classic", "streams"]


@attrs.frozen
class Changelog:
    """The state of one task, as its changelogs hold it.

    Args:
        records: Records when the episode begins.
        bytes_per_record: Bytes of a record, or ``None``: unknown, and so are the bytes that are restored.
        records_per_s: Records that the task adds in a second while it runs.
        backlog_records: Records that it adds besides when it runs for the first time: input has been waiting for it.
        is_known: False if nothing is known of the state. ``records`` then lies above any recovery lag: an instance
            without a copy is behind. The time of restoring is unknown.
    """

    records: float
    bytes_per_record: float | None
    records_per_s: float = 0.0
    backlog_records: float = 0.0
    is_known: bool = True


@attrs.frozen
class InstanceSettings:
    """What is configured for one instance.

    Args:
        threads: ``num.stream.threads``.
        rack: ``client.rack``, or ``None``.
        tags: ``client.tag.<key>`` to value.
        host: ``application.server``, or ``None``.
        instance_id: ``group.instance.id``, or ``None``: its members are dynamic.
        machine: Machine that it runs on, whose restoring it shares; ``None``: it has one for itself.
        member_ids: Ids that its threads' members make up in the streams protocol, in the order in which they join;
            they decide ties. Others are drawn from the names.
        startup_ms: From the start of this process until its threads are started; ``None``: as long as any.
        joins_ms: From the start of this process until each of its threads first asks to join, thread 1 first;
            ``None``: with the others, as soon as one does.
        metadata_version: The newest version of Streams' member messages that its release knows.
    """

    threads: int = 1
    rack: str | None = None
    tags: Mapping[str, str] = attrs.field(factory=dict)
    host: HostInfo | None = None
    instance_id: str | None = None
    machine: str | None = None
    member_ids: Sequence[str] = ()
    startup_ms: int | None = None
    joins_ms: Sequence[int | None] = ()
    metadata_version: int = LATEST_SUPPORTED_VERSION


@attrs.frozen
class Event:
    """Something that is done to the group.

    Args:
        at_ms: When, in milliseconds since the episode began.
        type: One of the types of the episode format.
        client: Name of the instance, or ``""`` where it is about none.
        details: The event's other keys.
    """

    at_ms: int
    type: str
    client: str
    details: Mapping[str, Any] = attrs.field(factory=dict)


@attrs.frozen(eq=False)
class StreamsEpisode:
    """A group, and what is done to it.

    Args:
        id: Name of the episode.
        protocol: ``classic`` or ``streams``.
        assignor: Assignor of the group, where the episode says so; ``None``: Kafka's default.
        start_ms: What the clock shows when it begins.
        config: Kafka's assignment keys to values.
        tasks: All tasks, sorted; their place in this tuple is their number in the simulation.
        changelogs: For each task its state, or ``None``: it has none.
        input_bytes_per_s: For each task what it reads in a second.
        clients: Instances that run when it begins, with what they had; their names are their process ids.
        lags: For each of them what the leader would have computed, task by task, with -2 for what it runs.
        events: By time.
        until_ms: How long it lasts.
        timings: How long things take.
        missing_topics: Internal topics that the first leader has to create.
        eos: Whether the application processes exactly once.
        coming_refiner: Under the streams protocol, the broker warms state up before it moves tasks, as no release does.
        assumptions: Sentences about what the episode's source did not tell.
        place: Where it was read.
        recorded: What followed in reality, or ``None``; never read by the simulation.
    """

    id: str
    protocol: str
    assignor: str | None
    start_ms: int
    config: Mapping[str, Any]
    tasks: tuple[TaskInfo, ...]
    changelogs: tuple[Changelog | None, ...]
    input_bytes_per_s: tuple[float, ...]
    clients: tuple[StreamsClientState, ...]
    lags: tuple[Mapping[TaskId, int], ...]
    events: tuple[Event, ...]
    until_ms: int
    timings: Timings
    missing_topics: tuple[str, ...]
    eos: bool
    coming_refiner: bool
    assumptions: tuple[str, ...]
    place: Place
    recorded: Mapping[str, Any] | None = None


def drawn_process_id(episode: str, client: str, number: int) -> ProcessID:
    """The process id of an instance that the episode names none for: the same one in every run.

    Args:
        episode: Name of the episode.
        client: Name of the instance.
        number: How many state directories it has lost.
    """
    digest = blake2b(f"{episode}\0{client}\0{number}".encode(), digest_size=16).digest()
    return ProcessID(UUID(bytes=digest, version=4))


def drawn_member_id(episode: str, client: str, number: int) -> str:
    """The id of a member of the streams protocol that the episode names none for, as Kafka writes such ids.

    Args:
        episode: Name of the episode.
        client: Name of the instance.
        number: Number of the thread in the whole episode.
    """
    digest = blake2b(f"{episode}\0{client}\0member\0{number}".encode(), digest_size=16).digest()
    return urlsafe_b64encode(digest).decode().rstrip("=")
