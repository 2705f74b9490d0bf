"""Names of the internal topics of Kafka Streams applications."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

__all__ = [
    "CHANGELOG",
    "REPARTITION",
    "internal_topics",
    "feeds_store",
    "is_internal_of",
    "is_of_foreign_keys",
    "is_of_longer_name",
    "prefix_of",
]

CHANGELOG, REPARTITION = "-changelog", "-repartition"
#: Between the two sides of a foreign-key join.
_NAMED_JOIN = ("-subscription-registration-topic", "-subscription-response-topic")
_REGISTRATION, _NAMED_STORE = "-subscription-registration-topic", "-subscription-store"
_JOIN = re.compile(r"KTABLE-FK-JOIN-SUBSCRIPTION-(?:REGISTRATION|RESPONSE)-[0-9]{10}-topic\Z")

_STORE_OF_JOIN = re.compile(r"KTABLE-FK-JOIN-SUBSCRIPTION-STATE-STORE-([0-9]{10})\Z")
_REGISTRATION_OF_JOIN = re.compile(r"KTABLE-FK-JOIN-SUBSCRIPTION-REGISTRATION-([0-9]{10})-topic\Z")


def prefix_of(application_id: str | None, topology_name: str | None = None) -> str:
    """Kafka: ``InternalTopologyBuilder#decorateTopic``, ``ProcessorStateManager#storeChangelogTopic``."""
    if application_id is None:
        return ""
    return f"{application_id}-" if topology_name is None else f"{application_id}-{topology_name}-"


def is_of_foreign_keys(topic: str) -> bool:
    """Kafka: ``KTableImpl#doJoinOnForeignKey``."""
    return topic.endswith(_NAMED_JOIN) or _JOIN.search(topic) is not None


def feeds_store(topic: str, store: str, others: Iterable[str] = ()) -> bool:
    """True if names show that a store is filled from an internal topic, both without the application id.

    Kafka gives a store and the repartition topic before it the same name. A foreign-key join's store and topic have the
    join's name or node numbers; a numbered store belongs to the next lower number. ``KTableImpl#doJoinOnForeignKey``,
    ``GroupedStreamAggregateBuilder``.
    """
    if topic in (store + REPARTITION, store.removesuffix(_NAMED_STORE) + _REGISTRATION):
        return store + REPARTITION == topic or store.endswith(_NAMED_STORE)
    number = _numbered(store, _STORE_OF_JOIN)
    if number is None:
        return False
    before = [
        at for each in (topic, *others) if (at := _numbered(each, _REGISTRATION_OF_JOIN)) is not None and at < number
    ]
    return bool(before) and _numbered(topic, _REGISTRATION_OF_JOIN) == max(before)


def _numbered(name: str, pattern: re.Pattern[str]) -> int | None:
    found = pattern.match(name)
    return None if found is None else int(found[1])


def internal_topics(topics: Iterable[str]) -> list[str]:
    """Of any application."""
    return [topic for topic in topics if topic.endswith((CHANGELOG, REPARTITION)) or is_of_foreign_keys(topic)]


def is_internal_of(topic: str, group: str, groups: Collection[str] = ()) -> bool:
    """The topics of *orders-eu* start with *orders-*, too: the longest group name that fits wins."""
    return bool(
        topic.startswith(f"{group}-") and internal_topics([topic]) and not is_of_longer_name(topic, group, groups)
    )


def is_of_longer_name(topic: str, group: str, groups: Collection[str]) -> bool:
    return any(topic.startswith(f"{other}-") for other in groups if other.startswith(f"{group}-"))
