"""Internal topics of applications: whose they are, where one application's name begins with another's."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from assignor_lab.capture.recorded.broker_answers import ClusterAnswer

__all__ = ["internal_topics", "is_internal_of", "without_others"]

_INTERNAL = ("-changelog", "-repartition")


def internal_topics(topics: Iterable[str]) -> list[str]:
    """Those that some application has made for itself, by their names."""
    return [topic for topic in topics if topic.endswith(_INTERNAL)]


def is_internal_of(topic: str, group: str, groups: Collection[str] = ()) -> bool:
    """Whether a topic is one that an application has made for itself.

    Such topics are called after the application: those of *orders-eu* begin with *orders-*, too.

    Args:
        topic: The topic.
        group: The application's group.
        groups: All groups that are known: a topic is that of the longest name that fits.
    """
    if not (topic.startswith(f"{group}-") and topic.endswith(_INTERNAL)):
        return False
    return not any(topic.startswith(f"{other}-") for other in groups if other.startswith(f"{group}-"))


def without_others(cluster: ClusterAnswer, group: str, groups: Collection[str]) -> ClusterAnswer:
    """A cluster without the internal topics of applications whose names begin with that of ``group``."""
    kept = {
        topic: partitions
        for topic, partitions in cluster.topics.items()
        if not is_internal_of(topic, group) or is_internal_of(topic, group, groups)
    }
    return ClusterAnswer(cluster.racks, kept)
