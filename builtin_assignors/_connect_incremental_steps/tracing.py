"""Trace of incremental cooperative assignment: the rule that places each job, as a sentence."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from assignment_api.tracing import RuleStep
from builtin_assignors._connect_incremental_steps.draft import Draft
from builtin_assignors._connect_incremental_steps.numbering import JobNumbering
from builtin_assignors._connect_incremental_steps.problem import KINDS

__all__ = ["ConnectSteps"]

_Lists = tuple[Sequence[int], Sequence[int]]


class ConnectSteps:
    """The steps of one round."""

    def __init__(self, numbering: JobNumbering, members: Sequence[str], max_delay: int) -> None:
        self.steps: list[RuleStep] = []
        self._numbering = numbering
        self._members = members
        self._max_delay = max_delay
        self._revoked: set[tuple[int, int, int]] = set()
        self._given: set[tuple[int, int, int]] = set()

    def duplicates_stopped(self, draft: Draft) -> None:
        self._revocations(draft, "ci-duplicate", "{0} has to stop it: another worker reports it, too")

    def lost_waits(self, lost: Sequence[Collection[int]], draft: Draft, delay: int) -> None:
        given = {(kind, job) for kind, _, job in _pairs(draft.given)}
        for kind in KINDS:
            for job in lost[kind]:
                if (kind, job) not in given:
                    text = (
                        f"no worker reports it, and its worker may return: it waits up to {delay:,} ms more "
                        f"(scheduled.rebalance.max.delay.ms {self._max_delay:,})"
                        if delay
                        else "no worker reports it, and none may have it for now"
                    )
                    self._add("ci-wait", kind, job, text)

    def lost_dealt(self, draft: Draft) -> None:
        text = "its worker did not come back in time: it is dealt to {0}, which had no job meanwhile"
        self._gifts(draft, "ci-deal", text)

    def evened_out(self, draft: Draft, *, misplaced_before: bool) -> None:
        """Record revoked surplus, and revoked jobs that violate the static lists."""
        text = "{0} has more than its even share: it gives it up now, and the next rebalance places it"
        if misplaced_before:
            text = (
                "{0} has to give it up, by the static lists or because it has more than its even share; the next "
                "rebalance places it"
            )
        self._revocations(draft, "ci-surplus", text)

    def placed(
        self,
        draft: Draft,
        created: _Lists,
        given_up: Sequence[Collection[int]],
        listed: Sequence[Collection[int]],
    ) -> None:
        """Record placed jobs: new ones, those revoked in the previous round, and lost ones that do not wait.

        Args:
            listed: Jobs that a worker lists.
        """
        new = [frozenset(created[kind]) for kind in KINDS]
        for kind, member, job in sorted(_pairs(draft.given) - self._given):
            reason = "it was lost and does not wait"
            if job in given_up[kind]:
                reason = "a worker gave it up in the rebalance before"
            elif job in new[kind]:
                reason = "it is new"
            why = "lists it" if job in listed[kind] else f"has the fewest {_NOUNS[kind]}"
            text = f"{reason}: it goes to {{0}}, which {why}"
            self._add("ci-place", kind, job, text, member)
        self._given = _pairs(draft.given)

    def kept(self, draft: Draft, configured: tuple[int, int]) -> None:
        for kind, member, job in sorted(_pairs(draft.kept)):
            if job < configured[kind]:
                self._add("ci-keep", kind, job, "{0} ran it and goes on with it", member)

    def _revocations(self, draft: Draft, rule: str, text: str) -> None:
        for kind, member, job in sorted(_pairs(draft.revoked) - self._revoked):
            self._add(rule, kind, job, text, member)
        self._revoked = _pairs(draft.revoked)

    def _gifts(self, draft: Draft, rule: str, text: str) -> None:
        for kind, member, job in sorted(_pairs(draft.given) - self._given):
            self._add(rule, kind, job, text, member)
        self._given = _pairs(draft.given)

    def _add(self, rule: str, kind: int, job: int, text: str, *members: int) -> None:
        numbering = self._numbering
        name = numbering.tasks((job,))[0] if kind else numbering.connectors((job,))[0]
        self.steps.append(RuleStep(rule, str(name), text, tuple([self._members[member] for member in members])))


_NOUNS = ("connectors", "tasks")


def _pairs(lists: Sequence[Sequence[Sequence[int]]]) -> set[tuple[int, int, int]]:
    return {(kind, member, job) for kind in KINDS for member, jobs in enumerate(lists[kind]) for job in jobs}
