"""Known behaviours of Kafka that break a rule of the kit, by assignor and rule, with the reason."""

from __future__ import annotations

from collections.abc import Mapping

from assignor_lab.runtime.java.naming import java_name

__all__ = ["KNOWN_BEHAVIOURS", "known_of"]

_SWINGING = (
    "KAFKA-21166: standbys of the brokers' sticky assignor swing between members when nothing but the epoch changes"
)
_TAKEN_BACK = (
    "Kafka's own: lost jobs are given to a worker when the delay is over and, for balance, taken back in the same "
    "answer"
)
_UNEVEN = (
    "Kafka's own: tasks are assigned in hash order, and the previous owner of a task does not always keep it if "
    "shares are uneven"
)

_OTHER_RACK = (
    "Kafka's own: with racks, a member loses a partition of another rack in every rebalance, and the next member with "
    "room gets it"
)

#: Assignor to rule to the reason.
KNOWN_BEHAVIOURS: Mapping[str, Mapping[str, str]] = {
    "consumer_sticky": {"at rest": _OTHER_RACK},
    "consumer_cooperative_sticky": {"at rest": _OTHER_RACK},
    "connect_incremental": {"nothing in vain": _TAKEN_BACK},
    "connect_static": {"nothing in vain": _TAKEN_BACK},
    "group_sticky": {"at rest": _SWINGING, "comes to rest": _SWINGING},
    "group_sticky_4_4": {"at rest": _SWINGING},
    "legacy_sticky": {"at rest": _UNEVEN, "comes to rest": _UNEVEN},
    "sticky": {"at rest": _UNEVEN, "comes to rest": _UNEVEN},
    "fallback_prior": {"comes to rest": "Kafka's own: it leaves every task in place and requests another rebalance"},
}


#: Kafka's public classes to their ports.
_PORTS = {"org.apache.kafka.streams.processor.assignment.assignors.StickyTaskAssignor": "sticky"}


def known_of(name: str, distribution: str | None) -> Mapping[str, str]:
    """Rule to reason for a built-in, or a Java class of Kafka; empty for assignors of others."""
    java = java_name(name)
    if java is not None:
        return KNOWN_BEHAVIOURS.get(_PORTS.get(java.class_name, ""), {})
    return KNOWN_BEHAVIOURS.get(name.partition("@")[0], {}) if distribution == "assignor-lab" else {}
