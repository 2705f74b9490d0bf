"""Rules that the coordinator's assignors for consumer groups and share groups have in common."""

from builtin_assignors._broker_consumer_steps.problem import BrokerProblem, Target, Targets, decided, partitions_of
from builtin_assignors._broker_consumer_steps.tables import (
    IntegerSet,
    MemberTarget,
    Previous,
    TopicKeys,
    new_table_capacity,
    sized_capacity,
)

__all__ = [
    "BrokerProblem",
    "IntegerSet",
    "MemberTarget",
    "Previous",
    "Target",
    "Targets",
    "TopicKeys",
    "decided",
    "new_table_capacity",
    "partitions_of",
    "sized_capacity",
]
