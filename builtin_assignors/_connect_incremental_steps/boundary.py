"""Conversion between the SPI's values and dense numbers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Sequence
from typing import Any

import attrs

from assignment_api.connect import (
    ConfiguredJobs,
    ConnectAssignment,
    ConnectorTaskId,
    Jobs,
    Rebalance,
    Worker,
    WorkerAssignment,
)
from assignment_api.java import iteration_order, iteration_order_in_set_copy, string_hash
from assignment_api.streams.ids import utf16_key
from builtin_assignors._connect_incremental_steps.history import IncrementalHistory, JobSets
from builtin_assignors._connect_incremental_steps.numbering import JobNumbering
from builtin_assignors._connect_incremental_steps.options import MemberOrder
from builtin_assignors._connect_incremental_steps.problem import (
    KINDS,
    IncrementalAnswer,
    IncrementalProblem,
    StaticRules,
    StaticScope,
)

__all__ = ["JobHistory", "assignment_of", "problem_of"]

#: Jobs that a remark names before it only counts the rest.
_NAMED = 5


@attrs.frozen
class JobHistory:
    """A history together with the numbers of its jobs."""

    numbering: JobNumbering = attrs.field(factory=lambda: JobNumbering(ConfiguredJobs()))
    history: IncrementalHistory = attrs.field(factory=IncrementalHistory)

    def __deepcopy__(self, _memo: dict[int, Any]) -> JobHistory:
        """Return the history itself: it is immutable, so copies of an assignor share it."""
        return self

    def under(self, configured: ConfiguredJobs) -> JobHistory:
        """The same history under the numbers of ``configured``."""
        old = self.numbering
        if old.configured == configured:
            return self
        new = JobNumbering(configured)

        def moved(jobs: JobSets) -> JobSets:
            return (
                frozenset(map(new.connector_number, old.connectors(jobs[0]))),
                frozenset(new.task_numbers(old.tasks(jobs[1]))),
            )

        history = self.history
        connectors, tasks = history.destinations
        return JobHistory(
            new,
            attrs.evolve(
                history,
                previous=moved(history.previous),
                revoked=moved(history.revoked),
                static=moved(history.static),
                destinations=(
                    dict(zip(map(new.connector_number, old.connectors(connectors)), connectors.values(), strict=True)),
                    dict(zip(new.task_numbers(old.tasks(tasks)), tasks.values(), strict=True)),
                ),
            ),
        )


def problem_of(
    rebalance: Rebalance,
    numbering: JobNumbering,
    order: MemberOrder,
    quirks: frozenset[int],
    max_delay: int,
    static: Callable[[Worker], bool] | None = None,
    rules: StaticRules | None = None,
) -> IncrementalProblem:
    """The round in dense numbers.

    Args:
        max_delay: Longest wait of the leader, ms. If quirk Q6 is off and the workers' values are known, the longest of
            them replaces it.
        static: Whether a worker's static assignments bind it; ``None``: no worker's do.
        rules: Reading of KIP-987.
    """
    workers = _in_order([worker.member_id for worker in rebalance.workers], order)
    ordered = [rebalance.workers[number] for number in workers]
    ids = [worker.member_id for worker in ordered]
    if 6 not in quirks:
        max_delay = max([max_delay, *(worker.max_delay_ms for worker in ordered if worker.max_delay_ms is not None)])
    by_id = sorted(range(len(ids)), key=lambda member: utf16_key(ids[member]))
    ranks = [0] * len(ids)
    for rank, member in enumerate(by_id):
        ranks[member] = rank
    return IncrementalProblem(
        members=ids,
        ranks=ranks,
        configured=numbering.counts,
        owned=(
            [list(map(numbering.connector_number, worker.owned.connectors)) for worker in ordered],
            [numbering.task_numbers(worker.owned.tasks) for worker in ordered],
        ),
        now=rebalance.time_ms,
        generation=rebalance.generation,
        last_completed=rebalance.last_completed_generation,
        max_delay=max_delay,
        hash_order=lambda members: [members[place] for place in _in_order([ids[member] for member in members], order)],
        set_order=lambda kind, jobs, wanted: (
            _set_order(numbering, kind, jobs, wanted)
            if order is MemberOrder.JAVA
            else [job for job in jobs if job in wanted]
        ),
        quirks=quirks,
        static=None if static is None else _scope(ordered, numbering, static, rules or StaticRules()),
    )


def _in_order(ids: Sequence[str], order: MemberOrder) -> list[int]:
    places = range(len(ids))
    if order is MemberOrder.SORTED:
        return sorted(places, key=lambda place: utf16_key(ids[place]))
    return iteration_order(places, [string_hash(text) for text in ids], sort_key=lambda place: utf16_key(ids[place]))


def _set_order(numbering: JobNumbering, kind: int, jobs: Sequence[int], wanted: Collection[int]) -> Sequence[int]:
    hash_of_name = functools.cache(string_hash)
    if kind == 0:

        def name(job: int) -> str:
            return numbering.connectors((job,))[0]

        return iteration_order_in_set_copy(
            jobs, wanted, lambda job: hash_of_name(name(job)), sort_key=lambda job: utf16_key(name(job))
        )

    def task(job: int) -> ConnectorTaskId:
        return numbering.tasks((job,))[0]

    def hash_of(job: int) -> int:
        id_ = task(job)
        return 31 * hash_of_name(id_.connector) + id_.task

    def sort_key(job: int) -> tuple[Any, int]:
        id_ = task(job)
        return utf16_key(id_.connector), id_.task

    return iteration_order_in_set_copy(jobs, wanted, hash_of, sort_key=sort_key)


def _scope(
    workers: Sequence[Worker], numbering: JobNumbering, static: Callable[[Worker], bool], rules: StaticRules
) -> StaticScope:
    wildcards = [member for member, worker in enumerate(workers) if not static(worker)]
    listers: tuple[dict[int, list[int]], dict[int, list[int]]] = ({}, {})
    free = frozenset(wildcards)
    for member, worker in enumerate(workers):
        if member in free:
            continue
        listed = worker.static.jobs()
        connectors = (name for name in listed.connectors if name in numbering.configured)
        for job in map(numbering.connector_number, connectors):
            listers[0].setdefault(job, []).append(member)
        for job in numbering.task_numbers(task for task in listed.tasks if task in numbering.configured):
            listers[1].setdefault(job, []).append(member)
    return StaticScope(listers, wildcards, rules)


def assignment_of(
    rebalance: Rebalance, problem: IncrementalProblem, numbering: JobNumbering, answer: IncrementalAnswer
) -> ConnectAssignment:
    """The answer as a value of the SPI, workers in the order of the rebalance."""
    assignments = {
        member_id: WorkerAssignment(
            _jobs(numbering, [answer.assigned[kind][member] for kind in KINDS]),
            _jobs(numbering, [answer.revoked[kind][member] for kind in KINDS]),
        )
        for member, member_id in enumerate(problem.members)
    }
    return ConnectAssignment(
        {worker.member_id: assignments[worker.member_id] for worker in rebalance.workers},
        delay_ms=answer.delay,
        remarks=_remarks(numbering, answer),
    )


def _jobs(numbering: JobNumbering, numbers: Sequence[Sequence[int]]) -> Jobs:
    return Jobs(numbering.connectors(numbers[0]), numbering.tasks(numbers[1]))


def _remarks(numbering: JobNumbering, answer: IncrementalAnswer) -> tuple[str, ...]:
    unplaced = _jobs(numbering, answer.unplaced)
    if len(unplaced) == 0:
        return ()
    names: list[str | ConnectorTaskId] = [*unplaced.connectors, *unplaced.tasks]
    shown = ", ".join(str(name) for name in names[:_NAMED])
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return (
        f"{len(names)} jobs stay unassigned, since no worker lists them and there is no wildcard worker: {shown}{more}",
    )
