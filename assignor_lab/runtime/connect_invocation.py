"""Calls of assignors for Connect: made, timed, checked. Nothing that a plugin does gets out as an exception."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from time import perf_counter_ns
from typing import Any

import attrs
from typeguard import CollectionCheckStrategy, TypeCheckError, check_type

from assignment_api.connect import (
    ConnectAssignment,
    ConnectAssignor,
    ConnectorTaskId,
    Jobs,
    Rebalance,
    WorkerAssignment,
)
from assignment_api.plugins import FoundConnectAssignor
from assignor_lab.runtime.invocation import (
    TRUSTED_DISTRIBUTION,
    Failure,
    InputMutatedError,
    InvalidAnswerError,
    failure_of,
    prints_to_stderr,
)

__all__ = ["ConnectOutcome", "LeadingAssignor"]


@attrs.frozen
class ConnectOutcome:
    """What came of one round.

    Args:
        assignment: The answer, or ``None`` after a failure.
        failure: The failure, or ``None``.
        assign_ns: Duration of the ``assign`` call alone, nanoseconds; 0 where it was not reached.
    """

    assignment: ConnectAssignment | None
    failure: Failure | None
    assign_ns: int = 0


class LeadingAssignor:
    """The assignor of one worker, made at its first rebalance, for as long as that worker leads or may lead again.

    Args:
        found: Entry of a registry.
        configs: Effective configuration of the worker.
    """

    def __init__(self, found: FoundConnectAssignor, configs: Mapping[str, Any]) -> None:
        self._found = found
        self._configs = configs
        self._watched = found.distribution != TRUSTED_DISTRIBUTION
        self._instance: ConnectAssignor | None = None

    def assign(self, rebalance: Rebalance) -> ConnectOutcome:
        """Lets the assignor place the jobs of a group.

        Returns:
            The outcome. Whatever the plugin raises, ``SystemExit`` included, is in it; only ``KeyboardInterrupt``
            passes.
        """
        before = repr(rebalance) if self._watched else None
        elapsed = 0
        try:
            with prints_to_stderr():
                instance = self._created()
                start = perf_counter_ns()
                try:
                    answer = instance.assign(rebalance)
                finally:
                    elapsed = perf_counter_ns() - start
            assignment = self._checked(answer, rebalance)
            if self._watched and repr(rebalance) != before:
                raise InputMutatedError(
                    f"assignor {self._found.name} changed its input: inputs are immutable by contract"
                )
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - a plugin may raise anything, SystemExit included
            return ConnectOutcome(None, failure_of(error), elapsed)
        return ConnectOutcome(assignment, None, elapsed)

    def copied(self) -> LeadingAssignor:
        """Another one with the same past, to see what would follow. What copying the plugin's object raises passes."""
        other = LeadingAssignor(self._found, self._configs)
        with prints_to_stderr():
            other._instance = copy.deepcopy(self._instance)
        return other

    def _created(self) -> ConnectAssignor:
        if self._instance is None:
            made = self._found.create()
            made.configure(self._configs)
            self._instance = made
        return self._instance

    def _checked(self, answer: object, rebalance: Rebalance) -> ConnectAssignment:
        """``answer`` once it has the types that the SPI says, and nobody gets what another one has or gets.

        Raises:
            InvalidAnswerError: naming the first fault.
        """
        name = self._found.name
        if not isinstance(answer, ConnectAssignment):
            raise InvalidAnswerError(f"assignor {name} returned {type(answer).__name__}, expected ConnectAssignment")
        if self._watched:
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
    """Every job that is assigned is configured, is nobody's, and goes to one member."""
    # Under eager everything stops before the round, whatever a worker reports.
    stopped = not rebalance.protocol.is_incremental
    taken = set() if stopped else {job for worker in rebalance.workers for job in jobs_of(worker.owned)}
    for member, told in answer.workers.items():
        for job in jobs_of(told.assigned):
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
    _check(name, "workers", answer.workers, Mapping[str, WorkerAssignment])
    _check(name, "remarks", answer.remarks, tuple[str, ...])
    for member, told in answer.workers.items():
        for field in ("assigned", "revoked"):
            jobs = getattr(told, field)
            place = f"workers[{member!r:.80}].{field}"
            _check(name, place, jobs, Jobs)
            _check(name, f"{place}.connectors", jobs.connectors, tuple[str, ...])
            _check(name, f"{place}.tasks", jobs.tasks, tuple[ConnectorTaskId, ...])


def _check(name: str, place: str, value: object, expected: Any) -> None:
    try:
        check_type(value, expected, collection_check_strategy=CollectionCheckStrategy.ALL_ITEMS)
    except TypeCheckError as error:
        raise InvalidAnswerError(f"assignor {name}: {place}: {error}") from error
