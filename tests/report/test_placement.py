"""What happens to each task between before and after."""

from __future__ import annotations

import pytest

from assignor_lab.report.pictures import AssignorPlacement, Client, ClientTasks, Placement, Task
from assignor_lab.report.placement import Change, client_labels, column, runs_before, task_ranges

ONE, TWO = "11111111-0000-0000-0000-000000000000", "22222222-0000-0000-0000-000000000000"


def client(process: str, *consumers: str, host: str | None = None) -> Client:
    return Client(process, host, None, {}, 1, consumers)


def state(before: dict[str, ClientTasks], after: dict[str, ClientTasks]) -> tuple[Placement, AssignorPlacement]:
    answer = AssignorPlacement("a", None, False, None, after)
    tasks = tuple(Task(f"0_{number}", number != 3) for number in range(4))
    return Placement("s", 0, "captured", None, (), (client(ONE), client(TWO)), tasks, before, (answer,)), answer


def changes(before: dict[str, ClientTasks], after: dict[str, ClientTasks]) -> dict[str, dict[str, Change]]:
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
        ONE: {"0_2": Change.TAKES_OVER, "0_0": Change.STEPS_DOWN, "0_1": Change.LEAVES},
        TWO: {"0_0": Change.TAKES_OVER, "0_1": Change.STARTS, "0_3": Change.NEW, "0_2": Change.COPY},
        "nobody": {},
    }


def test_what_stays_is_no_change() -> None:
    held = {ONE: ClientTasks(("0_0", "0_1", "0_2", "0_3"), ()), TWO: ClientTasks((), ("0_0",))}
    assert set(changes(held, held)[ONE].values()) == {Change.STAYS}
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
