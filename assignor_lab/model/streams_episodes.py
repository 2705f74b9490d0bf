"""Episodes of Streams groups: an opening state, and the events that follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from assignment_api.releases import KafkaRelease
from assignment_api.streams import HostInfo, ProcessID, TaskInfo, TaskWorkload

__all__ = [
    "NO_DETAILS", "ChangelogOutline", "EpisodePast", "EventDetails", "OpeningInstance", "StreamsEpisodeOutline",
    "StreamsEvent", "StreamsOpening",
]  # fmt: skip


@attrs.frozen(kw_only=True)
class EventDetails:
    """Facts of an event besides its time, type and instance; ``None``, or a duration of 0: not given.

    Args:
        process_id: Of a start or a lost disk.
        threads: This and the following ones, up to ``joins_ms``, are changed settings of a started instance.
        joins_ms: From its start to each thread's first JoinGroup. Of an added thread: the one time until its own.
        thread: Number of the busy or removed thread.
        tasks: Those of ``corrupt``, or all that exist after ``tasks``.
        clients: Instances of a rolling restart; ``None``: all that run.
        down_ms: From the end to the start of a restarted process or broker.
        added: Fields that were given after the others, in this order.
    """

    clients: Sequence[str] | None = None
    down_ms: int = 0
    every_ms: int = 0
    process_id: ProcessID | None = None
    threads: int | None = None
    tags: Mapping[str, str] | None = None
    machine: str | None = None
    instance_id: str | None = None
    rack: str | None = None
    metadata_version: int | None = None
    host: HostInfo | None = None
    release: KafkaRelease | None = None
    member_ids: Sequence[str] | None = None
    startup_ms: int | None = None
    joins_ms: Sequence[int | None] | None = None
    for_ms: int = 0
    thread: int | None = None
    member_id: str | None = None
    leave: bool | None = None
    leaves_ms: Sequence[int | None] | None = None
    tasks: Sequence[str] | None = None
    rack_is_new: bool | None = None
    added: tuple[str, ...] = attrs.field(default=(), eq=False, repr=False)


NO_DETAILS = EventDetails()


@attrs.frozen
class StreamsEvent:
    """An event of the group.

    Args:
        client: Its instance; empty: it concerns the group.
        within_ms: Earliest and latest time of an inferred event; ``None``: ``at_ms`` is known.
    """

    at_ms: int
    type: str
    client: str = ""
    details: EventDetails = NO_DETAILS
    within_ms: tuple[int, int] | None = None


@attrs.frozen
class ChangelogOutline:
    """State of a task as far as it is given; ``None``: not given."""

    records: int
    bytes_per_record: int
    records_per_s: float | None = None
    backlog_records: int | None = None
    retained_records: int | None = None
    in_memory_share: float | None = None


@attrs.frozen
class OpeningInstance:
    """An instance in an opening state, with tasks by their ids.

    Args:
        lags: Task to lag.
        reported: Consumer to its tasks; ``None``: unknown.
    """

    process_id: str
    threads: int
    consumers: Sequence[str]
    active: Sequence[str]
    standby: Sequence[str]
    lags: Mapping[str, int]
    rack: str | None = None
    reported: Mapping[str, Sequence[str]] | None = None


@attrs.frozen
class StreamsOpening:
    """The group before the first event.

    Args:
        config: Kafka's keys to values.
        time_ms: In epoch milliseconds; ``None``: not given.
        workload: Task to its weights; ``None``: not given.
    """

    id: str
    config: Mapping[str, int | str | Sequence[str]]
    tasks: Sequence[TaskInfo]
    instances: Sequence[OpeningInstance] = ()
    time_ms: int | None = None
    workload: Mapping[str, TaskWorkload] | None = None


@attrs.frozen
class StreamsEpisodeOutline:
    """An episode as far as it is given; the simulation has defaults for the rest.

    Args:
        changelogs: Task to its state.
        timings: Fields of the simulation's timings.
        settings: Kafka's keys to values.
        missing_topics: Internal topics that the first leader has to create.
    """

    id: str
    initial: StreamsOpening
    events: Sequence[StreamsEvent]
    until_ms: int
    protocol: str | None = None
    assignor: str | None = None
    changelogs: Mapping[str, ChangelogOutline] | None = None
    timings: Mapping[str, int] | None = None
    eos: bool = False
    missing_topics: Sequence[str] = ()
    coming_refiner: bool = False
    settings: Mapping[str, str | bool] | None = None


@attrs.frozen
class EpisodePast:
    """The recorded past behind an episode; times count from ``begin_ms``.

    Args:
        begin_ms: In epoch milliseconds.
        away: Task to its times without an owner.
        shows_restoring: True if these include restoring.
        is_settled: False if a rebalance is still to come after the last decision.
    """

    begin_ms: int
    until_ms: int
    events: Sequence[StreamsEvent]
    away: Mapping[str, Sequence[tuple[int, int]]]
    shows_restoring: bool
    is_settled: bool
