"""Round robin over all jobs: Kafka Connect's assignment before KIP-415."""

from builtin_assignors.connect_eager.assignor import EagerAssignor

__all__ = ["EagerAssignor"]
