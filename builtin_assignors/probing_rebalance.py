"""The deadline of the next probing rebalance (KIP-441): when a group whose tasks wait for warm-ups looks again."""

from __future__ import annotations

from assignment_api import ApplicationMetadata

__all__ = ["probing_deadline_ms"]


def probing_deadline_ms(application: ApplicationMetadata) -> int:
    """When an answer that is not final yet has to be followed by another, in ms of the leader's clock.

    Kafka: ``probing.rebalance.interval.ms`` after the assignor was asked; one client carries it, and its thread
    rebalances then, unless the answer of a rebalance in between had no deadline.
    """
    return application.current_time_ms() + application.assignment_configs().probing_rebalance_interval_ms
