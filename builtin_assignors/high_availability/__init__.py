"""Kafka's default assignor: ideal placement, standbys, warm-ups (KIP-441)."""

from builtin_assignors.high_availability.assignor import HighAvailabilityTaskAssignor, NoClientsError

__all__ = ["HighAvailabilityTaskAssignor", "NoClientsError"]
