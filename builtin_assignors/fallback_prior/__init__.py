"""Kafka's assignor for the rebalance in which end offsets could not be fetched."""

from builtin_assignors.fallback_prior.assignor import FallbackPriorTaskAssignor

__all__ = ["FallbackPriorTaskAssignor"]
