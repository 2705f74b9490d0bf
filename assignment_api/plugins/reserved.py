"""Names that belong to this project or to Kafka: no other distribution may use one."""

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
    "RESERVED_NAMES",
    "canonical_name",
    "is_kafka_class",
    "is_reserved",
]

#: The distribution of the built-ins, and the only one that may use reserved names.
BUILTIN_DISTRIBUTION = "assignor-lab"

#: Packages of that distribution. Metadata can contain any name: code outside these packages is not ours.
OWN_PACKAGES: tuple[str, ...] = ("assignment_api", "builtin_assignors", "assignor_lab", "connect_workers")

#: Default assignor, as in Kafka.
DEFAULT_TASK_ASSIGNOR = "high_availability"

_PUBLIC = "org.apache.kafka.streams.processor.assignment.assignors."
_INTERNAL = "org.apache.kafka.streams.processor.internals.assignment."

#: Kafka's task assignors to ours. ``internals.assignment.StickyTaskAssignor`` was the name of the legacy one before
#: Kafka 3.8.
KAFKA_TASK_ASSIGNORS: Mapping[str, str] = {
    _PUBLIC + "StickyTaskAssignor": "sticky",
    _INTERNAL + "HighAvailabilityTaskAssignor": "high_availability",
    _INTERNAL + "LegacyStickyTaskAssignor": "legacy_sticky",
    _INTERNAL + "FallbackPriorTaskAssignor": "fallback_prior",
    _INTERNAL + "StickyTaskAssignor": "legacy_sticky",
    # Simple names, as people write them; each refers to the first entry above with this simple name.
    "StickyTaskAssignor": "sticky",
    "HighAvailabilityTaskAssignor": "high_availability",
    "LegacyStickyTaskAssignor": "legacy_sticky",
    "FallbackPriorTaskAssignor": "fallback_prior",
}

_CONNECT = "org.apache.kafka.connect.runtime.distributed."

#: Kafka's assignors of Connect to ours.
KAFKA_CONNECT_ASSIGNORS: Mapping[str, str] = {
    _CONNECT + "EagerAssignor": "connect_eager",
    _CONNECT + "IncrementalCooperativeAssignor": "connect_incremental",
    "EagerAssignor": "connect_eager",
    "IncrementalCooperativeAssignor": "connect_incremental",
}

#: Names of built-ins, present and planned, and words with another meaning in place of an assignor's name.
RESERVED_NAMES: tuple[str, ...] = (
    *("high_availability", "default", "sticky", "legacy_sticky", "fallback_prior", "rack_aware", "static"),
    *("connect_eager", "connect_incremental", "connect_static", "group_sticky"),
    *("java", "kafka", "observed", "plugins", "threads", "utils", "identity", "validate"),
    *(name for name in (*KAFKA_TASK_ASSIGNORS, *KAFKA_CONNECT_ASSIGNORS) if "." not in name),
)

_SEPARATORS = re.compile(r"[-_.]+")


@lru_cache(maxsize=256)
def canonical_name(name: str) -> str:
    """Name of a plugin or distribution for comparisons: lower case, one ``-`` for separators.

    For distributions this is the normalised name of PEP 503.
    """
    return _SEPARATORS.sub("-", name).lower()


_RESERVED = frozenset(canonical_name(name) for name in RESERVED_NAMES)


def is_reserved(name: str) -> bool:
    """True if only the built-ins' distribution may use ``name``, in any spelling such as ``High-Availability``."""
    return canonical_name(name) in _RESERVED


def is_kafka_class(name: str) -> bool:
    """True if ``name`` is in Kafka's own Java packages."""
    return name.lower().startswith("org.apache.kafka.")
