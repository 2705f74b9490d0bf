"""Calls of assignors for consumer groups and share groups: a new one for each assignment."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from assignment_api.consumer import ConsumerGroupState, PartitionAssignment, SubscribedGroup
from assignment_api.plugins import Found, PartitionAssignorPlugin, Registry
from assignment_api.plugins.found import made_by
from assignment_api.plugins.named_code import PARTITION_INTERFACES, partition_assignor_asked_for
from assignor_lab.groups.consumer.transfer import (
    answer_document,
    answer_in,
    packed_group,
    received_consumers,
    received_subscribers,
)
from assignor_lab.runtime.assignor_calls import AssignorCalls
from assignor_lab.runtime.invocation import InvalidAnswerError, check_value

__all__ = ["CONSUMER_CALLS", "CONSUMER_GROUP_CALLS", "SHARE_GROUP_CALLS", "PartitionCalls", "PartitionGroup"]

PartitionGroup = ConsumerGroupState | SubscribedGroup

PartitionMembers = Mapping[str, Mapping[str, tuple[int, ...]]]


class PartitionCalls(AssignorCalls[PartitionGroup, PartitionAssignment]):
    """Calls of the assignors of one of the three kinds.

    Args:
        kind: Kind of the assignors in listings.
        place: As in the base class.
        received: Unpacks a group.
    """

    def __init__(self, kind: str, place: str, received: Callable[[bytes, bytes], PartitionGroup]) -> None:
        self.kind = kind
        self._received: Callable[[bytes, bytes], PartitionGroup] = received
        self.place = f"{__name__}:{place}"

    def select(self, registry: Registry, selector: str, *, may_run_code: bool) -> Found[PartitionAssignorPlugin]:
        return registry.partition_assignor(self.kind, selector, may_run_code=may_run_code)

    def from_code(self, selector: str) -> Found[PartitionAssignorPlugin]:
        return partition_assignor_asked_for(self.kind, selector)

    def created(self, found: Found[PartitionAssignorPlugin]) -> object:
        expected = PARTITION_INTERFACES[self.kind]
        known_as = f"assignment_api.consumer.{expected.__name__}"
        return made_by(found.name, found.plugin.factory, expected, known_as)

    def checked(self, name: str, answer: object, state: PartitionGroup, *, is_trusted: bool) -> PartitionAssignment:
        if not isinstance(answer, PartitionAssignment):
            raise InvalidAnswerError(f"assignor {name} returned {type(answer).__name__}, expected PartitionAssignment")
        if is_trusted:
            return answer
        check_value(name, "members", answer.members, PartitionMembers)
        sizes = {topic: held.partitions or 0 for topic, held in state.topics.items()}
        for member, held in answer.members.items():
            if member not in state.members:
                raise InvalidAnswerError(f"assignor {name}: there is no member {member!r:.80} in the group")
            for topic, partitions in held.items():
                if any(
                    not (0 <= partition < sizes.get(topic, 0) or _is_former(state, topic, partition))
                    for partition in partitions
                ):
                    raise InvalidAnswerError(
                        f"assignor {name}: members[{member!r:.80}]: {topic!r:.80} {list(partitions)!r:.80} has a "
                        "partition that does not exist"
                    )
        return answer

    def packed(self, state: PartitionGroup) -> tuple[bytes, ...]:
        return packed_group(state)

    def receiver(self) -> Callable[..., PartitionGroup]:
        return self._received

    def answer_document(self, state: PartitionGroup, answer: PartitionAssignment) -> object:
        return answer_document(answer)

    def answer_of(self, state: PartitionGroup, document: object) -> PartitionAssignment:
        return answer_in(state, document)


def _is_former(state: PartitionGroup, topic: str, partition: int) -> bool:
    """True for a partition of a previous target whose topic is gone: Kafka's ``SimpleAssignor`` keeps it."""
    if isinstance(state, ConsumerGroupState):
        return False
    return any(partition in member.assigned.get(topic, ()) for member in state.members.values())


CONSUMER_CALLS = PartitionCalls("consumer-assignor", "CONSUMER_CALLS", received_consumers)
CONSUMER_GROUP_CALLS = PartitionCalls("consumer-group-assignor", "CONSUMER_GROUP_CALLS", received_subscribers)
SHARE_GROUP_CALLS = PartitionCalls("share-group-assignor", "SHARE_GROUP_CALLS", received_subscribers)
