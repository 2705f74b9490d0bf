"""Constants that logs do not show, and the lines that would show them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from assignor_lab.capture.timelines.constants import MANY_RECORDS
from assignor_lab.capture.timelines.logged_timeline import TimedStore
from assignor_lab.documents.wording import plural

__all__ = ["missing_constants"]

_TOLD_BY = (
    (
        ("startup_ms", "join_ms", "close_ms"),
        "give logs of instances from their start to their end, with loggers org.apache.kafka.streams.KafkaStreams and "
        "org.apache.kafka.clients.consumer.internals at INFO",
    ),
    (
        ("heartbeat_late_us", "assign_ms", "create_topics_ms", "metadata_ms", "open_store_ms", "first_open_store_ms"),
        "give the log of the classic group's coordinator, too (at brokers, logger "
        "org.apache.kafka.coordinator.group.GroupMetadataManager, before Kafka 4.0 kafka.coordinator.group, at INFO), "
        "over its starts and stops",
    ),
    (
        ("rejoin_ms", "probe_ms"),
        "give the log of the classic group's coordinator and those of all instances, with logger "
        "org.apache.kafka.streams.processor.internals.StreamsPartitionAssignor at INFO",
    ),
    (
        ("standby_ms", "recycle_ms", "work_off_records_per_s", "output_ms"),
        "not in logs; only recorded experiments have it",
    ),
)
_OF_CLASSIC_GROUPS = frozenset({*_TOLD_BY[1][0], *_TOLD_BY[2][0]})
_TOLD_OF_STREAMS_GROUPS = (
    (
        ("leave_ms",),
        "give the log of the group's coordinator (at brokers, logger "
        "org.apache.kafka.coordinator.group.GroupMetadataManager at INFO), and those of instances that stop",
    ),
    (
        ("broker_topics_ms", "acknowledge_ms", "acknowledge_new_ms", "acknowledge_loop_ms", "acknowledge_spread_ms"),
        "not in logs; only recorded experiments have it",
    ),
)
_RATES = ("restore_records_per_s", "restore_bytes_per_s", "machine_restore_percent")


def missing_constants(derived: Collection[str], stores: Sequence[TimedStore], *, is_classic: bool) -> list[str]:
    """Constants without a measurement keep the simulation's own figures."""
    found = []
    for names, remedy in _TOLD_BY if is_classic else (*_TOLD_BY, *_TOLD_OF_STREAMS_GROUPS):
        wanted = [name for name in names if is_classic or name not in _OF_CLASSIC_GROUPS]
        if missing := [name for name in wanted if name not in derived]:
            found.append(f"not derived: {', '.join(missing)}: {remedy}")
    if "restore_records_per_s" not in derived:
        found.append(f"not derived: {', '.join(_RATES)}: {_no_rate(stores)}")
    elif "restore_bytes_per_s" not in derived:
        found.append("not derived: restore_bytes_per_s: logs have no sizes, give --bytes-per-record")
    if "restore_records_per_s" in derived and "machine_restore_percent" not in derived:
        found.append(
            "not derived: machine_restore_percent: no instance restored with one thread now and with several then"
        )
    if "restore_poll_ms" not in derived and stores:
        found.append("not derived: restore_poll_ms: no store was restored that had next to nothing to read")
    return found


def _no_rate(stores: Sequence[TimedStore]) -> str:
    if not stores:
        return (
            "no line names a restored store: set the loggers "
            "org.apache.kafka.streams.processor.internals.StoreChangelogReader and ...DefaultStateUpdater to "
            "INFO, and give the log of a start without state"
        )
    if all(each.milliseconds is None for each in stores):
        return (
            "the lines 'End offset for changelog ... initialized as' are missing, which mark the start of "
            "restoring: set the logger org.apache.kafka.streams.processor.internals.StoreChangelogReader to INFO"
        )
    most = max(each.records for each in stores)
    return (
        f"{plural(len(stores), 'restoration')}, the largest with {plural(most, 'record')}: a rate needs "
        f"{MANY_RECORDS:,} records or more that an instance restores at one time"
    )
