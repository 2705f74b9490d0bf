"""Durations and rates of a simulated Streams group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from assignor_lab.kafka.coordinator.session_timeout import check_timeouts
from assignor_lab.scenarios.settings import Settings

__all__ = ["GROUP_SETTINGS", "SETTINGS", "TIMING_KEYS", "StreamsTimings", "timings_of_settings"]


@attrs.frozen
class StreamsTimings:
    """Every duration and rate of the simulation; episodes may override any under ``timings``.

    The first group are Kafka's settings with Kafka's defaults. The second are figures of a machine, which ``assignor
    derive-constants`` found in recordings of one application on a machine of two cores.

    Args:
        heartbeat_interval_ms: ``heartbeat.interval.ms``.
        session_timeout_ms: ``session.timeout.ms``.
        max_poll_interval_ms: ``max.poll.interval.ms``: longest wait of a join phase for a member.
        initial_rebalance_delay_ms: The broker's ``group.initial.rebalance.delay.ms``.
        streams_heartbeat_interval_ms: The group's ``streams.heartbeat.interval.ms``.
        streams_session_timeout_ms: The group's ``streams.session.timeout.ms``.
        streams_initial_rebalance_delay_ms: The broker's ``group.streams.initial.rebalance.delay.ms``.
        assignment_interval_ms: The group's ``streams.assignment.interval.ms``.
        task_offset_interval_ms: The broker's ``group.streams.task.offset.interval.ms``, from Kafka 4.4 on.
        startup_ms: From a process's start to its threads' start.
        join_ms: From then until they join: they look for the coordinator first.
        startup_spread_ms: Added to it, drawn from 0 up to this by the seed.
        close_ms: From SIGTERM to the end of the process.
        request_ms: A request to the coordinator and its reply, without the coordinator's wait.
        heartbeat_late_us: Delay of a heartbeat after its interval, in microseconds.
        poll_ms: From the heartbeat that reports a rebalance until the thread joins.
        polls_every_ms: From one poll of a thread with running tasks to its next one, as it first processes the records
            that it has: it joins, and reads each reply, at a poll. 0: at once.
        rejoin_ms: From an assignment until a thread rejoins at once.
        probe_ms: From the scheduled time of a probing rebalance to its begin.
        assign_ms: From the end of the join phase until the coordinator has the leader's assignment.
        create_topics_ms: Additional time for creating internal topics.
        metadata_ms: From that assignment until the leader sees that topics have changed.
        broker_topics_ms: From the first join of a streams group until heartbeats see created topics.
        acknowledge_ms: From the broker's assignment to the member's acknowledgement, in the streams protocol, with
            tasks to revoke.
        acknowledge_new_ms: The same without tasks to revoke.
        acknowledge_loop_ms: From that assignment to the network thread's last look at the clock before the
            acknowledgement: the next heartbeat comes an interval after that.
        acknowledge_spread_ms: Interquartile range of ``acknowledge_ms``; that of ``acknowledge_new_ms`` is in
            proportion. Drawn by the seed, with a long tail. This separates the heartbeats of one process's members.
        leave_ms: From SIGTERM until the members leave, in the streams protocol.
        open_store_ms: From an assignment until a task that is new to the thread restores missing state, or runs.
        first_open_store_ms: The same for the first tasks of a process.
        recycle_ms: The same for a standby that becomes active, or the other way round.
        restore_poll_ms: Duration of restoring an active task without missing state.
        standby_ms: Duration until a standby with little missing state follows the changelog.
        work_off_records_per_s: Changelog records from a task that works off waiting input.
        output_ms: From the begin of a task's run until it has output.
        restore_bytes_per_s: Restore rate of one thread.
        restore_records_per_s: Restore rate of one thread for small records.
        machine_restore_percent: Restore rate of one machine's threads together, in percent of one thread alone; 0: one
            for each thread.
        memtable_bytes: Size at which a store's memory is flushed to the disk, with its recorded offset.
    """

    heartbeat_interval_ms: int = 3_000
    session_timeout_ms: int = 45_000
    max_poll_interval_ms: int = 300_000
    initial_rebalance_delay_ms: int = 3_000
    streams_heartbeat_interval_ms: int = 5_000
    streams_session_timeout_ms: int = 45_000
    streams_initial_rebalance_delay_ms: int = 3_000
    assignment_interval_ms: int = 1_000
    task_offset_interval_ms: int = 60_000
    commit_interval_ms: int = 30_000
    state_cleanup_delay_ms: int = 600_000
    startup_ms: int = 2_463
    join_ms: int = 566
    startup_spread_ms: int = 0
    close_ms: int = 427
    request_ms: int = 2
    heartbeat_late_us: int = 1_595
    poll_ms: int = 5
    polls_every_ms: int = 0
    rejoin_ms: int = 32
    probe_ms: int = 19
    assign_ms: int = 20
    create_topics_ms: int = 583
    metadata_ms: int = 1_184
    broker_topics_ms: int = 540
    acknowledge_ms: int = 137
    acknowledge_new_ms: int = 72
    acknowledge_loop_ms: int = 53
    acknowledge_spread_ms: int = 190
    leave_ms: int = 241
    open_store_ms: int = 174
    first_open_store_ms: int = 649
    recycle_ms: int = 9
    restore_poll_ms: int = 102
    standby_ms: int = 282
    work_off_records_per_s: int = 3_166
    output_ms: int = 118
    restore_bytes_per_s: int = 29_328_633
    restore_records_per_s: int = 140_328
    machine_restore_percent: int = 162
    memtable_bytes: int = 16 * 1024 * 1024

    def __attrs_post_init__(self) -> None:
        check_timeouts(self.session_timeout_ms, self.heartbeat_interval_ms)
        check_timeouts(self.streams_session_timeout_ms, self.streams_heartbeat_interval_ms, "streams.")

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> StreamsTimings:
        """Kafka's defaults and our figures, overridden by ``values``; keys are the arguments' names."""
        return attrs.evolve(cls(), **values)


#: Kafka's key to its timing.
SETTINGS: Mapping[str, str] = {
    "heartbeat.interval.ms": "heartbeat_interval_ms",
    "session.timeout.ms": "session_timeout_ms",
    "max.poll.interval.ms": "max_poll_interval_ms",
    "group.initial.rebalance.delay.ms": "initial_rebalance_delay_ms",
    "commit.interval.ms": "commit_interval_ms",
    "state.cleanup.delay.ms": "state_cleanup_delay_ms",
}
#: The same for group settings, which brokers keep.
GROUP_SETTINGS: Mapping[str, str] = {
    "streams.session.timeout.ms": "streams_session_timeout_ms",
    "streams.heartbeat.interval.ms": "streams_heartbeat_interval_ms",
    "streams.initial.rebalance.delay.ms": "streams_initial_rebalance_delay_ms",
    "streams.assignment.interval.ms": "assignment_interval_ms",
    "streams.task.offset.interval.ms": "task_offset_interval_ms",
}
TIMING_KEYS: Mapping[str, str] = {**SETTINGS, **GROUP_SETTINGS}

#: Kafka's default of ``commit.interval.ms`` under exactly-once.
_COMMIT_EXACTLY_ONCE_MS = 100


def timings_of_settings(settings: Settings) -> dict[str, int]:
    """Timings by their names, from Kafka's keys and values.

    ``max.poll.interval.ms`` is also the rebalance timeout of a consumer, so each implies the other.
    """
    found = {name: int(settings[key]) for key, name in TIMING_KEYS.items() if key in settings}
    if "rebalance.timeout.ms" in settings:
        found.setdefault("max_poll_interval_ms", int(settings["rebalance.timeout.ms"]))
    if str(settings.get("processing.guarantee", "")).startswith("exactly_once"):
        found.setdefault("commit_interval_ms", _COMMIT_EXACTLY_ONCE_MS)
    return found
