"""Deleted, duplicated, lost and new jobs at the beginning of a round.

Kafka: ``IncrementalCooperativeAssignor.performTaskAssignment``.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from builtin_assignors._connect_incremental_steps.history import NO_SETS, IncrementalHistory, JobSets, Waiting
from builtin_assignors._connect_incremental_steps.problem import KINDS, IncrementalProblem

__all__ = ["Findings", "detect", "recall"]


@attrs.frozen
class Findings:
    """Starting point of a round; per kind, sorted lists.

    Args:
        duplicated: Jobs that two members report.
        lost: Placed jobs that no member reports.
        created: Jobs that were never placed.
    """

    deleted: JobSets
    duplicated: JobSets
    lost: tuple[list[int], list[int]]
    created: tuple[list[int], list[int]]


def recall(problem: IncrementalProblem, history: IncrementalHistory) -> IncrementalHistory:
    """The reliable part of the history, given the last generation that the leading worker completed.

    If the generations do not match, Kafka forgets the placed jobs, and nothing else.
    """
    if problem.last_completed == history.generation:
        return history
    kept = attrs.evolve(history, previous=NO_SETS)
    somebody_else_led = problem.last_completed > history.generation
    if somebody_else_led and 5 not in problem.quirks:
        kept = attrs.evolve(kept, waiting=Waiting(), revoked=NO_SETS, members=frozenset(), destinations=({}, {}))
    if somebody_else_led and 8 not in problem.quirks:
        # The new leader assumes that the previous leader placed every configured job.
        placed = frozenset(range(problem.configured[0])), frozenset(range(problem.configured[1]))
        kept = attrs.evolve(kept, previous=placed, members=None)
    return kept


def detect(problem: IncrementalProblem, history: IncrementalHistory) -> Findings:
    """Compare the reported jobs with the configured and the placed ones."""
    active = tuple(frozenset[int]().union(*problem.owned[kind]) for kind in KINDS)
    previous = _undone_revocations(problem, history, active)
    found = [_detect_kind(problem, kind, previous[kind], active[kind]) for kind in KINDS]
    (deleted_c, twice_c, lost_c, new_c), (deleted_t, twice_t, lost_t, new_t) = found
    return Findings((deleted_c, deleted_t), (twice_c, twice_t), (lost_c, lost_t), (new_c, new_t))


def _undone_revocations(
    problem: IncrementalProblem, history: IncrementalHistory, active: Sequence[frozenset[int]]
) -> Sequence[frozenset[int]]:
    """Step 4: if a member still reports a revoked job, the last answer did not arrive."""
    if all(history.revoked[kind].isdisjoint(active[kind]) for kind in KINDS):
        return history.previous
    if 7 in problem.quirks:
        return active
    return [history.previous[kind] | active[kind] for kind in KINDS]


def _detect_kind(
    problem: IncrementalProblem, kind: int, previous: frozenset[int], active: frozenset[int]
) -> tuple[frozenset[int], frozenset[int], list[int], list[int]]:
    configured = problem.configured[kind]
    known = previous if 1 in problem.quirks else previous | active
    deleted = _beyond(known, configured)
    missing = previous - active
    lost = sorted(missing - deleted if deleted else missing)
    known = previous | active
    is_old = len(known) == configured and not _beyond(known, configured)
    created = [] if is_old else [job for job in range(configured) if job not in known]
    return deleted, _reported_twice(problem.owned[kind], active), lost, created


def _beyond(jobs: frozenset[int], configured: int) -> frozenset[int]:
    if max(jobs, default=-1) < configured:
        return frozenset()
    return frozenset([job for job in jobs if job >= configured])


def _reported_twice(owned: Sequence[Sequence[int]], active: frozenset[int]) -> frozenset[int]:
    if sum(map(len, owned)) == len(active):
        return frozenset()
    seen: set[int] = set()
    twice: set[int] = set()
    for jobs in owned:
        twice.update(seen.intersection(jobs))
        seen.update(jobs)
    return frozenset(twice)
