"""Input and output of one round, in dense numbers.

All job data comes in pairs: connectors at index 0, tasks at index 1. The two kinds are balanced and placed separately
and never added together.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Literal

import attrs

__all__ = ["KINDS", "IncrementalAnswer", "IncrementalProblem", "StaticRules", "StaticScope"]

#: Indices of connectors and tasks.
KINDS = (0, 1)


@attrs.frozen
class StaticRules:
    """Reading of KIP-987 where it leaves a choice. The defaults are this project's reading.

    Args:
        several_valid: Worker for a job that several workers list: the ``least_loaded`` one (fewest jobs of that kind,
            then smallest id), the one with the ``smallest_id``, or the ``first_member``.
        duplicates: Treatment of a static job that two workers report: ``revoke_all``, as other jobs, or ``keep_one``:
            the listing owner with the smallest id keeps it.
        moves_wait_for_delay: Steps 3 to 5 of the KIP wait while lost jobs wait.
        moves_count_for_backoff: Steps 3 to 5 count as revocations that are followed by a growing pause.
        lost_static_waits: A lost job that a present worker lists waits for its worker like other lost jobs.
        lost_unlisted_waits: A lost job that only the departed worker listed waits in the same way before it goes to the
            wildcard workers.
        keep_without_wildcards: Without any wildcard worker, static workers keep the wildcard jobs that they run.
        all_members_must_remain: "No worker has left" covers all members, not only the wildcard workers.
        forget_unplaced: Jobs that no worker may run are forgotten, so that they cause no delay later.
        balance_static: Jobs that several workers list are moved to balance those workers.
    """

    several_valid: Literal["least_loaded", "smallest_id", "first_member"] = "least_loaded"
    duplicates: Literal["revoke_all", "keep_one"] = "revoke_all"
    moves_wait_for_delay: bool = False
    moves_count_for_backoff: bool = False
    lost_static_waits: bool = False
    lost_unlisted_waits: bool = True
    keep_without_wildcards: bool = False
    all_members_must_remain: bool = True
    forget_unplaced: bool = True
    balance_static: bool = False


@attrs.frozen
class StaticScope:
    """Jobs that each member may run (KIP-987).

    Args:
        listers: Per kind, configured job to the members that list it, ascending; unlisted jobs are missing.
        wildcards: Members without static assignments, ascending.
        rules: Reading of the KIP.
    """

    listers: tuple[Mapping[int, Sequence[int]], Mapping[int, Sequence[int]]]
    wildcards: Sequence[int]
    rules: StaticRules = StaticRules()


@attrs.frozen
class IncrementalProblem:
    """The leader's knowledge in one round.

    Args:
        members: Ids of the members, in Kafka's order of iteration; a member's number is its index here.
        ranks: Rank of each member in the order of ids.
        configured: Number of configured connectors and of configured tasks. They are numbered from 0 in Kafka's order;
            a higher number is a reported job that is not configured.
        owned: Per kind and member, the reported jobs in their order, each once.
        set_order: Function that orders some of a member's jobs of a kind like a Java hash set copied from all of them.
        quirks: Kafka's quirks to keep: numbers 1 to 8.
        static: Jobs that each member may run; ``None``: no limits.
    """

    members: Sequence[str]
    ranks: Sequence[int]
    configured: tuple[int, int]
    owned: tuple[Sequence[Sequence[int]], Sequence[Sequence[int]]]
    now: int
    generation: int
    last_completed: int
    max_delay: int
    hash_order: Callable[[Sequence[int]], Sequence[int]]
    set_order: Callable[[int, Sequence[int], Collection[int]], Sequence[int]]
    quirks: frozenset[int]
    static: StaticScope | None = None


@attrs.frozen
class IncrementalAnswer:
    """Result of a round."""

    assigned: tuple[list[list[int]], list[list[int]]]
    revoked: tuple[list[list[int]], list[list[int]]]
    delay: int
    unplaced: tuple[list[int], list[int]]
