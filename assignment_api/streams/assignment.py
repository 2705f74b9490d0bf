"""Answers of a task assignor, and errors of Kafka's validation."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping

import attrs

from assignment_api.errors import IllegalAssignmentArgumentError, IllegalAssignmentStateError
from assignment_api.java.hash_table import JavaHashTable, iteration_order
from assignment_api.java.hashing import task_id_hash
from assignment_api.streams.ids import ProcessID, TaskId
from assignment_api.writable_classes import writable_class

__all__ = [
    "AssignedTask",
    "AssignedTaskType",
    "AssignmentError",
    "KafkaStreamsAssignment",
    "StreamsClientAssignment",
    "TaskAssignment",
]


class AssignedTaskType(enum.Enum):
    """A client's role for a task. Kafka: ``AssignedTask.Type``."""

    ACTIVE = "active"
    STANDBY = "standby"


class AssignmentError(enum.Enum):
    """Kafka's validation of an answer, in the order of checks; all but ``NONE`` fail the rebalance.

    Kafka: ``TaskAssignor.AssignmentError``.
    """

    NONE = "NONE"
    UNKNOWN_TASK_ID = "UNKNOWN_TASK_ID"
    ACTIVE_TASK_ASSIGNED_MULTIPLE_TIMES = "ACTIVE_TASK_ASSIGNED_MULTIPLE_TIMES"
    INVALID_STANDBY_TASK = "INVALID_STANDBY_TASK"
    MISSING_PROCESS_ID = "MISSING_PROCESS_ID"
    UNKNOWN_PROCESS_ID = "UNKNOWN_PROCESS_ID"


@attrs.frozen
class AssignedTask:
    """A task and a client's role for it. Kafka: ``KafkaStreamsAssignment.AssignedTask``."""

    id: TaskId
    type: AssignedTaskType

    @classmethod
    def active(cls, task: TaskId) -> AssignedTask:
        """``task`` as an active task."""
        return cls(task, AssignedTaskType.ACTIVE)

    @classmethod
    def standby(cls, task: TaskId) -> AssignedTask:
        """``task`` as standby or warm-up."""
        return cls(task, AssignedTaskType.STANDBY)


def _checked_tasks(tasks: Iterable[AssignedTask]) -> tuple[AssignedTask, ...]:
    return tuple(tasks)


@attrs.frozen
class StreamsClientAssignment:
    """The tasks of one client, as a value.

    Kafka: ``KafkaStreamsAssignment``; draft KIP-924: ``StreamsClientAssignment``. ``tasks`` have the order of insertion
    into Kafka's hash map, which matters if hash codes collide. Equal answers should have equal order.

    Args:
        tasks: Each id once.
        followup_rebalance_deadline_ms: Epoch milliseconds after which this client requests a rebalance (0 = at once),
            or ``None``.

    Raises:
        IllegalAssignmentStateError: if a task occurs twice, as ACTIVE and STANDBY, for example.
    """

    process_id: ProcessID
    tasks: tuple[AssignedTask, ...] = attrs.field(converter=_checked_tasks, default=())
    followup_rebalance_deadline_ms: int | None = None
    #: Additions to Kafka's map (True) and removals (False), in order; None without removals.
    _steps: tuple[tuple[TaskId, bool], ...] | None = attrs.field(default=None, init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        try:
            ids = {task.id for task in self.tasks}
        except AttributeError:
            return  # not tasks: the type check at the boundary reports it
        if len(ids) != len(self.tasks):
            seen: set[TaskId] = set()
            for task in self.tasks:
                if task.id in seen:
                    raise IllegalAssignmentStateError(
                        f"Duplicate key {task.id}: client {self.process_id} was given this task twice"
                    )
                seen.add(task.id)

    @classmethod
    def of(cls, process_id: ProcessID, tasks: Iterable[AssignedTask]) -> StreamsClientAssignment:
        """Without a follow-up rebalance."""
        return cls(process_id, tuple(tasks))

    def active_tasks(self) -> tuple[TaskId, ...]:
        """In the order of ``tasks``."""
        return tuple(task.id for task in self.tasks if task.type is AssignedTaskType.ACTIVE)

    def standby_tasks(self) -> tuple[TaskId, ...]:
        """In the order of ``tasks``."""
        return tuple(task.id for task in self.tasks if task.type is AssignedTaskType.STANDBY)

    def tasks_in_map_order(self) -> tuple[AssignedTask, ...]:
        """In the order of Kafka's hash map.

        A map never shrinks, and the tree of a crowded slot depends on removed tasks: calls of ``without_task`` matter.
        """
        tasks = {task.id: task for task in self.tasks}
        if self._steps is None:
            hashes = [_hash(task) for task in tasks]
            return tuple([tasks[task] for task in iteration_order(list(tasks), hashes, sort_key=TaskId.sort_key)])
        table: JavaHashTable[TaskId, None] = JavaHashTable(_hash, TaskId.sort_key)
        for task, came in self._steps:
            if came:
                table.put(task, None)
            else:
                table.remove(task)
        return tuple([tasks[task] for task in table])

    def with_task(self, task: AssignedTask) -> StreamsClientAssignment:
        """With ``task`` at the end, or in place of an equal id."""
        tasks = {held.id: held for held in self.tasks}
        tasks[task.id] = task
        steps = None if self._steps is None else (*self._steps, (task.id, True))
        return with_steps(attrs.evolve(self, tasks=tuple(tasks.values())), steps)

    def without_task(self, task: TaskId) -> StreamsClientAssignment:
        """Without ``task``, of any type."""
        kept = tuple([held for held in self.tasks if held.id != task])
        if len(kept) == len(self.tasks):
            return self
        steps = self._steps or tuple([(held.id, True) for held in self.tasks])
        return with_steps(attrs.evolve(self, tasks=kept), (*steps, (task, False)))

    def with_followup_rebalance(self, deadline_ms: int) -> StreamsClientAssignment:
        """With a follow-up rebalance after ``deadline_ms``, epoch milliseconds (0 = at once)."""
        return with_steps(attrs.evolve(self, followup_rebalance_deadline_ms=deadline_ms), self._steps)


def assignment_of_distinct(
    process_id: ProcessID, tasks: tuple[AssignedTask, ...], followup_rebalance_deadline_ms: int | None = None
) -> StreamsClientAssignment:
    """From tasks with distinct ids, unchecked."""
    made = object.__new__(_OpenAssignment)
    made.process_id = process_id
    made.tasks = tasks
    made.followup_rebalance_deadline_ms = followup_rebalance_deadline_ms
    made._steps = None
    made.__class__ = StreamsClientAssignment
    return made  # type: ignore[no-any-return]


_OpenAssignment = writable_class(StreamsClientAssignment)


def with_steps(
    assignment: StreamsClientAssignment, steps: Iterable[tuple[TaskId, bool]] | None
) -> StreamsClientAssignment:
    """Add the history ``steps`` of Kafka's map (see ``_steps``) in place."""
    object.__setattr__(assignment, "_steps", None if steps is None else tuple(steps))
    return assignment


def _hash(task: TaskId) -> int:
    return task_id_hash(task.subtopology, task.partition, task.topology_name)


def _checked_assignments(
    assignments: Iterable[StreamsClientAssignment] | Mapping[ProcessID, StreamsClientAssignment],
) -> tuple[StreamsClientAssignment, ...]:
    # An exact type check is many times as fast as an abstract base class.
    if type(assignments) is not list and isinstance(assignments, Mapping):
        for process, held in assignments.items():
            # The type check at the boundary reports other types.
            if isinstance(held, StreamsClientAssignment) and held.process_id != process:
                raise IllegalAssignmentArgumentError(
                    f"the assignment of client {held.process_id} is under the key of client {process}: "
                    "give each assignment under its own process id, or give a list"
                )
        return tuple(assignments.values())
    return tuple(assignments)


def _checked_remarks(remarks: Iterable[str]) -> tuple[str, ...]:
    return tuple(remarks)


@attrs.frozen
class TaskAssignment:
    """The answer of an assignor; ``str()`` sorts by process id. Kafka: ``TaskAssignor.TaskAssignment``.

    Args:
        assignments: One for each client, iterable or by process id.
        remarks: Sentences for people, such as an unmet wish and its reason; without effect, since Kafka has none.

    Raises:
        IllegalAssignmentArgumentError: if an assignment is under another process id.
    """

    #: One for each client that has tasks or was named, in the order in which the assignor gave them; never a mapping.
    #: Each has ``process_id``, ``tasks`` (active and standby) and ``followup_rebalance_deadline_ms``.
    assignments: tuple[StreamsClientAssignment, ...] = attrs.field(converter=_checked_assignments)
    #: Sentences for people, in the assignor's order; empty without any.
    remarks: tuple[str, ...] = attrs.field(default=(), converter=_checked_remarks)

    def num_streams_clients(self) -> int:
        """Number of clients."""
        return len(self.assignments)

    def __str__(self) -> str:
        lines = []
        for client in sorted(self.assignments, key=lambda assignment: assignment.process_id.sort_key()):
            active = ", ".join(str(task) for task in sorted(client.active_tasks()))
            standby = ", ".join(str(task) for task in sorted(client.standby_tasks()))
            line = f"{client.process_id}: active [{active}], standby [{standby}]"
            if client.followup_rebalance_deadline_ms is not None:
                line += f", follow-up rebalance after {client.followup_rebalance_deadline_ms} ms"
            lines.append(line)
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from assignment_api.notebook import names_text, paragraph, table

        clients = sorted(self.assignments, key=lambda assignment: assignment.process_id.sort_key())
        rows = (
            [
                client.process_id,
                len(client.active_tasks()),
                names_text(sorted(client.active_tasks()), len(client.active_tasks())),
                len(client.standby_tasks()),
                names_text(sorted(client.standby_tasks()), len(client.standby_tasks())),
                _followup(client.followup_rebalance_deadline_ms),
            ]
            for client in clients
        )
        columns = ["client", "runs", "active tasks", "copies", "standby tasks", "follow-up rebalance"]
        remarks = "".join(paragraph(remark) for remark in self.remarks[:5])
        return f"<div>{table('Answer: tasks of each client', columns, rows, len(clients))}{remarks}</div>"


def _followup(deadline_ms: int | None) -> str | None:
    if deadline_ms is None:
        return None
    return f"after {deadline_ms} ms" if deadline_ms else "at once"


#: The name of released Kafka.
KafkaStreamsAssignment = StreamsClientAssignment
