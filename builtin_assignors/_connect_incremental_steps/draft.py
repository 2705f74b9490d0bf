"""The assignment of a round while it is being made."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from builtin_assignors._connect_incremental_steps.problem import KINDS, Problem

__all__ = ["Draft"]

_Lists = tuple[list[list[int]], list[list[int]]]


class Draft:
    """What each member keeps, gets and gives up, per kind; lists keep the order in which members reported.

    Attributes:
        kept: Jobs that a member goes on with.
        given: Jobs that it gets.
        revoked: Jobs that it has to stop; with quirk Q2 some that it was just given.
    """

    __slots__ = ("_before_moves", "given", "kept", "revoked")

    def __init__(self, problem: Problem) -> None:
        self.kept: _Lists = ([list(jobs) for jobs in problem.owned[0]], [list(jobs) for jobs in problem.owned[1]])
        self.given: _Lists = ([[] for _ in problem.members], [[] for _ in problem.members])
        self.revoked: _Lists = ([[] for _ in problem.members], [[] for _ in problem.members])
        self._before_moves: tuple[_Lists, _Lists] | None = None

    def size(self, kind: int, member: int) -> int:
        """Jobs of one kind that a member has, or will have."""
        return len(self.kept[kind][member]) + len(self.given[kind][member])

    def sizes(self, kind: int) -> list[int]:
        """Likewise of each member."""
        return [len(kept) + len(given) for kept, given in zip(self.kept[kind], self.given[kind], strict=True)]

    def is_idle(self, member: int) -> bool:
        """Whether a member has no job of either kind."""
        return self.size(0, member) == 0 and self.size(1, member) == 0

    def revoke(self, kind: int, member: int, jobs: Collection[int], order: Sequence[int] | None = None) -> None:
        """Takes ``jobs`` from a member that has some of them; in ``order``, or that in which it reported."""
        if not jobs:
            return
        for job in self.kept[kind][member] if order is None else order:
            if job in jobs:
                self.revoked[kind][member].append(job)
        self.kept[kind][member] = [job for job in self.kept[kind][member] if job not in jobs]

    def revoke_first(self, kind: int, member: int, number: int) -> None:
        """Takes the first jobs from a member; where it does not hold as many, of those that it was just given."""
        if number <= 0:
            return
        kept, given = self.kept[kind][member], self.given[kind][member]
        of_given = max(0, number - len(kept))
        self.revoked[kind][member].extend([*kept[:number], *given[:of_given]])
        del kept[:number]
        del given[:of_given]

    def give(self, kind: int, jobs: Iterable[int], takers: Iterable[int]) -> None:
        """Gives each job to the taker at the same place."""
        for job, member in zip(jobs, takers, strict=True):
            self.given[kind][member].append(job)

    def move_away(self, misplaced: Sequence[Sequence[Collection[int]]]) -> bool:
        """Revokes, per kind and member, jobs that must not be where they are; :meth:`undo_moves` takes it back.

        Returns:
            Whether there were any.
        """
        if not any(jobs for kind in KINDS for jobs in misplaced[kind]):
            return False
        self._before_moves = (_copied(self.kept), _copied(self.revoked))
        for kind in KINDS:
            for member, jobs in enumerate(misplaced[kind]):
                self.revoke(kind, member, jobs)
        return True

    def undo_moves(self) -> None:
        """Leaves misplaced jobs where they are, for now; nothing that was kept may have been revoked since."""
        if self._before_moves is not None:
            self.kept, self.revoked = self._before_moves
            self._before_moves = None

    def placed(self, kind: int) -> frozenset[int]:
        """Every job of one kind that somebody has after the round and was not told to stop."""
        placed = frozenset[int]().union(*self.kept[kind], *self.given[kind])
        revoked = self.all_revoked(kind)
        return placed - revoked if revoked else placed

    def all_revoked(self, kind: int) -> frozenset[int]:
        """Every job of one kind that somebody was told to stop."""
        return frozenset[int]().union(*self.revoked[kind])


def _copied(lists: _Lists) -> _Lists:
    return ([list(jobs) for jobs in lists[0]], [list(jobs) for jobs in lists[1]])
