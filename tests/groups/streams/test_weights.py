"""Every figure of balance by weight, computed by hand."""

from __future__ import annotations

import pytest

from assignment_api import TaskId, TaskWorkload, Workload
from assignor_lab.groups.streams.metrics.weights import SPIKE_METRICS
from tests.groups.streams.states import METRICS, Client, figure, weighing

# Sub-topology 0: weights 6, 2, 2, 2, together 12; sub-topology 1: weights 1 and 3. Client 1 has two threads of four.
TASKS = "0_0 0_1 0_2 0_3 1_0 1_1"
WORKLOAD = weighing("0_0: 6 60 300, 0_1: 2 20 100, 0_2: 2 20 100, 0_3: 2 20 100, 1_0: 1 0 0, 1_1: 3 40 0")
CLIENTS = [
    Client(threads=2, after="0_0 0_1 0_2 0_3"),
    Client(threads=1, after="1_0 | 0_0"),
    Client(threads=1, after="1_1 | 0_1"),
]


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        # 12 / 2 = 6, 1 / 1 = 1, 3 / 1 = 3 for each thread.
        ("active_weight_per_thread_range", 5.0),
        # The mean is 16 / 4 = 4.
        ("active_weight_above_even_share", 0.5),
        # 120 / 2 = 60, 0, 40; the mean is 160 / 4 = 40.
        ("input_above_even_share", 0.5),
        # 600, 300, 100 bytes on the disks; the mean is 1000 / 3.
        ("state_above_even_share", 0.8),
        # Sub-topology 0: client 1 has 12, its share is 6, the heaviest task 6. 1: client 3 has 3, its share is 1.
        ("subtopology_weight_above_unavoidable", 0.0),
        ("subtopologies_skewed_by_weight", 0.0),
    ],
)
def test_balance_by_weight(metric: str, expected: float) -> None:
    found = figure(metric, CLIENTS, tasks=TASKS, stateless="1_0 1_1", workload=WORKLOAD)
    assert found == pytest.approx(expected)


def test_more_than_a_share_and_the_heaviest_task_is_skewed() -> None:
    clients = [Client(after="0_0 0_1 0_2 0_3"), Client(after="")]
    workload = weighing("0_0: 2 0 0, 0_1: 1 0 0, 0_2: 1 0 0, 0_3: 2 0 0")
    # Client 1 has 6, its share is 3, the heaviest task weighs 2.
    assert figure("subtopology_weight_above_unavoidable", clients, tasks="0_0 0_1 0_2 0_3", workload=workload) == 1.0
    assert figure("subtopologies_skewed_by_weight", clients, tasks="0_0 0_1 0_2 0_3", workload=workload) == 1.0


WEIGHTED = [name for name, metric in METRICS.items() if "weight" in name or name.endswith("even_share")]
NEED_WORKLOAD = [name for name in WEIGHTED if "tasks" not in name]


@pytest.mark.parametrize("metric", NEED_WORKLOAD)
def test_without_a_workload_there_is_no_figure(metric: str) -> None:
    assert figure(metric, CLIENTS, tasks=TASKS) is None


@pytest.mark.parametrize("metric", NEED_WORKLOAD)
def test_where_one_task_is_unknown_there_is_no_figure(metric: str) -> None:
    known = Workload({TaskId.parse("0_0"): TaskWorkload(1, 1, 1)})
    assert figure(metric, CLIENTS, tasks=TASKS, workload=known) is None


@pytest.mark.parametrize(
    ("weights", "lag", "catch_up"),
    [
        # Even: a quarter of a thread before, three quarters in the spike.
        ((2, 2), 0, 0),
        # The busier thread has 1.5 times the mean: 0.375 before, 1.125 in the spike. 0.125 * 600 wait, 0.625 are free.
        ((3, 1), 75, 120),
        ((4, 0), 300, 600),
    ],
)
def test_lag_after_a_spike(weights: tuple[int, int], lag: float, catch_up: float) -> None:
    clients = [Client(after="0_0"), Client(after="0_1")]
    workload = weighing(", ".join(f"0_{number}: {weight} 0 0" for number, weight in enumerate(weights)))
    spike = {metric.name: metric for metric in SPIKE_METRICS}
    found = [figure(name, clients, tasks="0_0 0_1", workload=workload, metrics=spike) for name in spike]
    assert found == pytest.approx([lag, catch_up])
    assert figure("spike_lag_seconds", clients, tasks="0_0 0_1", metrics=spike) is None


def test_an_overloaded_process_never_catches_up() -> None:
    clients = [Client(after="0_0"), *[Client(after="") for _ in range(4)]]
    spike = {metric.name: metric for metric in SPIKE_METRICS}
    workload = weighing("0_0: 1 0 0")
    # Five times the mean: 1.25 of a thread before the spike.
    assert figure("spike_catch_up_seconds", clients, tasks="0_0", workload=workload, metrics=spike) == 3_600
