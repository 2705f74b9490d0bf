"""Static assignments for Kafka Connect (KIP-987)."""

from builtin_assignors.connect_static.assignor import StaticConnectAssignor

__all__ = ["StaticConnectAssignor"]
