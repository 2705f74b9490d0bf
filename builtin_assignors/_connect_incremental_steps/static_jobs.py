"""Static jobs: the steps of KIP-987 before and after Kafka's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from builtin_assignors._connect_incremental_steps.detection import Findings
from builtin_assignors._connect_incremental_steps.draft import Draft
from builtin_assignors._connect_incremental_steps.problem import KINDS, IncrementalProblem, StaticScope

__all__ = ["evened_out", "kept_duplicates", "misplaced", "taker_of"]


def misplaced(problem: IncrementalProblem, scope: StaticScope, draft: Draft) -> list[list[set[int]]]:
    """Per kind and member, the jobs that it must not run: steps 3 to 5 of the KIP.

    These are static jobs on wildcard workers or on workers that do not list them, and wildcard jobs on static workers.
    """
    if len(scope.wildcards) == len(problem.members):
        return [[], []]
    wildcards = frozenset(scope.wildcards)
    wild_jobs_stay = scope.rules.keep_without_wildcards and not wildcards
    found: list[list[set[int]]] = []
    for kind in KINDS:
        listers = scope.listers[kind]
        found.append([])
        for member in range(len(problem.members)):
            wrong: set[int] = set()
            for job in draft.kept[kind][member]:
                by = listers.get(job)
                if by is None:
                    if member not in wildcards and not wild_jobs_stay:
                        wrong.add(job)
                elif member not in by:
                    wrong.add(job)
            found[kind].append(wrong)
    return found


def kept_duplicates(problem: IncrementalProblem, scope: StaticScope, findings: Findings) -> list[dict[int, int]]:
    """Per kind, duplicated job to the listing owner that keeps it; empty unless the rules keep one."""
    keepers: list[dict[int, int]] = [{}, {}]
    if scope.rules.duplicates == "revoke_all":
        return keepers
    for kind in KINDS:
        for job in findings.duplicated[kind] - findings.deleted[kind]:
            owners = [member for member in scope.listers[kind].get(job, ()) if job in problem.owned[kind][member]]
            if owners:
                keepers[kind][job] = min(owners, key=problem.ranks.__getitem__)
    return keepers


def taker_of(
    problem: IncrementalProblem, scope: StaticScope, draft: Draft, kind: int, job: int, destinations: Mapping[int, str]
) -> int:
    """The member for an unassigned static job: step 6 of the KIP, which leaves the choice open."""
    listers = scope.listers[kind][job]
    wanted = destinations.get(job)
    for member in listers:
        if problem.members[member] == wanted:
            return member
    if scope.rules.several_valid == "first_member":
        return listers[0]
    if scope.rules.several_valid == "smallest_id":
        return min(listers, key=problem.ranks.__getitem__)
    return min(listers, key=lambda member: (draft.size(kind, member), problem.ranks[member]))


def evened_out(problem: IncrementalProblem, scope: StaticScope, draft: Draft, kind: int) -> dict[int, tuple[int, int]]:
    """Moves between listing members: static job to its present and its new member.

    Each move reduces the difference between two members, until no move does. Empty unless the rules balance static
    jobs.
    """
    moves: dict[int, tuple[int, int]] = {}
    if not scope.rules.balance_static:
        return moves
    sizes = draft.sizes(kind)
    holders = {
        job: member
        for member in range(len(problem.members))
        for job in draft.kept[kind][member]
        if len(scope.listers[kind].get(job, ())) > 1
    }
    moved = True
    while moved:
        moved = False
        for job, holder in holders.items():
            lightest = _lightest(scope.listers[kind][job], sizes, problem.ranks)
            if sizes[holder] - sizes[lightest] < 2:
                continue
            origin = moves[job][0] if job in moves else holder
            moves[job] = (origin, lightest)
            sizes[holder] -= 1
            sizes[lightest] += 1
            holders[job] = lightest
            moved = True
    return {job: (origin, target) for job, (origin, target) in moves.items() if origin != target}


def _lightest(members: Sequence[int], sizes: Sequence[int], ranks: Sequence[int]) -> int:
    return min(members, key=lambda member: (sizes[member], ranks[member]))
