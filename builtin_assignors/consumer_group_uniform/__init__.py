"""The group coordinator's uniform assignor for consumer groups (KIP-848)."""

from builtin_assignors.consumer_group_uniform.assignor import ConsumerGroupUniformAssignor

__all__ = ["ConsumerGroupUniformAssignor"]
