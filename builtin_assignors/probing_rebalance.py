"""Deadline of the next probing rebalance of a group whose tasks wait for warm-ups (KIP-441)."""

from __future__ import annotations

from assignment_api import ApplicationMetadata

__all__ = ["probing_deadline_ms"]


def probing_deadline_ms(application: ApplicationMetadata) -> int:
    """Deadline of the rebalance that must follow a provisional answer, in ms of the leader's clock.

    Kafka: ``probing.rebalance.interval.ms`` after the assignor was called. One client carries it, and its thread
    rebalances then, unless a rebalance in between returned no deadline.
    """
    return application.current_time_ms() + application.assignment_configs().probing_rebalance_interval_ms
