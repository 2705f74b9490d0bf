"""Calls of Connect assignors: one for each worker, for as long as that worker leads or may lead again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from assignment_api.connect import (
    ConnectAssignment,
    ConnectAssignor,
    ConnectorTaskId,
    Jobs,
    Rebalance,
    WorkerAssignment,
)
from assignment_api.plugins import FoundConnectAssignor, Registry
from assignment_api.plugins.named_code import connect_assignor_asked_for
from assignor_lab.groups.connect.transfer import (
    connect_answer_document,
    connect_answer_of,
    packed_rebalance,
    unpacked_rebalance,
)
from assignor_lab.runtime.assignor_calls import AssignorCalls, CalledAssignor
from assignor_lab.runtime.invocation import CallOutcome, InvalidAnswerError, check_value

__all__ = ["ASKING", "ConnectOutcome", "LeadingAssignor", "checked_connect_answer"]

ConnectOutcome = CallOutcome[ConnectAssignment]
LeadingAssignor = CalledAssignor[Rebalance, ConnectAssignment]


class _ConnectAsking(AssignorCalls[Rebalance, ConnectAssignment]):
    place = f"{__name__}:ASKING"
    lives = True

    def select(self, registry: Registry, selector: str, *, may_run_code: bool) -> FoundConnectAssignor:
        return registry.connect_assignor(selector, may_run_code=may_run_code)

    def from_code(self, selector: str) -> FoundConnectAssignor:
        return connect_assignor_asked_for(selector)

    def created(self, found: FoundConnectAssignor) -> ConnectAssignor:
        return found.create()

    def checked(self, name: str, answer: object, state: Rebalance, *, is_trusted: bool) -> ConnectAssignment:
        return checked_connect_answer(name, answer, state, is_trusted=is_trusted)

    def packed(self, state: Rebalance) -> tuple[bytes, ...]:
        return (packed_rebalance(state),)

    def receiver(self) -> Callable[..., Rebalance]:
        return unpacked_rebalance

    def answer_document(self, state: Rebalance, answer: ConnectAssignment) -> Any:
        return connect_answer_document(answer)

    def answer_of(self, state: Rebalance, document: object) -> ConnectAssignment:
        return connect_answer_of(document)


ASKING = _ConnectAsking()


def checked_connect_answer(
    name: str, answer: object, rebalance: Rebalance, *, is_trusted: bool = False
) -> ConnectAssignment:
    """``answer`` if it has the types of the SPI, unchecked if trusted, and every job has at most one owner.

    Raises:
        InvalidAnswerError: naming the first fault.
    """
    if not isinstance(answer, ConnectAssignment):
        raise InvalidAnswerError(f"assignor {name} returned {type(answer).__name__}, expected ConnectAssignment")
    if not is_trusted:
        _check_types(name, answer)
    members = {worker.member_id for worker in rebalance.workers}
    unknown = next((member for member in answer.workers if member not in members), None)
    if unknown is not None:
        raise InvalidAnswerError(f"assignor {name}: there is no member {unknown!r:.80} in the group")
    if type(answer.delay_ms) is not int or answer.delay_ms < 0:
        raise InvalidAnswerError(f"assignor {name}: delay_ms is {answer.delay_ms!r:.80}, expected 0 or more")
    _check_jobs(name, answer, rebalance, lambda jobs: jobs.connectors, "connector instance")
    _check_jobs(name, answer, rebalance, lambda jobs: jobs.tasks, "task")
    return answer


def _check_jobs(
    name: str,
    answer: ConnectAssignment,
    rebalance: Rebalance,
    jobs_of: Callable[[Jobs], tuple[Any, ...]],
    noun: str,
) -> None:
    """Checks that every assigned job is configured, has no owner, and goes to one member."""
    # Under eager everything stops before the round, whichever jobs a worker reports.
    stopped = not rebalance.protocol.is_incremental
    taken = set() if stopped else {job for worker in rebalance.workers for job in jobs_of(worker.owned)}
    for member, assignment in answer.workers.items():
        for job in jobs_of(assignment.assigned):
            if job not in rebalance.configured:
                raise InvalidAnswerError(
                    f"assignor {name}: {noun} {str(job)!r:.80} of {member!r:.80} is not configured"
                )
            if job in taken:
                raise InvalidAnswerError(
                    f"assignor {name}: {noun} {str(job)!r:.80} is given to {member!r:.80}, and another worker, or that "
                    "one itself, has it"
                )
            taken.add(job)


def _check_types(name: str, answer: ConnectAssignment) -> None:
    check_value(name, "workers", answer.workers, Mapping[str, WorkerAssignment])
    check_value(name, "remarks", answer.remarks, tuple[str, ...])
    for member, assignment in answer.workers.items():
        for field in ("assigned", "revoked"):
            jobs = getattr(assignment, field)
            place = f"workers[{member!r:.80}].{field}"
            check_value(name, place, jobs, Jobs)
            check_value(name, f"{place}.connectors", jobs.connectors, tuple[str, ...])
            check_value(name, f"{place}.tasks", jobs.tasks, tuple[ConnectorTaskId, ...])
