"""The two other sources beside a description: the members of a group, and its brokers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

import attrs

from assignment_api.streams import TaskId
from assignor_lab.capture.topology.description import SubTopologyKey
from assignor_lab.capture.topology.group_topology import TopicLookup

__all__ = ["Brokers", "Ends", "Members", "reuses_sources"]

Ends = Callable[[Iterable[tuple[str, int]]], Mapping[tuple[str, int], int]]


@attrs.frozen
class Members:
    """The members' subscriptions, assignments and offset sums.

    Args:
        tasks: All tasks of the group.
        sources: Sub-topology to the topics that its tasks were seen to read, sorted.
        subscribed: All topics that members subscribe; empty if that is unknown.
        logged: Sub-topologies whose tasks certainly have a changelog, or certainly have none.
        silent: Sub-topologies of which members ran tasks and reported no offset sum.
        sums: Task to the offset sums of members that do not run it.
    """

    tasks: tuple[TaskId, ...]
    sources: Mapping[SubTopologyKey, tuple[str, ...]] = attrs.field(factory=dict)
    subscribed: frozenset[str] = frozenset()
    logged: Mapping[SubTopologyKey, bool] = attrs.field(factory=dict)
    silent: frozenset[SubTopologyKey] = frozenset()
    sums: Mapping[TaskId, tuple[int, ...]] = attrs.field(factory=dict)


@attrs.frozen
class Brokers:
    """The topics of a cluster.

    Args:
        topic: A topic by its name, or ``None``: there is none, or it may not be seen.
        names: Names of all topics that may be seen; empty if no broker was asked.
        groups: All groups that are known.
        ends: Ends of partitions, of those that are known.
    """

    topic: TopicLookup = lambda _: None
    names: frozenset[str] = frozenset()
    groups: Collection[str] = ()
    ends: Ends = lambda _: {}

    def has(self, topic: str, partitions: int) -> bool:
        """Whether a topic has at least so many partitions."""
        found = self.topic(topic) if topic in self.names else None
        return found is not None and found.partitions >= partitions

    def see(self, members: Members) -> bool:
        """Whether a topic that is not among the names does not exist: all that members read are among them."""
        read = {topic for topics in members.sources.values() for topic in topics}
        return bool(self.names) and read <= self.names


def reuses_sources(optimization: str | None) -> bool | None:
    """Whether ``topology.optimization`` has tables read their source topics back; ``None``: it is not known.

    Kafka: ``StreamsConfig#verifyTopologyOptimizationConfigs``.
    """
    if optimization is None:
        return None
    named = {each.strip() for each in optimization.strip("[]").split(",")}
    return bool(named & {"all", "reuse.ktable.source.topics"})
