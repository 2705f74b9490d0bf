"""One round in dense numbers: what is asked, and what is answered.

Everything about jobs comes in pairs, connectors at index 0 and tasks at index 1; the two kinds are balanced and placed
apart and never added together.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Literal

import attrs

__all__ = ["KINDS", "Answer", "Problem", "StaticRules", "StaticScope"]

#: Indices of connectors and tasks.
KINDS = (0, 1)


@attrs.frozen
class StaticRules:
    """How KIP-987 is read where it leaves a choice. The defaults are this project's reading of it.

    Args:
        several_valid: Which of several workers that list a job gets it: the ``least_loaded`` of them (fewest jobs of
            that kind, then the smallest id), the one with the ``smallest_id``, or the ``first_member``.
        duplicates: A static job that two workers report: ``revoke_all``, as other jobs, or ``keep_one``: the listing
            owner with the smallest id goes on.
        moves_wait_for_delay: Steps 3 to 5 of the KIP wait while lost jobs wait.
        moves_count_for_backoff: Steps 3 to 5 count as revocations that are followed by a growing pause.
        lost_static_waits: A lost job that a present worker lists waits for its worker as other lost jobs do.
        lost_unlisted_waits: A lost job that only the departed worker listed waits likewise before it goes to the
            wildcard workers.
        keep_without_wildcards: Without any wildcard worker, static workers keep the wildcard jobs that they run.
        all_members_must_remain: "Nobody has left" is asked of all members, not only of the wildcard workers.
        forget_unplaced: Jobs that nobody may run are forgotten, so that they arm no delay later.
        balance_static: Jobs that several workers list are moved to even out those workers.
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
    """Who may run what (KIP-987).

    Args:
        listers: Per kind, configured job to the members that list it, ascending; jobs that nobody lists are missing.
        wildcards: Members without static assignments, ascending.
        rules: How the KIP is read.
    """

    listers: tuple[Mapping[int, Sequence[int]], Mapping[int, Sequence[int]]]
    wildcards: Sequence[int]
    rules: StaticRules = StaticRules()


@attrs.frozen
class Problem:
    """What the leader knows in one round.

    Args:
        members: Ids of the members; a member's number is its place here, the order in which Kafka iterates them.
        ranks: Place of each member in the order of ids.
        configured: Number of configured connectors and of configured tasks; the jobs are numbered from 0 in Kafka's
            order, and whatever a member reports beyond is not configured.
        owned: Per kind and member, what it reports, in its order, each once.
        now: Leader's clock, ms.
        generation: Number of this generation.
        last_completed: Number of the last generation that the leader completed.
        max_delay: Longest wait for a lost worker, ms.
        hash_order: Members in the order in which a Java hash set of them would be iterated.
        set_order: Some of a member's jobs of a kind, in the order in which Java iterates a hash set that copies all.
        quirks: Which of Kafka's quirks are kept: numbers 1 to 8.
        static: Who may run what; ``None``: everybody may run everything.
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
class Answer:
    """What each member is told.

    Args:
        assigned: Per kind and member, new jobs in the order in which they were given.
        revoked: Per kind and member, jobs to stop.
        delay: Until all join again, ms; 0 = not planned.
        unplaced: Per kind, jobs that nobody may run.
    """

    assigned: tuple[list[list[int]], list[list[int]]]
    revoked: tuple[list[list[int]], list[list[int]]]
    delay: int
    unplaced: tuple[list[int], list[int]]
