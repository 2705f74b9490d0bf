"""Behaviour of Kafka itself that breaks a rule of the kit: by assignor and rule, with its reason."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["KAFKAS_OWN", "known_of"]

_SWINGING = (
    "KAFKA-21166: standbys of the brokers' sticky assignor swing between members when nothing but the epoch changes"
)
_HASH_ORDER = "Kafka's own: who was put into a hash map first decides between equal choices"
_UNEVEN = (
    "Kafka's own: tasks are walked in hash order, and who had a task is not always given it again where shares are "
    "uneven"
)

#: Assignor to rule to the reason.
KAFKAS_OWN: Mapping[str, Mapping[str, str]] = {
    "group_sticky": {"at rest": _SWINGING, "comes to rest": _SWINGING},
    "group_sticky_4_4": {"at rest": _SWINGING, "comes to rest": _SWINGING},
    "legacy_sticky": {"at rest": _UNEVEN, "any order": _HASH_ORDER},
    "sticky": {"at rest": _UNEVEN, "any order": _HASH_ORDER},
    "fallback_prior": {
        "comes to rest": "Kafka's own: it leaves everything where it is and asks for another rebalance, until lags are "
        "known",
        "any order": _HASH_ORDER,
    },
}


def known_of(name: str, distribution: str | None) -> Mapping[str, str]:
    """Rule to reason for an assignor; nothing for any that is not one of ours.

    Args:
        name: Name of the assignor.
        distribution: Distribution that it comes from.
    """
    return KAFKAS_OWN.get(name, {}) if distribution == "assignor-lab" else {}
