"""Episode of a Streams group: instances, weights of tasks, and events."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Literal
from uuid import UUID

import attrs

from assignment_api.releases import NEWEST, KafkaRelease, holds, release_in
from assignment_api.streams import HostInfo, ProcessID, StreamsClientState, TaskId, TaskInfo
from assignor_lab.documents.errors import Place
from assignor_lab.kafka.wire import LATEST_SUPPORTED_VERSION
from assignor_lab.model.history import GroupHistory
from assignor_lab.model.streams_episodes import EventDetails, StreamsEvent
from assignor_lab.simulation.streams.seen_waits import NO_WAITS, SeenWaits
from assignor_lab.simulation.streams.timings import StreamsTimings

__all__ = [
    "Changelog", "PastDraw", "PastPlays", "InstanceSettings", "ProtocolOfGroup", "StreamsEpisode", "drawn_member_id",
    "drawn_process_id", "first_event_ms",
]  # fmt: skip

#: Protocols of Streams groups.
ProtocolOfGroup = Literal["classic", "streams"]


@attrs.frozen
class Changelog:
    """The state of one task in its changelogs.

    Args:
        records: Records when the episode begins.
        bytes_per_record: If ``None``, restored bytes are unknown.
        records_per_s: Growth while the task runs.
        backlog_records: Additional records of its first run.
        is_known: If false, ``records`` is above any recovery lag, and the time of restoring is unknown.
        retained_records: Records that windowed and session stores still retain; ``None``: all.
        in_memory_share: Share of the records that stores in memory hold.
    """

    records: float
    bytes_per_record: float | None
    records_per_s: float = 0.0
    backlog_records: float = 0.0
    is_known: bool = True
    retained_records: float | None = None
    in_memory_share: float = 0.0


@attrs.frozen
class InstanceSettings:
    """Configuration of one instance.

    Args:
        member_ids: Member ids of its threads, in the order of joining; they decide ties, and the leader of a classic
            group, for which only ids with a UUID count. Others are drawn.
        startup_ms: From the process's start to its threads' start; ``None``: the default.
        joins_ms: From the process's start to each thread's first JoinGroup, thread 1 first; ``None``: with the others,
            as soon as one joins.
        metadata_version: Newest supported version of Streams' member messages.
        release: Its release of Kafka, which decides while it leads; ``None``: the group's.
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
    release: KafkaRelease | None = None

    def started(self, details: EventDetails) -> InstanceSettings:
        """Those of a start with changes."""
        changes = {name: getattr(details, name) for name in attrs.fields_dict(InstanceSettings)}
        given = {name: value for name, value in changes.items() if value is not None}
        # These belong to one start only.
        return attrs.evolve(self, **{"member_ids": (), "startup_ms": None, "joins_ms": (), **given})


@attrs.frozen
class PastDraw:
    """One draw of a recorded past.

    Args:
        seed: Equal ones give equal draws.
        moved: Place of an event to the time by which it comes later than drawn, in ms; of a start at a known time the
            time until its threads start is longer.
    """

    seed: str
    moved: Mapping[int, int] = attrs.field(factory=dict)


@attrs.frozen
class PastPlays:
    """The plays of a recorded past.

    Args:
        draws: Empty: one play, with each event at its ``at_ms``.
        error: Error of the group's own assignor's plays against the recorded time without an owner, as a share of it;
            ``None``: unknown.
    """

    draws: tuple[PastDraw, ...] = ()
    error: float | None = None


@attrs.frozen(eq=False)
class StreamsEpisode:
    """A group, and its events.

    Args:
        tasks: All tasks, sorted; their index is their number in the simulation.
        clients: Initial instances with their previous tasks; named by process id.
        instance_ids: Their ``group.instance.id``; ``None``: dynamic members.
        missing_topics: Internal topics that the first leader has to create.
        eos: Exactly-once processing.
        is_transactional: ``enable.transactional.statestores`` (KIP-892).
        uncommitted_max_bytes: ``statestore.uncommitted.max.bytes`` of an instance; -1: no limit.
        coming_refiner: Under the streams protocol, the broker warms state up before it moves tasks, as no release does.
        assumptions: Sentences about data that the source lacks.
        recorded: The recorded result; the simulation never reads it.
        is_carried_over: Its source used the other protocol: static members become dynamic if the broker refuses them.
        names: Names of the ``clients``; empty: their process ids.
        is_at_rest: The group has settled when it begins: under the streams protocol no new target is due, and the seed
            draws each member's last heartbeat. Otherwise a target is due, and heartbeats are spread evenly.
        plays: The plays of a recorded past that its figures are medians of.
        waits: Waits of members that its recording shows.
        past_timings: Timings by name in plays of a recorded past, in place of those for plans.
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
    events: tuple[StreamsEvent, ...]
    until_ms: int
    timings: StreamsTimings
    missing_topics: tuple[str, ...]
    eos: bool
    coming_refiner: bool
    assumptions: tuple[str, ...]
    place: Place
    recorded: GroupHistory | None = None
    is_carried_over: bool = False
    names: tuple[str, ...] = ()
    is_at_rest: bool = False
    is_transactional: bool = False
    plays: PastPlays = PastPlays()
    waits: SeenWaits = NO_WAITS
    past_timings: Mapping[str, int] = attrs.field(factory=dict)
    uncommitted_max_bytes: int = 64 * 1024 * 1024
    instance_ids: tuple[str | None, ...] = attrs.field(kw_only=True)

    @instance_ids.default
    def _dynamic(self) -> tuple[str | None, ...]:
        return (None,) * len(self.clients)

    @property
    def release(self) -> KafkaRelease:
        """The clients' release: that of the configuration or the source, else the newest one."""
        return release_in(self.config) or NEWEST

    def keeps_transactions(self, release: KafkaRelease | None = None) -> bool:
        """True if stores of a client stay consistent when its process dies: it resumes at their last flush.

        Args:
            release: That of the client; ``None``: that of the group.
        """
        return self.is_transactional and holds("transactional_stores", release or self.release)

    def startup_ms(self, start: StreamsEvent) -> int:
        """From the start of a process to that of its threads."""
        return self.timings.startup_ms if start.details.startup_ms is None else start.details.startup_ms

    def name_of(self, place: int) -> str:
        return self.names[place] if self.names else str(self.clients[place].process_id)


def first_event_ms(events: Iterable[StreamsEvent], *, is_empty: bool) -> int:
    """Time from which results count: the first event of a group that begins without instances, else 0."""
    return min((event.at_ms for event in events), default=0) if is_empty else 0


def drawn_process_id(episode: str, client: str, number: int) -> ProcessID:
    """The same process id in every run, for an instance without one in the episode."""
    digest = blake2b(f"{episode}\0{client}\0{number}".encode(), digest_size=16).digest()
    return ProcessID(UUID(bytes=digest, version=4))


def drawn_member_id(episode: str, client: str, number: int) -> str:
    """The same member id in every run, in the form of Kafka's streams protocol."""
    digest = blake2b(f"{episode}\0{client}\0member\0{number}".encode(), digest_size=16).digest()
    return urlsafe_b64encode(digest).decode().rstrip("=")
