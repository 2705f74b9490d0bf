"""The unfinished assignment of a round."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from builtin_assignors._connect_incremental_steps.problem import KINDS, IncrementalProblem

__all__ = ["Draft"]

_Lists = tuple[list[list[int]], list[list[int]]]


class Draft:
    """Jobs that each member keeps, receives and gives up, per kind; lists keep the order of the reports."""

    __slots__ = ("_before_moves", "given", "kept", "revoked")

    def __init__(self, problem: IncrementalProblem) -> None:
        self.kept: _Lists = ([list(jobs) for jobs in problem.owned[0]], [list(jobs) for jobs in problem.owned[1]])
        self.given: _Lists = ([[] for _ in problem.members], [[] for _ in problem.members])
        self.revoked: _Lists = ([[] for _ in problem.members], [[] for _ in problem.members])
        self._before_moves: tuple[_Lists, _Lists] | None = None

    def size(self, kind: int, member: int) -> int:
        """Number of jobs of one kind that a member has after the round."""
        return len(self.kept[kind][member]) + len(self.given[kind][member])

    def sizes(self, kind: int) -> list[int]:
        return [len(kept) + len(given) for kept, given in zip(self.kept[kind], self.given[kind], strict=True)]

    def is_idle(self, member: int) -> bool:
        return self.size(0, member) == 0 and self.size(1, member) == 0

    def revoke(self, kind: int, member: int, jobs: Collection[int], order: Sequence[int] | None = None) -> None:
        """Take those of ``jobs`` that a member has away from it, in ``order`` (default: order of its report)."""
        if not jobs:
            return
        for job in self.kept[kind][member] if order is None else order:
            if job in jobs:
                self.revoked[kind][member].append(job)
        self.kept[kind][member] = [job for job in self.kept[kind][member] if job not in jobs]

    def revoke_first(self, kind: int, member: int, number: int) -> None:
        """Take the first jobs from a member; if it keeps fewer, also jobs that it received in this round."""
        if number <= 0:
            return
        kept, given = self.kept[kind][member], self.given[kind][member]
        of_given = max(0, number - len(kept))
        self.revoked[kind][member].extend([*kept[:number], *given[:of_given]])
        del kept[:number]
        del given[:of_given]

    def give(self, kind: int, jobs: Iterable[int], takers: Iterable[int]) -> None:
        for job, member in zip(jobs, takers, strict=True):
            self.given[kind][member].append(job)

    def move_away(self, misplaced: Sequence[Sequence[Collection[int]]]) -> bool:
        """Revoke, per kind and member, the misplaced jobs; :meth:`undo_moves` reverses this.

        Returns:
            True if there were any.
        """
        if not any(jobs for kind in KINDS for jobs in misplaced[kind]):
            return False
        self._before_moves = (_copied(self.kept), _copied(self.revoked))
        for kind in KINDS:
            for member, jobs in enumerate(misplaced[kind]):
                self.revoke(kind, member, jobs)
        return True

    def undo_moves(self) -> None:
        """Leave misplaced jobs where they are for now. No kept job may have been revoked since."""
        if self._before_moves is not None:
            self.kept, self.revoked = self._before_moves
            self._before_moves = None

    def placed(self, kind: int) -> frozenset[int]:
        """Jobs of one kind that a member has after the round and need not stop."""
        placed = frozenset[int]().union(*self.kept[kind], *self.given[kind])
        revoked = self.all_revoked(kind)
        return placed - revoked if revoked else placed

    def all_revoked(self, kind: int) -> frozenset[int]:
        """Jobs of one kind that any member must stop."""
        return frozenset[int]().union(*self.revoked[kind])


def _copied(lists: _Lists) -> _Lists:
    return ([list(jobs) for jobs in lists[0]], [list(jobs) for jobs in lists[1]])
