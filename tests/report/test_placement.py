from __future__ import annotations

import pytest

from assignor_lab.model.pictures import AssignorPlacement, ClientTasks, SnapshotClient, SnapshotPlacement, SnapshotTask
from assignor_lab.report.summary.placement import TaskChange, client_labels, column, runs_before, task_ranges

ONE, TWO = "11111111-0000-0000-0000-000000000000", "22222222-0000-0000-0000-000000000000"


def client(process: str, *consumers: str, host: str | None = None) -> SnapshotClient:
    return SnapshotClient(process, host, None, {}, 1, consumers)


def state(before: dict[str, ClientTasks], after: dict[str, ClientTasks]) -> tuple[SnapshotPlacement, AssignorPlacement]:
    answer = AssignorPlacement(assignor="a", error=None, followup=False, equals_observed=None, assignment=after)
    tasks = tuple(SnapshotTask(f"0_{number}", number != 3) for number in range(4))
    return SnapshotPlacement(
        scenario="s",
        round=0,
        chosen="captured",
        source=None,
        assumptions=(),
        clients=(client(ONE), client(TWO)),
        tasks=tasks,
        before=before,
        after=(answer,),
    ), answer


def changes(before: dict[str, ClientTasks], after: dict[str, ClientTasks]) -> dict[str, dict[str, TaskChange]]:
    shown = column(*state(before, after))
    return {
        row.client.process_id if row.client else "nobody": {
            slot.task: slot.change for slot in (*row.active, *row.standby, *row.leaving)
        }
        for row in shown.rows
    }


def test_every_kind_of_change_is_told_apart() -> None:
    before = {ONE: ClientTasks(("0_0", "0_1"), ("0_2",)), TWO: ClientTasks((), ("0_0",))}
    after = {ONE: ClientTasks(("0_2",), ("0_0",)), TWO: ClientTasks(("0_0", "0_1", "0_3"), ("0_2",))}
    assert changes(before, after) == {
        ONE: {"0_2": TaskChange.TAKES_OVER, "0_0": TaskChange.STEPS_DOWN, "0_1": TaskChange.LEAVES},
        TWO: {"0_0": TaskChange.TAKES_OVER, "0_1": TaskChange.STARTS, "0_3": TaskChange.NEW, "0_2": TaskChange.COPY},
        "nobody": {},
    }


def test_what_stays_is_no_change() -> None:
    held = {ONE: ClientTasks(("0_0", "0_1", "0_2", "0_3"), ()), TWO: ClientTasks((), ("0_0",))}
    assert set(changes(held, held)[ONE].values()) == {TaskChange.STAYS}
    assert column(*state(held, held)).moves == ()


def test_a_move_knows_where_from_and_whether_a_copy_was_there() -> None:
    before = {ONE: ClientTasks(("0_0", "0_3"), ()), TWO: ClientTasks((), ("0_0",))}
    after = {ONE: ClientTasks((), ()), TWO: ClientTasks(("0_0", "0_1", "0_3"), ())}
    told = [
        (move.task, move.source and move.source.process_id, move.warm, move.stateful)
        for move in column(*state(before, after)).moves
    ]
    assert told == [("0_0", ONE, True, True), ("0_1", None, False, True), ("0_3", ONE, False, False)]


def test_tasks_that_nobody_runs_have_a_row_of_their_own() -> None:
    before = {ONE: ClientTasks(("0_0",), ()), TWO: ClientTasks((), ())}
    placement, answer = state(before, {ONE: ClientTasks(("0_0", "0_1"), ()), TWO: ClientTasks(("0_2",), ())})
    assert [slot.task for slot in runs_before(placement)[-1].active] == ["0_1", "0_2", "0_3"]
    assert [slot.task for slot in column(placement, answer).rows[-1].active] == ["0_3"]


@pytest.mark.parametrize(
    ("tasks", "told"),
    [
        ([], ""),
        (["0_0"], "0_0"),
        (["0_0", "0_1"], "0_0, 0_1"),
        (["0_8", "0_9", "0_10", "1_0", "1_2"], "0_8–0_10, 1_0, 1_2"),
        (["t__0_0", "t__0_1", "t__0_2"], "t__0_0–t__0_2"),
        (["x", "_", "0_99999999999999999999"], "x, _, 0_99999999999999999999"),
    ],
)
def test_neighbouring_tasks_are_told_as_ranges(tasks: list[str], told: str) -> None:
    assert task_ranges(tasks) == told


def test_a_client_is_called_by_the_shortest_name_that_tells_it_apart() -> None:
    by_client_id = [client(ONE, "i1-StreamThread-1-consumer-x"), client(TWO, "i2-StreamThread-1-consumer-x")]
    assert client_labels(by_client_id) == {ONE: "i1", TWO: "i2"}
    by_host = [client(ONE, "c", host="a:1"), client(TWO, "c", host="b:1")]
    assert client_labels(by_host) == {ONE: "a:1", TWO: "b:1"}
    assert client_labels([client(ONE), client(TWO)]) == {ONE: "11111111", TWO: "22222222"}
    twins = [client("11111111-a"), client("11111111-b")]
    assert client_labels(twins) == {"11111111-a": "11111111-a", "11111111-b": "11111111-b"}


# --- members of processes -----------------------------------------------------------------------------


MEMBERS = (
    SnapshotClient("m1", None, None, {}, 1, (), process=ONE, instance_id="app-1-1"),
    SnapshotClient("m2", None, None, {}, 1, (), process=ONE, instance_id="app-1-2"),
    SnapshotClient("m3", None, None, {}, 1, (), process=TWO),
)


def member_changes(before: dict[str, ClientTasks], after: dict[str, ClientTasks]) -> dict[str, dict[str, TaskChange]]:
    answer = AssignorPlacement(assignor="a", error=None, followup=False, equals_observed=None, assignment=after)
    tasks = tuple(SnapshotTask(f"0_{number}", True) for number in range(5))
    shown = column(
        SnapshotPlacement(
            scenario="s",
            round=0,
            chosen="worst",
            source=None,
            assumptions=(),
            clients=MEMBERS,
            tasks=tasks,
            before=before,
            after=(answer,),
        ),
        answer,
    )
    return {
        row.client.process_id if row.client else "nobody": {
            slot.task: slot.change for slot in (*row.active, *row.standby, *row.leaving)
        }
        for row in shown.rows
    }


def test_what_changes_its_thread_is_told_apart_from_what_changes_its_process() -> None:
    before = {"m1": ClientTasks(("0_0", "0_1"), ("0_2",)), "m3": ClientTasks(("0_2", "0_3"), ("0_1",))}
    after = {"m2": ClientTasks(("0_0", "0_2", "0_3"), ("0_1",)), "m1": ClientTasks((), ()), "m3": ClientTasks((), ())}
    assert member_changes(before, after)["m2"] == {
        "0_0": TaskChange.SHIFTS,
        # Its sibling had the standby, so the process has the state.
        "0_2": TaskChange.TAKES_OVER,
        "0_3": TaskChange.STARTS,
        "0_1": TaskChange.STEPS_DOWN,
    }
    assert member_changes(before, after)["m1"] == dict.fromkeys(("0_0", "0_1", "0_2"), TaskChange.LEAVES)


def test_a_standby_that_changes_its_thread_is_no_new_copy() -> None:
    before = {"m1": ClientTasks((), ("0_0",)), "m3": ClientTasks(("0_0",), ())}
    after = {"m2": ClientTasks((), ("0_0",)), "m3": ClientTasks(("0_0",), ())}
    assert member_changes(before, after)["m2"] == {"0_0": TaskChange.SHIFTS}


def test_a_warm_up_is_told_as_one_and_counts_as_a_copy_afterwards() -> None:
    before = {"m3": ClientTasks(("0_0",), (), ("0_1",))}
    after = {"m1": ClientTasks((), (), ("0_0",)), "m3": ClientTasks(("0_0", "0_1"), ())}
    changed = member_changes(before, after)
    assert changed["m1"] == {"0_0": TaskChange.WARMS_UP}
    assert changed["m3"] == {"0_0": TaskChange.STAYS, "0_1": TaskChange.TAKES_OVER}


def test_members_are_called_by_their_process_and_a_number() -> None:
    assert client_labels(MEMBERS) == {"m1": "11111111 · 1", "m2": "11111111 · 2", "m3": "22222222 · 1"}
    alike = [SnapshotClient("m", None, None, {}, 1, (), process=process) for process in (ONE, ONE[:-1] + "1")]
    assert client_labels(alike)["m"] == f"{ONE[:-1]}1 · 1"


def test_a_move_within_a_process_says_so() -> None:
    before, after = {"m1": ClientTasks(("0_0",), ())}, {"m2": ClientTasks(("0_0",), ())}
    answer = AssignorPlacement(assignor="a", error=None, followup=False, equals_observed=None, assignment=after)
    placement = SnapshotPlacement(
        scenario="s",
        round=0,
        chosen="worst",
        source=None,
        assumptions=(),
        clients=MEMBERS,
        tasks=(SnapshotTask("0_0", True),),
        before=before,
        after=(answer,),
    )
    (move,) = column(placement, answer).moves
    assert (move.within, move.warm, move.source and move.source.process_id) == (True, False, "m1")
