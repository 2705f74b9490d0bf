"""Durations of a simulation: Kafka's timeouts, and the costs of a machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from assignor_lab.kafka.coordinator.session_timeout import check_timeouts

__all__ = ["DEFAULT_TIMINGS", "ConnectTimings"]


@attrs.frozen
class ConnectTimings:
    """Every duration of the simulation, in milliseconds; episodes may override any under ``timings``.

    The first group are Kafka's settings with Kafka's defaults (Kafka: ``DistributedConfig``); the second are durations
    of a machine. A ``..._spread_ms`` is added to the duration before it, drawn evenly from 0 to the spread by the seed.

    Args:
        heartbeat_interval_ms: ``heartbeat.interval.ms``.
        session_timeout_ms: ``session.timeout.ms``.
        rebalance_timeout_ms: ``rebalance.timeout.ms``: longest wait of a join phase for a member, and longest time
            between a worker's polls.
        initial_rebalance_delay_ms: The broker's ``group.initial.rebalance.delay.ms``.
        worker_sync_timeout_ms: ``worker.sync.timeout.ms``: longest attempt to read the config topic.
        worker_unsync_backoff_ms: ``worker.unsync.backoff.ms``, used under ``eager`` only.
        client_retry_ms: Wait of a REST client after a refusal, or the end of its worker.
        request_ms: A request to the coordinator and its response, without the coordinator's wait.
        rest_hop_ms: A REST request from client or worker to worker, one way.
        rest_body_ms: Additional time of a request with configurations: all except deletions.
        validation_ms: Checking a connector's configuration, once on each worker that does it.
        config_write_ms: Writing to the config topic and reading it back.
        config_read_ms: Reading the config topic to its end.
        log_delivery_ms: Delivery of a record of the config topic to a passive worker.
        assignor_ms: Computing an assignment.
        task_configs_ms: From a connector instance's start to its tasks' configurations.
        task_start_ms: Starting a task, in one of the pool's threads.
        task_ready_ms: From the beginning of its start until the task runs, if longer than the start.
        task_stop_ms: Stopping a task, in one of the pool's threads.
        jitter_ms: Drawn from 0 up to this for each validation, config write, record delivery and generation of task
            configurations.
        pauses_ms: Additional durations on a busy machine. One is drawn for each hop of a REST request, validation,
            config write, generation of task configurations, start of a round's jobs, and delivery of an assignment;
            none if empty.
        log_delivery_pauses_ms: The same for the delivery of a record of the config topic.
        task_configs_drawn_ms: Drawn from in place of ``task_configs_ms``, unless empty.
        task_ready_drawn_ms: Drawn from in place of ``task_ready_ms``, unless empty.
        first_connector_ms: Worker to the additional time of its first connector instance, whose classes have to be
            loaded.
        start_stop_threads: Size of a worker's pool for starting and stopping (a number, not a duration).
        worker_start_ms: From the start of a worker's process until its first join.
        worker_stop_ms: From the end of a stopped worker's jobs until it leaves the group.
    """

    heartbeat_interval_ms: int = 3_000
    session_timeout_ms: int = 10_000
    rebalance_timeout_ms: int = 60_000
    initial_rebalance_delay_ms: int = 3_000
    worker_sync_timeout_ms: int = 3_000
    worker_unsync_backoff_ms: int = 300_000
    client_retry_ms: int = 1_000
    request_ms: int = 4
    rest_hop_ms: int = 5
    rest_body_ms: int = 0
    validation_ms: int = 10
    config_write_ms: int = 15
    config_read_ms: int = 5
    log_delivery_ms: int = 5
    assignor_ms: int = 5
    connector_start_ms: int = 50
    connector_stop_ms: int = 50
    task_configs_ms: int = 20
    task_start_ms: int = 50
    task_start_spread_ms: int = 0
    task_ready_ms: int = 100
    task_stop_ms: int = 50
    task_stop_spread_ms: int = 0
    jitter_ms: int = 0
    pauses_ms: Sequence[int] = ()
    log_delivery_pauses_ms: Sequence[int] = ()
    task_configs_drawn_ms: Sequence[int] = ()
    task_ready_drawn_ms: Sequence[int] = ()
    first_connector_ms: Mapping[str, int] = attrs.field(factory=dict)
    start_stop_threads: int = attrs.field(default=8, validator=attrs.validators.ge(1))
    worker_start_ms: int = 3_000
    worker_stop_ms: int = 0

    def hop_ms(self, kind: str) -> int:
        """One way, without random additions."""
        return self.rest_hop_ms if kind == "delete" else self.rest_hop_ms + self.rest_body_ms

    def __attrs_post_init__(self) -> None:
        check_timeouts(self.session_timeout_ms, self.heartbeat_interval_ms)

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any], base: ConnectTimings | None = None) -> ConnectTimings:
        return attrs.evolve(base or cls(), **values)


#: Small round figures, for episodes about events.
DEFAULT_TIMINGS = ConnectTimings()
