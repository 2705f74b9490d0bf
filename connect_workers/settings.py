"""The configuration of a live worker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from assignment_api.connect import WILDCARD, ConnectProtocol, StaticJobs
from assignor_lab.kafka.herder.assignment import DowngradeRule
from assignor_lab.kafka.herder.task_configs_retry import FIRST_PAUSE_MS, LONGEST_PAUSE_MS

__all__ = ["LiveTimings", "LiveWorkerSettings"]


@attrs.frozen
class LiveTimings:
    """Durations in milliseconds, Kafka's keys and defaults where it has them (Kafka: ``DistributedConfig``).

    Args:
        session_timeout_ms: ``session.timeout.ms``: a worker without a heartbeat for so long is removed.
        rebalance_timeout_ms: ``rebalance.timeout.ms``: how long a join phase waits for a worker, and how long a herder
            may be busy before its worker leaves the group.
        initial_rebalance_delay_ms: ``group.initial.rebalance.delay.ms``.
        task_shutdown_graceful_timeout_ms: ``task.shutdown.graceful.timeout.ms``.
        connector_shutdown_graceful_timeout_ms: The same for connectors, which is fixed in Kafka.
        reconfigure_backoff_ms: First pause before a connector's tasks are configured again after a failure.
        reconfigure_backoff_max_ms: Longest such pause.
        config_write_timeout_ms: How long a write to the config log may take.
    """

    heartbeat_interval_ms: int = 3_000
    session_timeout_ms: int = 10_000
    rebalance_timeout_ms: int = 60_000
    initial_rebalance_delay_ms: int = 3_000
    task_shutdown_graceful_timeout_ms: int = 5_000
    connector_shutdown_graceful_timeout_ms: int = 5_000
    reconfigure_backoff_ms: int = FIRST_PAUSE_MS
    reconfigure_backoff_max_ms: int = LONGEST_PAUSE_MS
    config_write_timeout_ms: int = 30_000


@attrs.frozen
class LiveWorkerSettings:
    """A worker's configuration.

    Args:
        downgrade: What happens when the group goes back to ``eager``: ``kafka`` (moved jobs run on, KAFKA-13816) or
            ``kip415`` (jobs that are not assigned are stopped).
        key_ttl_ms: ``inter.worker.key.ttl.ms``; 0 = keys are not replaced.
        configs: Further keys for the assignors.
    """

    protocol: ConnectProtocol = ConnectProtocol.SESSIONED
    max_delay_ms: int = 300_000
    static: StaticJobs = WILDCARD
    downgrade: DowngradeRule = "kip415"
    timings: LiveTimings = LiveTimings()
    topic_tracking: bool = True
    topic_tracking_reset: bool = True
    key_ttl_ms: int = 3_600_000
    configs: Mapping[str, Any] = attrs.field(factory=dict)
