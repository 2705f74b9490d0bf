from __future__ import annotations

from assignment_api import TaskId
from assignor_lab.capture.recorded.group_documents import sorted_tasks


def test_a_task_with_two_partitions_is_listed_once() -> None:
    listed = [TaskId.parse(each) for each in ("1_0", "0_10", "0_2", "1_0", "0_2")]
    assert sorted_tasks(listed) == ["0_2", "0_10", "1_0"]
