"""Every figure of bytes, waits and dollars, computed by hand."""

from __future__ import annotations

from typing import Any

import pytest

from assignor_lab.groups.prices import Prices
from assignor_lab.groups.streams.metrics.cost import COST_METRICS, priced_metrics
from tests.groups.streams.states import Client, figure, weighing

GIB = 1 << 30
# Client 1 (rack a) ran 0_0, 0_1 and the stateless 1_0; client 2 (rack b) ran 0_2. Client 3 (rack b) is new.
TASKS = "0_0 0_1 0_2 1_0"
CLIENTS = [
    Client(before="0_0 0_1 1_0", after="0_0", rack="a"),
    Client(before="0_2", after="0_2", rack="b"),
    Client(before="", after="0_1 1_0 | 0_0", rack="b"),
]
WORKLOAD = weighing(f"0_0: 1 10 {4 * GIB}, 0_1: 1 20 {2 * GIB}, 0_2: 1 30 {GIB}, 1_0: 1 40 0", GIB / 4)
RACKS: dict[str, Any] = {
    "source_racks": {"0_0": ["b"], "0_1": ["a"], "0_2": ["b"], "1_0": ["a", "b"]},
    "log_racks": {"0_0": ["a"], "0_1": ["a", "b"], "0_2": ["a"]},
}
PRICES = Prices(0.5, 100, "a test", "today")
PRICED = {metric.name: metric for metric in (*COST_METRICS, *priced_metrics(PRICES))}


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("restored_bytes", 6.0 * GIB),
        ("restored_bytes_before_processing", 2.0 * GIB),
        ("longest_restore_seconds", 8.0),
        ("cross_zone_restored_bytes", 4.0 * GIB),
        ("cross_zone_bytes_per_s", 30.0),
        ("movement_dollars", 2.0),
        # 30 bytes a second for 100 hours of 3,600 seconds.
        ("cross_zone_dollars_per_month", 30.0 * 360_000 / GIB * 0.5),
    ],
)
def test_costs(metric: str, expected: float) -> None:
    found = figure(metric, CLIENTS, tasks=TASKS, stateless="1_0", workload=WORKLOAD, metrics=PRICED, **RACKS)
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("metric", [metric.name for metric in COST_METRICS])
def test_without_a_workload_there_is_no_figure(metric: str) -> None:
    assert figure(metric, CLIENTS, tasks=TASKS, stateless="1_0", **RACKS) is None


@pytest.mark.parametrize("metric", [name for name in PRICED if "zone" in name or "dollars" in name])
def test_without_racks_nothing_is_known_to_cross_zones(metric: str) -> None:
    assert figure(metric, CLIENTS, tasks=TASKS, stateless="1_0", workload=WORKLOAD) is None


def test_without_a_rate_nobody_knows_how_long_a_restore_takes() -> None:
    unknown = weighing("0_0: 1 1 1, 0_1: 1 1 1, 0_2: 1 1 1, 1_0: 1 1 1")
    assert figure("longest_restore_seconds", CLIENTS, tasks=TASKS, stateless="1_0", workload=unknown) is None


def test_who_had_a_copy_restores_nothing_from_the_beginning() -> None:
    clients = [Client(before="0_0", after=""), Client(before="| 0_0", after="0_0")]
    assert figure("restored_bytes", clients, tasks="0_0", workload=weighing("0_0: 1 1 100")) == 0.0


def test_a_partition_with_replicas_everywhere_costs_nothing() -> None:
    clients = [Client(after="0_0", rack="a"), Client(after="", rack="b")]
    found = figure(
        "cross_zone_bytes_per_s",
        clients,
        tasks="0_0",
        workload=weighing("0_0: 1 100 1"),
        source_racks={"0_0": ["a", "b"]},
        log_racks={"0_0": ["b"]},
    )
    assert found == 0.0
