"""Java assignors of consumer groups and share groups as Python ones.

``ConsumerAssignor`` and ``GroupAssignor`` of the driver are the other side.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from assignment_api.consumer import (
    ConsumerGroupPartitionAssignor,
    ConsumerGroupState,
    ConsumerPartitionAssignor,
    PartitionAssignment,
    ShareGroupPartitionAssignor,
    SubscribedGroup,
)
from assignor_lab.runtime.assignor_calls import AsksElsewhere
from assignor_lab.runtime.invocation import InvalidAnswerError
from assignor_lab.runtime.java.jvm import JavaPlace, jvm_of
from assignor_lab.runtime.java.settings import java_configs

__all__ = ["JavaPartitionFactory"]


@attrs.frozen
class JavaPartitionFactory(AsksElsewhere):
    """A factory of assignors of one kind in one JVM; each call has its own Java object.

    Args:
        kind: ``consumer-assignor``, ``consumer-group-assignor`` or ``share-group-assignor``.
    """

    kind: str
    place: JavaPlace

    def __call__(self) -> Any:
        return _MADE[self.kind](self.place)


class _JavaPartitionAssignor:
    def __init__(self, place: JavaPlace) -> None:
        self._place = place
        self._configs = java_configs({}, place.configs)

    def configure(self, configs: Mapping[str, Any]) -> None:
        """Stores the configuration; a Java class that is ``Configurable`` receives it as texts."""
        self._configs = java_configs(configs, self._place.configs)

    def assign(self, group: Any) -> PartitionAssignment:
        """Calls the Java assignor; its exceptions are raised here under the same name.

        Raises:
            InvalidAnswerError: if it returns null.
        """
        document = _of_consumers(group) if isinstance(group, ConsumerGroupState) else _of_subscribers(group)
        answer = jvm_of(self._place).ask({"configs": self._configs, **document})
        if "invalid" in answer:
            raise InvalidAnswerError(str(answer["invalid"]))
        return PartitionAssignment(answer["members"])


class _JavaConsumerAssignor(_JavaPartitionAssignor, ConsumerPartitionAssignor):
    pass


class _JavaConsumerGroupAssignor(_JavaPartitionAssignor, ConsumerGroupPartitionAssignor):
    pass


class _JavaShareGroupAssignor(_JavaPartitionAssignor, ShareGroupPartitionAssignor):
    pass


_MADE: Mapping[str, type[_JavaPartitionAssignor]] = {
    "consumer-assignor": _JavaConsumerAssignor,
    "consumer-group-assignor": _JavaConsumerGroupAssignor,
    "share-group-assignor": _JavaShareGroupAssignor,
}


def _of_consumers(group: ConsumerGroupState) -> Mapping[str, object]:
    return {
        "max_generation": group.max_generation,
        "topics": [(topic.name, topic.partitions, topic.racks) for topic in group.topics.values()],
        "members": [
            (
                key,
                member.topics,
                list(_each(member.owned)),
                -1 if member.generation is None else member.generation,
                None if member.user_data is None else member.user_data.hex(),
                member.rack_id or None,
                member.instance_id,
            )
            for key, member in group.members.items()
        ],
    }


def _of_subscribers(group: SubscribedGroup) -> Mapping[str, object]:
    return {
        "topics": {key: topic.partitions for key, topic in group.topics.items() if topic.partitions is not None},
        "alike": group.is_homogeneous(),
        "assignable": None if group.assignable is None else dict(group.assignable),
        "members": [
            (
                key,
                group.subscribed_topic_ids(member),
                len(group.subscribed_names(member)),
                dict(member.assigned),
                member.rack_id,
                member.instance_id,
            )
            for key, member in group.members.items()
        ],
    }


def _each(partitions: Mapping[str, tuple[int, ...]]) -> Iterator[tuple[str, int]]:
    return ((topic, number) for topic, numbers in partitions.items() for number in numbers)
