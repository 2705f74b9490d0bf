"""Result rows of format 1: the answer of one assignor to one scenario."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from assignment_api.connect import ConnectAssignment, Jobs, WorkerAssignment
from assignment_api.consumer import NO_PARTITIONS, PartitionAssignment
from assignment_api.group import GroupAssignment, MemberAssignment, TasksBySubtopology
from assignment_api.streams import TaskAssignment, TaskId
from assignor_lab.scenarios.formats import format_of
from assignor_lab.scenarios.scenario import Scenario

__all__ = [
    "connect_result_row",
    "connect_round",
    "error_row",
    "group_members",
    "group_result_row",
    "partition_members",
    "partition_result_row",
    "placement",
    "result_row",
]

ThreadTasks = Mapping[str, Mapping[str, Iterable[TaskId]]]


def result_row(
    scenario: Scenario,
    assignor: str,
    assignment: TaskAssignment,
    *,
    threads: ThreadTasks | None = None,
    with_followups: bool = False,
) -> dict[str, Any]:
    """The row of an answer to a scenario of kind ``streams``.

    A client that the answer lacks gets an entry without tasks. ``threads`` is consumer to ``active`` and ``standby``
    tasks, if requested; ``with_followups`` adds process id to deadline in epoch milliseconds.
    """
    deadlines = {
        str(client.process_id): client.followup_rebalance_deadline_ms
        for client in assignment.assignments
        if client.followup_rebalance_deadline_ms is not None
    }
    row = _row(
        scenario,
        assignor,
        assignment=placement(scenario, assignment),
        followup=bool(deadlines),
        threads=None if threads is None else {consumer: _texts_of(tasks) for consumer, tasks in threads.items()},
        error=None,
    )
    if with_followups:
        row["followups"] = deadlines
    return row


def error_row(
    scenario: Scenario, assignor: str, error_type: str, java_type: str | None, message: str
) -> dict[str, Any]:
    """The row of a failure, with the names of our exception and of Kafka's for the same fault, or ``None``."""
    error = {"type": error_type, "java_type": java_type, "message": message}
    return _row(scenario, assignor, **dict.fromkeys(format_of(scenario.kind).line), error=error)


def group_result_row(scenario: Scenario, assignor: str, assignment: GroupAssignment) -> dict[str, Any]:
    """The row of an answer to a scenario of kind ``streams-group``.

    It has every member of the scenario, in the scenario's order, even if the answer lacks it.
    """
    return _row(scenario, assignor, members=group_members(scenario.member_ids, assignment), error=None)


def group_members(members: Iterable[str], assignment: GroupAssignment) -> dict[str, dict[str, dict[str, list[int]]]]:
    """Member to role to sub-topology to partitions; it has each of ``members``, even if the answer lacks it."""
    nothing = MemberAssignment()
    targets = {member: assignment.members.get(member, nothing) for member in members}
    return {
        member: {
            "active": _partitions(target.active_tasks),
            "standby": _partitions(target.standby_tasks),
            "warmup": _partitions(target.warmup_tasks),
        }
        for member, target in targets.items()
    }


def partition_result_row(scenario: Scenario, assignor: str, assignment: PartitionAssignment) -> dict[str, object]:
    """The row of an answer to a consumer group or share group: every member of the scenario, in its order.

    Topics and partitions are in Kafka's own order, which is part of the answer.
    """
    return _row(scenario, assignor, members=partition_members(scenario.content.members, assignment), error=None)


def partition_members(members: Iterable[str], assignment: PartitionAssignment) -> dict[str, dict[str, list[int]]]:
    """Member to topic to partitions; it has each of ``members``, even if the answer lacks it."""
    return {
        member: {
            topic: list(numbers) for topic, numbers in assignment.members.get(member, NO_PARTITIONS).items() if numbers
        }
        for member in members
    }


def connect_result_row(scenario: Scenario, assignor: str, answers: Sequence[ConnectAssignment]) -> dict[str, Any]:
    """The row of the answers to a scenario of kind ``connect``, one for each round.

    Every member of a round has an entry in both maps, even if its answer lacks it, in the order of the document; names
    and tasks are sorted.
    """
    rounds = [
        connect_round((worker.member_id for worker in each.workers), answer)
        for each, answer in zip(scenario.connect_history.rounds, answers, strict=True)
    ]
    return _row(scenario, assignor, rounds=rounds, error=None)


def connect_round(members: Iterable[str], answer: ConnectAssignment) -> dict[str, Any]:
    """The answer to the ``members`` of a round; each has an entry in both maps, even if the answer lacks it."""
    assignments = {member: answer.workers.get(member, WorkerAssignment()) for member in members}
    return {
        "delay_ms": answer.delay_ms,
        "assigned": {member: _jobs(worker.assigned) for member, worker in assignments.items()},
        "revoked": {member: _jobs(worker.revoked) for member, worker in assignments.items()},
    }


def _jobs(jobs: Jobs) -> dict[str, list[str]]:
    ordered = jobs.sorted()
    return {"connectors": list(ordered.connectors), "tasks": [str(task) for task in ordered.tasks]}


def _partitions(tasks: TasksBySubtopology) -> dict[str, list[int]]:
    return {subtopology: list(partitions) for subtopology, partitions in tasks.items()}


def placement(scenario: Scenario, assignment: TaskAssignment) -> dict[str, dict[str, list[str]]]:
    """Process id to ``active`` and ``standby`` tasks, each sorted.

    The scenario's clients come first, in its order, even if the answer lacks them; then those of the answer alone.
    """
    active: dict[str, list[TaskId]] = {str(process): [] for process in scenario.process_ids}
    standby: dict[str, list[TaskId]] = {process: [] for process in active}
    for client in assignment.assignments:
        process = str(client.process_id)
        active.setdefault(process, []).extend(client.active_tasks())
        standby.setdefault(process, []).extend(client.standby_tasks())
    return {process: _texts_of({"active": active[process], "standby": standby[process]}) for process in active}


def _texts_of(tasks: Mapping[str, Iterable[TaskId]]) -> dict[str, list[str]]:
    return {
        role: [str(task) for task in sorted(tasks.get(role, ()), key=TaskId.sort_key)] for role in ("active", "standby")
    }


def _row(scenario: Scenario, assignor: str, **fields: Any) -> dict[str, Any]:
    return {
        "format": scenario.document["format"],
        "kind": scenario.kind,
        "id": scenario.id,
        "assignor": assignor,
        **fields,
    }
