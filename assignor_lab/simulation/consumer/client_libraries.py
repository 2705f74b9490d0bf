"""Rules of client libraries in a classic group, as far as they differ from Java's.

Read from librdkafka 2.16 (``rdkafka_cgrp.c``), kafka-python 3.0 (``coordinator``) and aiokafka 0.14
(``consumer/group_coordinator.py``).
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

__all__ = ["JAVA", "LIBRARIES_WITH_RULES", "LibraryRules", "rules_of"]


@attrs.frozen
class LibraryRules:
    """Rules of a library.

    Args:
        all_watch: Each member rejoins if its own metadata shows that a subscribed topic has changed; in Java, the
            leader alone. The coordinator begins no rebalance for a follower with an unchanged subscription.
        leader_asks: The leader requests new metadata before it decides; in Java, it decides by those that it has.
        is_renewed: The leader requests new metadata after it has decided, and rejoins if they differ.
        beats_restart: A join begins a new heartbeat interval. Otherwise the intervals go on. A heartbeat that became
            due during the rebalance, such as the first one of a member, leaves with the assignment. The join of a
            member that has revoked partitions may arrive before it.
        late_ms: Most time by which a heartbeat is late.
        joins_in_background: A cooperative member joins outside of its poll loop.
        looks_ms: Interval at which ``max.poll.interval.ms`` is checked; ``None``: at each heartbeat.
    """

    all_watch: bool = False
    leader_asks: bool = False
    is_renewed: bool = False
    beats_restart: bool = True
    #: The heartbeat thread looks each ``retry.backoff.ms``.
    late_ms: int = 100
    joins_in_background: bool = False
    looks_ms: int | None = 100


JAVA = LibraryRules()
LIBRARIES_WITH_RULES: Mapping[str, LibraryRules] = {
    "librdkafka": LibraryRules(
        all_watch=True, leader_asks=True, beats_restart=False, late_ms=5, joins_in_background=True, looks_ms=500
    ),
    "kafka-python": LibraryRules(is_renewed=True, looks_ms=None),
    "aiokafka": LibraryRules(all_watch=True, looks_ms=0),
}


def rules_of(library: str | None) -> LibraryRules:
    """The rules of a library; Java's of an unknown one."""
    return LIBRARIES_WITH_RULES.get(library or "", JAVA)
