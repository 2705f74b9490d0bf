"""Passes imported histories to our assignors, and compares the assignments."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import attrs

from assignment_api.connect import MAX_DELAY_KEY, ConnectAssignment, ConnectAssignor, Jobs
from assignment_api.errors import AssignorLabError
from assignor_lab.capture.logs.connect.replay import ASSIGNOR_OF
from assignor_lab.capture.recorded.connect.histories import CLOCK_TOLERANCE_MS, jobs_document
from assignor_lab.scenarios import ConnectHistory

__all__ = ["ObservedRound", "compare_observed"]


@attrs.frozen
class ObservedRound:
    """A round and its difference from the recording."""

    number: int
    difference: str = ""


def compare_observed(
    history: ConnectHistory, observed: dict[str, Any], assignor: Callable[[str], ConnectAssignor]
) -> Iterator[ObservedRound]:
    """A new leader gets a new assignor."""
    made: ConnectAssignor | None = None
    for number, (each, rebalance) in enumerate(history.rebalances()):
        if made is None or each.new_leader:
            made = assignor(ASSIGNOR_OF[history.protocol])
            made.configure({MAX_DELAY_KEY: history.max_delay_ms})
        try:
            answer = made.assign(rebalance)
        except AssignorLabError as error:
            yield ObservedRound(number, f"{type(error).__name__}: {error}")
            continue
        recorded = observed["rounds"][number]
        if recorded is not None:
            yield ObservedRound(number, _difference(answer, recorded))


def _difference(answer: ConnectAssignment, recorded: dict[str, Any]) -> str:
    for member, ours in answer.workers.items():
        for role, jobs in (("assigned", ours.assigned), ("revoked", ours.revoked)):
            theirs = recorded[role].get(member)
            if theirs is None or _sets(jobs_document(jobs)) != _sets(theirs):
                return f"{member}: {role} {_shown(jobs)}, recorded {theirs}"
    gap = abs(answer.delay_ms - recorded["delay_ms"])
    return "" if gap <= CLOCK_TOLERANCE_MS else f"delay {answer.delay_ms} ms, recorded {recorded['delay_ms']} ms"


def _sets(jobs: dict[str, list[str]]) -> tuple[frozenset[str], frozenset[str]]:
    return frozenset(jobs["connectors"]), frozenset(jobs["tasks"])


def _shown(jobs: Jobs) -> str:
    return str(jobs_document(jobs.sorted()))
