"""Every figure of balance, computed by hand."""

from __future__ import annotations

import pytest

from tests.groups.streams.states import Client, figure

# Two threads and one: four tasks with state and three without, two standbys on the second client.
TASKS = "0_0 0_1 0_2 0_3 1_0 1_1 1_2"
STATELESS = "1_0 1_1 1_2"
CLIENTS = [
    Client(after="0_0 0_1 0_2 1_0 1_1", threads=2),  # 5 active, 3 with state, 2 without, no standby
    Client(after="0_3 1_2 | 0_0 0_1", threads=1),  # 2 active, 1 with state, 1 without, 2 standbys
]


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("active_tasks_per_member_range", 1.0),
        # 2 and 1 with state; 1.
        ("stateful_tasks_per_member_range", 1.0),
        # 1 and 1 without; 1.
        ("stateless_tasks_per_member_range", 0.0),
        # 3 and 2; 4.
        ("total_tasks_per_member_range", 2.0),
        # Even shares on 3 members: ceil(7/3) = 3, ceil(4/3) = 2, ceil(3/3) = 1, ceil(9/3) = 3.
        ("active_tasks_above_even_share", 0.0),
        ("stateful_tasks_above_even_share", 0.0),
        ("stateless_tasks_above_even_share", 0.0),
        ("total_tasks_above_even_share", 1.0),
        ("active_tasks_per_thread_range", 0.5),
        ("stateful_tasks_per_thread_range", 0.5),
        ("stateless_tasks_per_thread_range", 0.0),
        ("total_tasks_per_thread_range", 1.5),
        # Busiest 4/1, mean 9/3.
        ("process_load_excess", 1.0),
        # 0/2 against 2/1.
        ("standby_load_per_process_range", 2.0),
    ],
)
def test_balance_of_two_uneven_clients(metric: str, expected: float) -> None:
    assert figure(metric, CLIENTS, tasks=TASKS, stateless=STATELESS) == expected


def test_everything_on_one_of_two_members_is_half_the_tasks_above_the_even_share() -> None:
    clients = [Client(after="0_0 0_1 0_2 0_3"), Client()]
    assert figure("active_tasks_above_even_share", clients, tasks="0_0 0_1 0_2 0_3") == 2.0
    assert figure("active_tasks_per_member_range", clients, tasks="0_0 0_1 0_2 0_3") == 4.0


def test_skew_that_rounding_forces_is_no_skew() -> None:
    clients = [Client(after="0_0 0_1"), Client(after="0_2")]
    assert figure("subtopology_skew_above_unavoidable", clients, tasks="0_0 0_1 0_2") == 0.0
    assert figure("subtopologies_skewed", clients, tasks="0_0 0_1 0_2") == 0.0


def test_sub_topologies_are_looked_at_one_by_one() -> None:
    # Two tasks each in total, but each sub-topology lies on one client: 2 - 1 above and 1 - 0 below the share of 1.
    clients = [Client(after="0_0 0_1"), Client(after="1_0 1_1")]
    assert figure("active_tasks_per_member_range", clients, tasks="0_0 0_1 1_0 1_1") == 0.0
    assert figure("subtopology_skew_above_unavoidable", clients, tasks="0_0 0_1 1_0 1_1") == 2.0
    assert figure("subtopologies_skewed", clients, tasks="0_0 0_1 1_0 1_1") == 2.0


def test_skew_takes_threads_into_account() -> None:
    # Shares of 3 tasks on 2 and 1 threads are 2 and 1.
    clients = [Client(after="0_0 0_1", threads=2), Client(after="0_2")]
    assert figure("subtopology_skew_above_unavoidable", clients, tasks="0_0 0_1 0_2") == 0.0


@pytest.mark.parametrize(
    "metric", ["active_tasks_per_member_range", "process_load_excess", "subtopology_skew_above_unavoidable"]
)
def test_one_client_alone_is_balanced(metric: str) -> None:
    assert figure(metric, [Client(after="0_0 0_1")], tasks="0_0 0_1") == 0.0


def test_a_client_that_says_no_threads_counts_as_having_one() -> None:
    clients = [Client(after="0_0", threads=0), Client(after="0_1")]
    assert figure("active_tasks_per_thread_range", clients, tasks="0_0 0_1") == 0.0
