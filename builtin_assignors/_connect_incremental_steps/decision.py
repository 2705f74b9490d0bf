"""One round of incremental cooperative assignment (Kafka: ``performTaskAssignment``; KIP-987 with statics)."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from builtin_assignors._connect_incremental_steps.balancing import backoff, surplus, upper_bounds
from builtin_assignors._connect_incremental_steps.delayed_rebalance import Fate, Scene, fate_of_lost
from builtin_assignors._connect_incremental_steps.detection import Findings, detect, recall
from builtin_assignors._connect_incremental_steps.draft import Draft
from builtin_assignors._connect_incremental_steps.history import IncrementalHistory, Waiting
from builtin_assignors._connect_incremental_steps.placing import deal, deal_up_to, place
from builtin_assignors._connect_incremental_steps.problem import (
    KINDS,
    IncrementalAnswer,
    IncrementalProblem,
    StaticScope,
)
from builtin_assignors._connect_incremental_steps.static_jobs import evened_out, kept_duplicates, misplaced, taker_of
from builtin_assignors._connect_incremental_steps.tracing import ConnectSteps
from builtin_assignors._steps_taken import SILENT

__all__ = ["decide"]

_Lists = tuple[list[int], list[int]]


def decide(
    problem: IncrementalProblem, history: IncrementalHistory, steps: ConnectSteps = SILENT
) -> tuple[IncrementalAnswer, IncrementalHistory]:
    """Place the jobs of a group.

    Complexity: O(jobs + members log members), plus sorting the lost jobs.

    Args:
        history: State after the previous round; ``IncrementalHistory()`` for a new leader.

    Returns:
        The answer, and the history for the next round.
    """
    round_ = _Round(problem, recall(problem, history))
    return round_.run(steps)


class _Round:
    def __init__(self, problem: IncrementalProblem, history: IncrementalHistory) -> None:
        self._problem = problem
        self._history = history
        everybody = range(len(problem.members))
        self._scope = problem.static or StaticScope(({}, {}), everybody)
        self._rules = self._scope.rules
        self._wildcards: Sequence[int] = self._scope.wildcards
        self._findings: Findings = detect(problem, history)
        self._draft = Draft(problem)
        self._moves = False
        self._waiting: Waiting = history.waiting
        self._destinations: tuple[dict[int, str], dict[int, str]] = ({}, {})

    def run(self, steps: ConnectSteps) -> tuple[IncrementalAnswer, IncrementalHistory]:
        draft, findings = self._draft, self._findings
        self._revoke_deleted_and_duplicated()
        steps.duplicates_stopped(draft)
        if self._problem.static is not None:
            self._moves = draft.move_away(misplaced(self._problem, self._scope, draft))
        listed, prompt, waiting = self._lost_by_fate()
        released = self._handle_lost(waiting)
        steps.lost_dealt(draft)
        self._even_out()
        # Misplaced jobs may be back in their place by now, while the round waits for a lost worker.
        steps.evened_out(draft, misplaced_before=self._moves)
        unplaced = self._place(listed, prompt, released)
        steps.placed(draft, findings.created, self._history.revoked, self._scope.listers)
        steps.lost_waits(findings.lost, draft, self._waiting.delay)
        steps.kept(draft, self._problem.configured)
        return self._answer(unplaced), self._next_history(unplaced)

    # --- steps 10 and 11 --------------------------------------------------------------------------

    def _revoke_deleted_and_duplicated(self) -> None:
        findings = self._findings
        if not any((*findings.deleted, *findings.duplicated)):
            return
        keepers = kept_duplicates(self._problem, self._scope, findings)
        for kind in KINDS:
            gone = findings.deleted[kind] | findings.duplicated[kind]
            if not gone:
                continue
            for member, owned in enumerate(self._problem.owned[kind]):
                own = [job for job, keeper in keepers[kind].items() if keeper == member]
                revoked = (gone.difference(own) if own else gone).intersection(owned)
                if revoked:
                    # Kafka removes deleted jobs, then duplicates, from a hash set of all jobs of the member.
                    order = self._problem.set_order(kind, owned, revoked)
                    deleted = revoked & findings.deleted[kind]
                    self._draft.revoke(kind, member, deleted, order)
                    self._draft.revoke(kind, member, revoked - deleted, order)

    def _lost_by_fate(self) -> tuple[_Lists, _Lists, _Lists]:
        """Lost jobs that go at once to a member that lists them, that are placed at once, and that may wait."""
        listed: _Lists = ([], [])
        prompt: _Lists = ([], [])
        waiting: _Lists = ([], [])
        for kind in KINDS:
            for job in self._findings.lost[kind]:
                if job in self._scope.listers[kind] and not self._rules.lost_static_waits:
                    listed[kind].append(job)
                elif job in self._history.static[kind] and not self._rules.lost_unlisted_waits:
                    prompt[kind].append(job)
                else:
                    waiting[kind].append(job)
        return listed, prompt, waiting

    def _handle_lost(self, lost: _Lists) -> _Lists:
        ids = self._problem.members
        takers = frozenset(ids[member] for member in self._wildcards)
        must_remain = frozenset(ids) if self._rules.all_members_must_remain else takers
        before = self._history.members
        scene = Scene(
            now=self._problem.now,
            max_delay=self._problem.max_delay,
            has_lost=any(lost),
            nobody_left=before is not None and before <= must_remain,
            takers=takers,
            idle=self._idle_wildcards,
        )
        fate, self._waiting, candidates = fate_of_lost(scene, self._waiting)
        if fate is Fate.WAIT:
            return ([], [])
        return lost if fate is Fate.PLACE else self._deal(lost, candidates)

    def _idle_wildcards(self) -> list[str]:
        idle = [member for member in self._wildcards if self._draft.is_idle(member)]
        return [self._problem.members[member] for member in self._problem.hash_order(idle)]

    def _deal(self, lost: _Lists, candidates: Sequence[str]) -> _Lists:
        """Deal lost jobs to candidates in turn; returns the jobs that no candidate may run."""
        number_of = {member: number for number, member in enumerate(self._problem.members)}
        takers = [number_of[candidate] for candidate in candidates]
        left: _Lists = ([], [])
        for kind in KINDS:
            wild = [job for job in lost[kind] if job not in self._scope.listers[kind]]
            left[kind].extend(job for job in lost[kind] if job in self._scope.listers[kind])
            if 2 in self._problem.quirks:
                self._draft.give(kind, wild, deal(wild, takers))
                continue
            places = [self._wildcards.index(taker) for taker in takers]
            sizes = [self._draft.size(kind, member) for member in self._wildcards]
            bounds = upper_bounds(sizes, self._number_of_wild_jobs(kind), places)
            rooms = [bound - sizes[where] for bound, where in zip(bounds, places, strict=True)]
            dealt, too_many = deal_up_to(wild, takers, rooms)
            self._draft.give(kind, [job for job, _ in dealt], [taker for _, taker in dealt])
            left[kind].extend(too_many)
        return left

    # --- step 12 ----------------------------------------------------------------------------------

    def _even_out(self) -> None:
        waiting = self._waiting
        if waiting.delay != 0:
            if self._rules.moves_wait_for_delay:
                self._draft.undo_moves()
            self._waiting = self._during_a_wait(waiting)
            return
        numbers = self._surplus()
        static_moves = [evened_out(self._problem, self._scope, self._draft, kind) for kind in KINDS]
        is_uneven = any(map(any, numbers)) or any(static_moves)
        counts = is_uneven or (self._moves and self._rules.moves_count_for_backoff)
        if counts and waiting.revoked_in_previous:
            successive = waiting.successive + 1
            pause = backoff(successive, self._problem.max_delay)
            self._waiting = attrs.evolve(waiting, successive=successive)
            if pause != 0:
                self._waiting = attrs.evolve(
                    self._waiting, delay=pause, deadline=self._problem.now + pause, is_pause=True
                )
                if self._rules.moves_count_for_backoff:
                    self._draft.undo_moves()
                return
        elif counts:
            self._waiting = attrs.evolve(waiting, revoked_in_previous=True)
        elif waiting.revoked_in_previous or 4 not in self._problem.quirks:
            self._waiting = attrs.evolve(waiting, revoked_in_previous=False, successive=0)
        self._revoke_surplus(numbers, static_moves)

    def _during_a_wait(self, waiting: Waiting) -> Waiting:
        quirks = self._problem.quirks
        if waiting.is_pause:
            return waiting if 3 not in quirks else attrs.evolve(waiting, revoked_in_previous=False)
        successive = waiting.successive if 4 in quirks else 0
        return attrs.evolve(waiting, revoked_in_previous=False, successive=successive)

    def _surplus(self) -> list[list[int]]:
        totals = [self._number_of_wild_jobs(kind) for kind in KINDS]
        if sum(totals) == 0 or all(self._draft.is_idle(member) for member in self._wildcards):
            return [[], []]
        return [surplus([self._draft.size(kind, member) for member in self._wildcards], totals[kind]) for kind in KINDS]

    def _number_of_wild_jobs(self, kind: int) -> int:
        return self._problem.configured[kind] - len(self._scope.listers[kind])

    def _revoke_surplus(
        self, numbers: Sequence[Sequence[int]], static_moves: Sequence[dict[int, tuple[int, int]]]
    ) -> None:
        for kind in KINDS:
            if numbers[kind]:
                for member, number in zip(self._wildcards, numbers[kind], strict=True):
                    self._draft.revoke_first(kind, member, number)
            for job, (origin, target) in static_moves[kind].items():
                self._draft.revoke(kind, origin, (job,))
                self._destinations[kind][job] = self._problem.members[target]

    # --- step 13 ----------------------------------------------------------------------------------

    def _place(self, listed: _Lists, prompt: _Lists, released: _Lists) -> _Lists:
        unplaced: _Lists = ([], [])
        for kind in KINDS:
            listers = self._scope.listers[kind]
            wanted = [*self._findings.created[kind], *listed[kind], *prompt[kind], *released[kind]]
            wild = wanted
            if listers:
                wild = [job for job in wanted if job not in listers]
                before = self._history.destinations[kind]
                for job in wanted:
                    if job in listers:
                        taker = taker_of(self._problem, self._scope, self._draft, kind, job, before)
                        self._draft.give(kind, (job,), (taker,))
            if not wild:
                continue
            if not self._wildcards:
                unplaced[kind].extend(wild)
                continue
            sizes = self._draft.sizes(kind)
            self._draft.give(kind, wild, place(wild, self._wildcards, sizes, self._problem.ranks))
        return unplaced

    # --- steps 14 to 16 ---------------------------------------------------------------------------

    def _answer(self, unplaced: _Lists) -> IncrementalAnswer:
        return IncrementalAnswer(self._draft.given, self._draft.revoked, self._waiting.delay, unplaced)

    def _next_history(self, unplaced: _Lists) -> IncrementalHistory:
        forgotten: tuple[Sequence[int], Sequence[int]] = unplaced if self._rules.forget_unplaced else ((), ())
        connectors, tasks = (
            self._draft.placed(kind).union(self._findings.lost[kind]).difference(forgotten[kind]) for kind in KINDS
        )
        ids = self._problem.members
        remaining = ids if self._rules.all_members_must_remain else [ids[member] for member in self._wildcards]
        return IncrementalHistory(
            previous=(connectors, tasks),
            revoked=(self._draft.all_revoked(0), self._draft.all_revoked(1)),
            generation=self._problem.generation,
            members=frozenset(remaining),
            waiting=self._waiting,
            static=(frozenset(self._scope.listers[0]), frozenset(self._scope.listers[1])),
            destinations=self._destinations,
        )
