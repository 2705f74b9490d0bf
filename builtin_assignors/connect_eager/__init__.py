"""Round robin over everything, as Kafka Connect assigned before KIP-415."""

from builtin_assignors.connect_eager.assignor import EagerAssignor

__all__ = ["EagerAssignor"]
