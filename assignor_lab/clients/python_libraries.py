"""The strategies of kafka-python and aiokafka, called in this process with the inputs of their coordinators.

Both libraries are optional; a missing one raises ``ModuleNotFoundError``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from importlib.metadata import version
from types import SimpleNamespace
from typing import Any

from assignor_lab.clients.leader import ClientLibrary, LeaderInput, Reporting

__all__ = ["PYTHON_LIBRARIES"]


Answer = Mapping[str, Mapping[str, list[int]]]


class _Cluster:
    """As much of a library's ``ClusterMetadata`` as its strategies read."""

    def __init__(self, partitions: Mapping[str, int]) -> None:
        self._partitions = partitions

    def topics(self) -> set[str]:
        return set(self._partitions)

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        count = self._partitions.get(topic)
        return None if count is None else set(range(count))


def _kafka_python() -> ClientLibrary:
    assignors = "kafka.coordinator.assignors"
    classes = {
        "range": f"{assignors}.range:RangePartitionAssignor",
        "roundrobin": f"{assignors}.roundrobin:RoundRobinPartitionAssignor",
        "sticky": f"{assignors}.sticky.sticky_assignor:StickyPartitionAssignor",
        "cooperative-sticky": f"{assignors}.cooperative_sticky:CooperativeStickyAssignor",
    }
    # Its user data begin with a version, unlike Java's.
    reporting = Reporting(user_data_prefix=b"\0\1", has_generation=False)
    return _library("kafka-python", classes, _decided_by_kafka_python, reporting)


def _decided_by_kafka_python(assignor: Any, group: LeaderInput) -> Answer:
    # As ConsumerCoordinator._perform_assignment does it.
    from kafka.protocol.consumer.metadata import ConsumerProtocolSubscription

    members = [
        SimpleNamespace(
            member_id=member.id,
            group_instance_id=member.instance_id,
            metadata=ConsumerProtocolSubscription.decode(member.metadata),
        )
        for member in group.members
    ]
    answer = assignor().assign(_Cluster(group.partitions), members)
    return {member: dict(each.assigned_partitions) for member, each in answer.items()}


def _aiokafka() -> ClientLibrary:
    assignors = "aiokafka.coordinator.assignors"
    classes = {
        "range": f"{assignors}.range:RangePartitionAssignor",
        "roundrobin": f"{assignors}.roundrobin:RoundRobinPartitionAssignor",
        "sticky": f"{assignors}.sticky.sticky_assignor:StickyPartitionAssignor",
    }
    return _library("aiokafka", classes, _decided_by_aiokafka, Reporting())


def _decided_by_aiokafka(assignor: Any, group: LeaderInput) -> Answer:
    # As GroupCoordinator._perform_assignment does it.
    protocol = import_module("aiokafka.coordinator.protocol")
    members = {member.id: protocol.ConsumerProtocolMemberMetadata.decode(member.metadata) for member in group.members}
    answer = assignor.assign(_Cluster(group.partitions), members)
    return {member: dict(each.assignment) for member, each in answer.items()}


def _library(
    name: str, classes: Mapping[str, str], decide: Callable[[Any, LeaderInput], Answer], reporting: Reporting
) -> ClientLibrary:
    # Without a handler Python prints their warnings on standard error.
    logging.getLogger(classes["range"].partition(".")[0]).addHandler(logging.NullHandler())
    strategies = {}
    for strategy, place in classes.items():
        module, _, attribute = place.partition(":")
        strategies[strategy] = partial(decide, getattr(import_module(module), attribute))
    return ClientLibrary(name, version(name), strategies, reporting)


#: Name to a function that imports the library.
PYTHON_LIBRARIES: Mapping[str, Callable[[], ClientLibrary]] = {"kafka-python": _kafka_python, "aiokafka": _aiokafka}
