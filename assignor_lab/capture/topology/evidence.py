"""Sources of a topology besides a description."""

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
        sources: Topics that its tasks read, sorted.
        subscribed: Empty if unknown.
        logged: Certainly with a changelog, or certainly without.
        silent: Members ran their tasks without an offset sum.
        sums: Of members that do not run the task.
        restored: Store to its changelog; ``None``: from two.
    """

    tasks: tuple[TaskId, ...]
    sources: Mapping[SubTopologyKey, tuple[str, ...]] = attrs.field(factory=dict)
    subscribed: frozenset[str] = frozenset()
    logged: Mapping[SubTopologyKey, bool] = attrs.field(factory=dict)
    silent: frozenset[SubTopologyKey] = frozenset()
    sums: Mapping[TaskId, tuple[int, ...]] = attrs.field(factory=dict)
    restored: Mapping[str, str | None] = attrs.field(factory=dict)


@attrs.frozen
class Brokers:
    """The topics of a cluster.

    Args:
        topic: ``None``: missing or invisible.
        names: All visible topics; empty without a broker.
    """

    topic: TopicLookup = lambda _: None
    names: frozenset[str] = frozenset()
    groups: Collection[str] = ()
    ends: Ends = lambda _: {}

    def has(self, topic: str, partitions: int) -> bool:
        found = self.topic(topic) if topic in self.names else None
        return found is not None and found.partitions >= partitions

    def existing_ends(self, partitions: Iterable[tuple[str, int]]) -> Mapping[tuple[str, int], int]:
        """Brokers refuse a request with a missing partition."""

        def may_exist(topic: str, number: int) -> bool:
            found = self.topic(topic)
            return not self.names if found is None else number < found.partitions

        return self.ends([each for each in partitions if may_exist(*each)])

    def see(self, members: Members) -> bool:
        """True if all topics of the members are in ``names``: other topics do not exist."""
        read = {topic for topics in members.sources.values() for topic in topics}
        return bool(self.names) and read <= self.names


def reuses_sources(optimization: str | None) -> bool | None:
    """Kafka: ``StreamsConfig#verifyTopologyOptimizationConfigs``."""
    if optimization is None:
        return None
    named = {each.strip() for each in optimization.strip("[]").split(",")}
    return bool(named & {"all", "reuse.ktable.source.topics"})
