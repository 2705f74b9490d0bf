"""A consumer group or share group as bytes for a plugin's process, and the returned answer.

The members are pickled plain data, apart from the topics, which seldom change between the rounds of a history. An
answer is JSON; every part of it is checked.
"""

from __future__ import annotations

import pickle

import attrs

from assignment_api.consumer import (
    ConsumerGroupState,
    ConsumerSubscription,
    ConsumerTopic,
    PartitionAssignment,
    SubscribedGroup,
    SubscribedMember,
    SubscribedTopic,
)
from assignor_lab.runtime.isolation.errors import AnswerFormatError

__all__ = ["answer_document", "answer_in", "packed_group", "received_consumers", "received_subscribers"]

_INT_MAX = 2**31 - 1


def packed_group(group: ConsumerGroupState | SubscribedGroup) -> tuple[bytes, bytes]:
    """The members and the topics, each as bytes."""
    topics = [attrs.astuple(topic, recurse=False) for topic in group.topics.values()]
    rest: tuple[object, ...]
    members: list[tuple[object, ...]]
    if isinstance(group, ConsumerGroupState):
        members = [
            (key, each.topics, dict(each.owned), each.generation, each.user_data, each.rack_id, each.instance_id)
            for key, each in group.members.items()
        ]
        rest = (group.max_generation,)
    else:
        members = [
            (key, each.topics, each.regex, each.instance_id, each.rack_id, dict(each.assigned))
            for key, each in group.members.items()
        ]
        rest = (dict(group.regexes), None if group.assignable is None else dict(group.assignable))
    return pickle.dumps((members, rest), protocol=5), pickle.dumps(topics, protocol=5)


def received_consumers(group: bytes, topics: bytes) -> ConsumerGroupState:
    """The group of :func:`packed_group`, client side."""
    members, rest = pickle.loads(group)  # noqa: S301 - made by the lab
    return ConsumerGroupState(
        {topic[0]: ConsumerTopic(*topic) for topic in pickle.loads(topics)},  # noqa: S301 - made by the lab
        {key: ConsumerSubscription(*fields) for key, *fields in members},
        *rest,
    )


def received_subscribers(group: bytes, topics: bytes) -> SubscribedGroup:
    """The group of :func:`packed_group`, broker side."""
    members, rest = pickle.loads(group)  # noqa: S301 - made by the lab
    return SubscribedGroup(
        {topic[0]: SubscribedTopic(*topic) for topic in pickle.loads(topics)},  # noqa: S301 - made by the lab
        {key: SubscribedMember(*fields) for key, *fields in members},
        *rest,
    )


def answer_document(answer: PartitionAssignment) -> object:
    """A checked answer as JSON; lists, because order counts."""
    return {
        "members": [
            [member, [[topic, list(partitions)] for topic, partitions in held.items()]]
            for member, held in answer.members.items()
        ]
    }


def answer_in(group: ConsumerGroupState | SubscribedGroup, document: object) -> PartitionAssignment:
    """The answer in ``document``, which a plugin may have forged, so everything in it is checked.

    Raises:
        AnswerFormatError: if it is none.
    """
    if not isinstance(document, dict):
        raise _no_answer("no JSON object")
    members: dict[str, dict[str, tuple[int, ...]]] = {}
    for entry in _listed(document.get("members")):
        member, topics = _pair(entry)
        if not isinstance(member, str) or member not in group.members or member in members:
            raise _no_answer("a member that is none, or a member twice")
        members[member] = {}
        for item in _listed(topics):
            topic, partitions = _pair(item)
            if not isinstance(topic, str) or topic in members[member]:
                raise _no_answer("a topic that is none, or a topic twice")
            members[member][topic] = tuple(_partition(each) for each in _listed(partitions))
    return PartitionAssignment(members)


def _partition(value: object) -> int:
    if type(value) is not int or not 0 <= value <= _INT_MAX:
        raise _no_answer("a partition that is none")
    return value


def _pair(value: object) -> tuple[object, object]:
    if type(value) is not list or len(value) != 2:
        raise _no_answer("no pair")
    return value[0], value[1]


def _listed(value: object) -> list[object]:
    if type(value) is not list:
        raise _no_answer("something else than a list")
    return value


def _no_answer(fault: str) -> AnswerFormatError:
    return AnswerFormatError(f"its answer holds {fault}")
