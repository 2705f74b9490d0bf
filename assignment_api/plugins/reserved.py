"""Names of this project and Kafka, reserved for them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

__all__ = [
    "BUILTIN_DISTRIBUTION",
    "DEFAULT_TASK_ASSIGNOR",
    "KAFKA_CONNECT_ASSIGNORS",
    "KAFKA_TASK_ASSIGNORS",
    "OWN_PACKAGES",
    "PARTITION_ASSIGNORS",
    "RESERVED_NAMES",
    "canonical_name",
    "is_kafka_class",
    "is_reserved",
]

#: The only one with reserved names.
BUILTIN_DISTRIBUTION = "assignor-lab"

#: Its packages: metadata can claim any name, so code elsewhere is not ours.
OWN_PACKAGES: tuple[str, ...] = ("assignment_api", "builtin_assignors", "assignor_lab", "connect_workers")

#: As in Kafka.
DEFAULT_TASK_ASSIGNOR = "high_availability"

_PUBLIC = "org.apache.kafka.streams.processor.assignment.assignors."
_INTERNAL = "org.apache.kafka.streams.processor.internals.assignment."

#: Kafka's to ours. ``internals.assignment.StickyTaskAssignor``: the legacy one's name before Kafka 3.8.
KAFKA_TASK_ASSIGNORS: Mapping[str, str] = {
    _PUBLIC + "StickyTaskAssignor": "sticky",
    _INTERNAL + "HighAvailabilityTaskAssignor": "high_availability",
    _INTERNAL + "LegacyStickyTaskAssignor": "legacy_sticky",
    _INTERNAL + "FallbackPriorTaskAssignor": "fallback_prior",
    _INTERNAL + "StickyTaskAssignor": "legacy_sticky",
    # Simple names refer to the first entry above with them.
    "StickyTaskAssignor": "sticky",
    "HighAvailabilityTaskAssignor": "high_availability",
    "LegacyStickyTaskAssignor": "legacy_sticky",
    "FallbackPriorTaskAssignor": "fallback_prior",
}

_CONNECT = "org.apache.kafka.connect.runtime.distributed."

#: Kafka's to ours.
KAFKA_CONNECT_ASSIGNORS: Mapping[str, str] = {
    _CONNECT + "EagerAssignor": "connect_eager",
    _CONNECT + "IncrementalCooperativeAssignor": "connect_incremental",
    "EagerAssignor": "connect_eager",
    "IncrementalCooperativeAssignor": "connect_incremental",
}

#: Of built-ins, present and planned, and words with another meaning.
RESERVED_NAMES: tuple[str, ...] = (
    *("high_availability", "default", "sticky", "legacy_sticky", "fallback_prior", "rack_aware", "static"),
    *("connect_eager", "connect_incremental", "connect_static", "group_sticky"),
    *("consumer_range", "consumer_roundrobin", "consumer_sticky", "consumer_cooperative_sticky"),
    *("consumer_group_range", "consumer_group_uniform", "share_simple"),
    *("sticky_4_4", "group_sticky_4_4"),
    *("java", "kafka", "observed", "plugins", "threads", "utils", "identity", "validate"),
    *(name for name in (*KAFKA_TASK_ASSIGNORS, *KAFKA_CONNECT_ASSIGNORS) if "." not in name),
)

#: Kinds of assignors for consumer groups and share groups.
PARTITION_ASSIGNORS: tuple[str, ...] = ("consumer-assignor", "consumer-group-assignor", "share-group-assignor")

_SEPARATORS = re.compile(r"[-_.]+")


@lru_cache(maxsize=256)
def canonical_name(name: str) -> str:
    """For comparisons: lower case, one ``-`` for separators (PEP 503)."""
    return _SEPARATORS.sub("-", name).lower()


_RESERVED = frozenset(canonical_name(name) for name in RESERVED_NAMES)


def is_reserved(name: str) -> bool:
    """True for the built-ins' names, in any spelling."""
    return canonical_name(name) in _RESERVED


def is_kafka_class(name: str) -> bool:
    """True for Kafka's Java packages."""
    return name.lower().startswith("org.apache.kafka.")
