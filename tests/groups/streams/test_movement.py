"""Every figure of movement, computed by hand."""

from __future__ import annotations

import pytest

from tests.groups.streams.states import Client, figure

TASKS = "0_0 0_1 0_2 0_3 1_0"
CLIENTS = [
    Client(before="0_0 0_1 1_0 | 0_2", after="0_0 | 0_1"),
    Client(before="0_2 | 0_0", after="0_2 0_3"),
    Client(before="", after="0_1 1_0 | 0_0 0_2"),
]


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        # 0_1 went from client 1 to client 3. 0_3 had no client.
        ("stateful_actives_moved", 1.0),
        # 1_0 went from client 1 to client 3.
        ("stateless_actives_moved", 1.0),
        # 0_0: client 3 instead of client 2. 0_2: client 3 instead of client 1. 0_1 had no standby before.
        ("standbys_moved", 2.0),
        # 0_1, 0_0 and 0_2 on client 3, 0_3 on client 2.
        ("replicas_placed_without_state", 4.0),
        # 0_1 on client 3, 0_3 on client 2.
        ("actives_placed_without_state", 2.0),
        # Of 0_0, 0_1, 0_2, 1_0 stay 0_0 and 0_2.
        ("tasks_kept_on_process", 0.5),
        ("tasks_kept_on_member", 0.5),
    ],
)
def test_movement_of_five_tasks(metric: str, expected: float) -> None:
    assert figure(metric, CLIENTS, tasks=TASKS, stateless="1_0") == expected


def test_taking_over_from_a_standby_needs_no_restoring() -> None:
    clients = [Client(before="0_0", after="| 0_0"), Client(before="| 0_0", after="0_0")]
    assert figure("stateful_actives_moved", clients, tasks="0_0") == 1.0
    assert figure("standbys_moved", clients, tasks="0_0") == 0.0
    assert figure("replicas_placed_without_state", clients, tasks="0_0") == 0.0
    assert figure("actives_placed_without_state", clients, tasks="0_0") == 0.0


def test_a_standby_that_is_added_was_not_moved() -> None:
    clients = [Client(before="0_0", after="0_0"), Client(after="| 0_0")]
    assert figure("standbys_moved", clients, tasks="0_0") == 0.0
    assert figure("replicas_placed_without_state", clients, tasks="0_0") == 1.0


def test_nothing_was_kept_where_nothing_was_known() -> None:
    assert figure("tasks_kept_on_process", [Client(after="0_0")], tasks="0_0") is None


def test_staying_on_the_process_does_not_tell_the_thread() -> None:
    clients = [Client(before="0_0 0_1", after="0_0 0_1", threads=2)]
    assert figure("tasks_kept_on_process", clients, tasks="0_0 0_1") == 1.0
    assert figure("tasks_kept_on_member", clients, tasks="0_0 0_1") is None


def test_tasks_that_exist_no_longer_do_not_count() -> None:
    clients = [Client(before="0_0 9_9", after="0_0")]
    assert figure("tasks_kept_on_process", clients, tasks="0_0") == 1.0
