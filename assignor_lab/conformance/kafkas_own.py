"""Behaviour of Kafka itself that breaks a rule of the kit: by assignor and rule, with its reason."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["KAFKAS_OWN", "known_of"]

_SWINGING = (
    "KAFKA-21166: standbys of the brokers' sticky assignor swing between members when nothing but the epoch changes"
)
_TAKEN_BACK = (
    "Kafka's own: what was lost is given to a worker when the delay is over and, for balance, taken back in the same "
    "answer"
)
_UNEVEN = (
    "Kafka's own: tasks are walked in hash order, and who had a task is not always given it again where shares are "
    "uneven"
)

#: Assignor to rule to the reason.
KAFKAS_OWN: Mapping[str, Mapping[str, str]] = {
    "connect_incremental": {"nothing in vain": _TAKEN_BACK},
    "connect_static": {"nothing in vain": _TAKEN_BACK},
    "group_sticky": {"at rest": _SWINGING},
    "group_sticky_4_4": {"at rest": _SWINGING},
    "legacy_sticky": {"at rest": _UNEVEN},
    "sticky": {"at rest": _UNEVEN},
    "fallback_prior": {"comes to rest": "Kafka's own: it leaves everything where it is and asks for another rebalance"},
}


def known_of(name: str, distribution: str | None) -> Mapping[str, str]:
    """Rule to reason for an assignor; nothing for any that is not one of ours.

    Args:
        name: Name of the assignor.
        distribution: Distribution that it comes from.
    """
    return KAFKAS_OWN.get(name, {}) if distribution == "assignor-lab" else {}
