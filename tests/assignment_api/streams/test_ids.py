from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignment_api import (
    HostInfo,
    IllegalAssignmentStateError,
    ProcessID,
    ProcessIdFormatError,
    TaskId,
    TaskIdFormatError,
)

INT32 = st.integers(-(2**31), 2**31 - 1)


@given(
    INT32, INT32, st.one_of(st.none(), st.text(min_size=1).filter(lambda name: "__" not in name and name[-1] != "_"))
)
def test_a_task_id_reads_back_what_it_prints(subtopology: int, partition: int, name: str | None) -> None:
    task = TaskId(subtopology, partition, name)
    assert TaskId.parse(str(task)) == task


@pytest.mark.parametrize(
    "text", ["", "1", "1_", "_1", "a_b", "1_2_3", "x__1", "1 _2", "99999999999_0", "0_2147483648", "１_2"]
)
def test_what_is_no_task_id_is_refused(text: str) -> None:
    with pytest.raises(TaskIdFormatError, match="is not a task id"):
        TaskId.parse(text)


def test_signs_are_accepted_as_in_java() -> None:
    assert TaskId.parse("+1_-2") == TaskId(1, -2)


def test_an_empty_topology_name_is_no_name() -> None:
    assert TaskId(1, 2, "") == TaskId(1, 2) == TaskId.parse("__1_2")


def test_numbers_sort_as_numbers() -> None:
    assert sorted([TaskId(10, 0), TaskId(2, 11), TaskId(2, 3)]) == [TaskId(2, 3), TaskId(2, 11), TaskId(10, 0)]


def test_topology_names_sort_by_utf16_units() -> None:
    supplementary, private_use = TaskId(0, 0, "\U00010000"), TaskId(0, 0, "\ue000")
    assert supplementary < private_use


def test_named_and_unnamed_tasks_have_no_order() -> None:
    with pytest.raises(IllegalAssignmentStateError, match="cannot be ordered"):
        sorted([TaskId(0, 0), TaskId(0, 0, "a")])


def test_a_task_id_survives_pickling() -> None:
    task = TaskId(1, 2, "name")
    copy = pickle.loads(pickle.dumps(task))
    assert copy == task
    assert hash(copy) == hash(task)


def test_process_ids_sort_as_signed_numbers() -> None:
    texts = [
        "b533260f-6479-4014-a007-818481bd98c6",
        "ffffffff-0000-0000-0000-000000000000",
        "00000000-0000-0000-ffff-ffffffffffff",
        "00000000-0000-0000-0000-000000000000",
        "131f0ada-6b6a-4e75-a6a0-4149958664e3",
    ]
    assert [str(process) for process in sorted(map(ProcessID.parse, reversed(texts)))] == texts


@pytest.mark.parametrize(
    "text", ["", "1", "{131f0ada-6b6a-4e75-a6a0-4149958664e3}", "131f0ada6b6a4e75a6a04149958664e3"]
)
def test_what_is_no_process_id_is_refused(text: str) -> None:
    with pytest.raises(ProcessIdFormatError, match="expected a UUID"):
        ProcessID.parse(text)


def test_a_host_prints_with_its_port() -> None:
    assert str(HostInfo("h", 80)) == "h:80"
