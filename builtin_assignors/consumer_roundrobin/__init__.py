"""Kafka's ``RoundRobinAssignor`` of the consumer."""

from builtin_assignors.consumer_roundrobin.assignor import RoundRobinAssignor

__all__ = ["RoundRobinAssignor"]
