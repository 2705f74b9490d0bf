from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from assignment_api import ApplicationMetadata, AssignedTask, ProcessID, StreamsClientAssignment, TaskAssignment, TaskId
from assignment_api.connect import (
    ConfiguredJobs,
    ConnectAssignment,
    ConnectorTaskId,
    Jobs,
    Rebalance,
    Worker,
    WorkerAssignment,
)
from assignment_api.group import GroupAssignment, GroupMember, GroupSpec, MemberAssignment, MemberMetadata
from assignment_api.notebook import MAX_NAMES, MAX_ROWS, names_text, shown, table
from assignment_api.streams import AssignmentConfigs, StreamsClientState, TaskInfo

HOSTILE = "<script>alert(1)</script>\u202e\x1b[2J&"
SHOWN = "&lt;script&gt;alert(1)&lt;/script&gt;\\u202e\\x1b[2J&amp;"


def process(number: int) -> ProcessID:
    return ProcessID.parse(f"{number:08x}-0000-0000-0000-000000000000")


def application(clients: int, tasks: int, tags: dict[str, str] | None = None) -> ApplicationMetadata:
    ids = [TaskId(0, number) for number in range(tasks)]
    states = [
        StreamsClientState(
            process(number), 1, previous_active_tasks=tuple(ids[number::clients]), client_tags=tags or {}, rack_id="r"
        )
        for number in range(clients)
    ]
    return ApplicationMetadata(
        AssignmentConfigs(), [TaskInfo(task, is_stateful=True, is_logged=True) for task in ids], states
    )


def answer(clients: int, tasks: int) -> TaskAssignment:
    ids = [TaskId(0, number) for number in range(tasks)]
    return TaskAssignment(
        [
            StreamsClientAssignment.of(process(number), map(AssignedTask.active, ids[number::clients]))
            for number in range(clients)
        ],
        remarks=[HOSTILE],
    )


def test_a_state_is_a_row_for_each_client_with_what_it_had() -> None:
    page = application(2, 4)._repr_html_()
    assert "Application: 2 clients, 4 tasks, 4 with state" in page
    assert page.count("<tr>") == 3
    assert "0_0, 0_2" in page
    assert '<th scope="row"' in page
    assert "The lags are not known" in page


def test_an_answer_is_a_row_for_each_client_with_its_remarks() -> None:
    page = answer(2, 3)._repr_html_()
    assert page.count("<tr>") == 3
    assert "0_0, 0_2" in page
    assert SHOWN in page


@pytest.mark.parametrize("value", [application(900, 5_000), answer(900, 5_000)])
def test_five_thousand_tasks_make_a_small_cell(value: Any) -> None:
    page = value._repr_html_()
    assert len(page) < 40_000
    assert page.count("<tr>") == MAX_ROWS + 1
    assert "… and 860 more, which are not shown here" in page


def test_names_are_text_whatever_is_in_them() -> None:
    hostile: list[Any] = [
        application(1, 1, {HOSTILE: HOSTILE}),
        GroupSpec({HOSTILE: GroupMember(MemberMetadata(HOSTILE, rack_id=HOSTILE))}),
        GroupAssignment({HOSTILE: MemberAssignment({HOSTILE: [0]})}),
        Rebalance(ConfiguredJobs({HOSTILE: 1}), [Worker(HOSTILE, Jobs((HOSTILE,)))]),
        ConnectAssignment({HOSTILE: WorkerAssignment(Jobs((HOSTILE,), (ConnectorTaskId(HOSTILE, 0),)))}),
    ]
    for value in hostile:
        page = value._repr_html_()
        assert "&lt;script&gt;alert(1)&lt;/script" in page
        assert "<script" not in page
        assert "\u202e" not in page
        assert "\x1b" not in page


def test_kinds_of_groups_show_who_has_what() -> None:
    spec = GroupSpec({"m1": GroupMember(MemberMetadata("p1", rack_id="a"))})
    assert "Group: 1 member<" in spec._repr_html_()
    assert "0_1, 0_2, 1_0" in GroupAssignment({"m1": MemberAssignment({"0": [1, 2], "1": [0]})})._repr_html_()
    rebalance = Rebalance(ConfiguredJobs({"c": 2}), [Worker("w", Jobs(("c",), (ConnectorTaskId("c", 0),)))])
    assert "Rebalance of generation 0: 3 jobs" in rebalance._repr_html_()
    told = ConnectAssignment({"w": WorkerAssignment(Jobs(("c",)))}, delay_ms=500)._repr_html_()
    assert "join again after 500 ms" in told


def test_the_rest_is_counted_and_never_asked_for() -> None:
    def endless() -> Any:
        number = 0
        while True:
            assert number <= MAX_ROWS
            yield [number]
            number += 1

    assert "… and 960 more" in table("t", ["a"], endless(), 1_000)
    assert names_text(map(str, range(3)), 3) == "0, 1, 2"
    assert names_text(map(str, range(10**9)), 10**9).endswith(f"and {10**9 - MAX_NAMES} more")
    assert len(shown("x" * 10**6)) == 60
    assert table("t", ["a"], []).count("<tr>") == 1


@pytest.mark.slow
def test_importing_the_contract_does_not_import_it() -> None:
    words = "import sys, assignment_api; sys.exit('assignment_api.notebook' in sys.modules or 'html' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", words], check=False).returncode == 0
