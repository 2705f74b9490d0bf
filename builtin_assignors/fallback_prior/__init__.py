"""Kafka's assignor for rebalances without end offsets."""

from builtin_assignors.fallback_prior.assignor import FallbackPriorTaskAssignor

__all__ = ["FallbackPriorTaskAssignor"]
