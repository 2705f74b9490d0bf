from __future__ import annotations

import pytest

from assignment_api import (
    AssignedTask,
    IllegalAssignmentStateError,
    ProcessID,
    StreamsClientAssignment,
    TaskAssignment,
    TaskId,
)

FIRST = ProcessID.parse("00000000-0000-0000-0000-000000000001")
LAST = ProcessID.parse("ffffffff-0000-0000-0000-000000000001")
A, B = TaskId(0, 0), TaskId(0, 1)


def test_active_and_standby_tasks_keep_their_order() -> None:
    assignment = StreamsClientAssignment.of(FIRST, [AssignedTask.active(B), AssignedTask.standby(A)])
    assert assignment.active_tasks() == (B,)
    assert assignment.standby_tasks() == (A,)


def test_a_task_cannot_have_two_roles_in_one_client() -> None:
    with pytest.raises(IllegalAssignmentStateError, match="Duplicate key 0_0") as error:
        StreamsClientAssignment.of(FIRST, [AssignedTask.active(A), AssignedTask.standby(A)])
    assert error.value.java_type == "IllegalStateException"


def test_assigning_a_task_again_replaces_its_role_in_place() -> None:
    assignment = StreamsClientAssignment.of(FIRST, [AssignedTask.active(A), AssignedTask.active(B)])
    changed = assignment.with_task(AssignedTask.standby(A))
    assert changed.tasks == (AssignedTask.standby(A), AssignedTask.active(B))
    assert assignment.tasks[0] == AssignedTask.active(A)


def test_a_task_is_removed_whatever_its_role() -> None:
    assignment = StreamsClientAssignment.of(FIRST, [AssignedTask.standby(A)])
    assert assignment.without_task(A).tasks == ()
    assert assignment.without_task(B) == assignment


def test_the_text_lists_clients_by_process_id_and_tasks_by_id() -> None:
    second = StreamsClientAssignment.of(FIRST, [AssignedTask.active(B), AssignedTask.active(A)])
    first = StreamsClientAssignment.of(LAST, [AssignedTask.standby(A)]).with_followup_rebalance(0)
    assert str(TaskAssignment([second, first])) == (
        f"{LAST}: active [], standby [0_0], follow-up rebalance after 0 ms\n{FIRST}: active [0_0, 0_1], standby []"
    )


def test_the_number_of_clients_counts_clients_without_tasks() -> None:
    assert TaskAssignment({FIRST: StreamsClientAssignment(FIRST)}).num_streams_clients() == 1
