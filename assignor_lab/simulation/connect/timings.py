"""Durations of a simulation: Kafka's timeouts, and the costs of a machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

__all__ = ["DEFAULT_TIMINGS", "Timings"]


@attrs.frozen
class Timings:
    """Every duration of the simulation, in milliseconds. Episodes may name any of them under ``timings``.

    The first group are Kafka's own settings with Kafka's defaults (Kafka: ``DistributedConfig``); the second what a
    machine takes. A ``..._spread_ms`` is added to the duration before it, drawn evenly from 0 to the spread by the
    seed.

    Args:
        heartbeat_interval_ms: ``heartbeat.interval.ms``.
        session_timeout_ms: ``session.timeout.ms``: a member of which nothing is heard for so long is removed.
        rebalance_timeout_ms: ``rebalance.timeout.ms``: how long a join phase waits for a member, and how long a
            worker may go without polling before it leaves the group.
        initial_rebalance_delay_ms: The broker's ``group.initial.rebalance.delay.ms``.
        worker_sync_timeout_ms: ``worker.sync.timeout.ms``: how long a worker tries to read the config topic.
        worker_unsync_backoff_ms: ``worker.unsync.backoff.ms``, used under ``eager`` alone.
        client_retry_ms: After a REST client was refused or lost its worker, how long it waits.
        request_ms: A request to the coordinator and its answer, without what it waits for there.
        rest_hop_ms: A REST request from client to worker or from worker to worker, one way.
        rest_body_ms: What that takes longer if it carries configurations: all requests but deletions.
        validation_ms: Checking a connector's configuration, once on each worker that does it.
        config_write_ms: Writing to the config topic and reading back what was written.
        config_read_ms: Reading the config topic to its end.
        log_delivery_ms: Until a record of the config topic has reached a worker that does not ask for it.
        assignor_ms: Computing an assignment.
        connector_start_ms: Starting a connector instance, in one of the pool's threads.
        connector_stop_ms: Stopping one.
        task_configs_ms: From a connector instance's start until it has generated its tasks' configurations.
        task_start_ms: Starting a task, in one of the pool's threads.
        task_start_spread_ms: Added to it.
        task_ready_ms: From the beginning of its start until the task runs, if that is longer than the start.
        task_stop_ms: Stopping a task, in one of the pool's threads.
        task_stop_spread_ms: Added to it.
        jitter_ms: Drawn from 0 up to this and added to each validation, config write, record delivery and generation
            of task configurations.
        pauses_ms: What a step of a busy machine takes longer than it should, drawn from these figures and added to each
            hop of a REST request, validation, config write, generation of task configurations, start of what a round
            assigned, and to each assignment on its way; none if empty.
        log_delivery_pauses_ms: The same for a record of the config topic on its way to a worker.
        task_configs_drawn_ms: Drawn from, in place of ``task_configs_ms``; if empty, that holds for all connectors.
        task_ready_drawn_ms: Drawn from, in place of ``task_ready_ms``; if empty, that holds for all tasks.
        first_connector_ms: Worker to what its first process's first connector instance takes longer until it has
            generated its tasks' configurations, because classes have to be loaded.
        start_stop_threads: Size of a worker's pool for starting and stopping (a number, not a duration).
        worker_start_ms: From the start of a worker's process until it asks to join.
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

    def hop_ms(self, kind: str) -> int:
        """How long a REST request of a kind takes one way, without what the machine adds."""
        return self.rest_hop_ms if kind == "delete" else self.rest_hop_ms + self.rest_body_ms

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any], base: Timings | None = None) -> Timings:
        """``base`` with ``values`` in place of its own; keys are the arguments' names."""
        return attrs.evolve(base or cls(), **values)


#: Small round figures, for episodes that are about what happens and not about how long it takes.
DEFAULT_TIMINGS = Timings()
