"""Names of the topics that applications of Kafka Streams make for themselves."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

__all__ = [
    "CHANGELOG",
    "REPARTITION",
    "internal_topics",
    "is_internal_of",
    "is_of_foreign_keys",
    "is_of_longer_name",
    "prefix_of",
]

CHANGELOG, REPARTITION = "-changelog", "-repartition"
#: Ends of the topics between the two sides of a foreign-key join: of named joins, and of others.
_NAMED_JOIN = ("-subscription-registration-topic", "-subscription-response-topic")
_JOIN = re.compile(r"KTABLE-FK-JOIN-SUBSCRIPTION-(?:REGISTRATION|RESPONSE)-[0-9]{10}-topic\Z")


def prefix_of(application_id: str | None, topology_name: str | None = None) -> str:
    """Beginning of the names of an application's internal topics; without an application id it is empty.

    Kafka: ``InternalTopologyBuilder#decorateTopic``, ``ProcessorStateManager#storeChangelogTopic``.
    """
    if application_id is None:
        return ""
    return f"{application_id}-" if topology_name is None else f"{application_id}-{topology_name}-"


def is_of_foreign_keys(topic: str) -> bool:
    """Whether a topic has the name of one between the two sides of a foreign-key join.

    Kafka: ``KTableImpl#doJoinOnForeignKey``.
    """
    return topic.endswith(_NAMED_JOIN) or _JOIN.search(topic) is not None


def internal_topics(topics: Iterable[str]) -> list[str]:
    """Those that some application has made for itself, by their names."""
    return [topic for topic in topics if topic.endswith((CHANGELOG, REPARTITION)) or is_of_foreign_keys(topic)]


def is_internal_of(topic: str, group: str, groups: Collection[str] = ()) -> bool:
    """Whether a topic is one that an application has made for itself.

    Such topics are called after the application: those of *orders-eu* begin with *orders-*, too.

    Args:
        topic: The topic.
        group: The application's group.
        groups: All groups that are known: a topic is that of the longest name that fits.
    """
    return bool(
        topic.startswith(f"{group}-") and internal_topics([topic]) and not is_of_longer_name(topic, group, groups)
    )


def is_of_longer_name(topic: str, group: str, groups: Collection[str]) -> bool:
    """Whether a topic's name begins with that of another group, whose name begins with that of ``group``."""
    return any(topic.startswith(f"{other}-") for other in groups if other.startswith(f"{group}-"))
