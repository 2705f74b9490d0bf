"""Time of rows, and sizes of items."""

from __future__ import annotations

import itertools
import tracemalloc
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pytest

from assignment_api.plugins import discover
from assignor_lab.groups.work import WorkItem
from assignor_lab.scoring import Generated
from assignor_lab.scoring.engine.costs import Spent, spent_on, units_of
from assignor_lab.scoring.sources.reading import plan_sources

REGISTRY = discover()
SCHEMA = pa.schema(
    [("item", pa.int64()), ("round", pa.int32()), ("source", pa.int32()), ("family", pa.string())]
    + [(name, pa.float64()) for name in ("assign_wall_ms", "build_ms", "metrics_ms")]
)


def rows(*entries: Mapping[str, Any]) -> pa.Table:
    filled = {"round": 0, "source": 0, "family": "f", "assign_wall_ms": 1.0, "build_ms": 2.0, "metrics_ms": 4.0}
    return pa.Table.from_pylist([{**filled, **entry} for entry in entries], schema=SCHEMA)


def history(number: int, seed: int = 0, source: int = 0) -> WorkItem:
    return WorkItem(number, source, family="f", seed=seed)


def test_time_of_a_shared_state_counts_once() -> None:
    assert spent_on(rows({"item": 1}, {"item": 1})) == Spent(4.0, 2.0, 8.0)
    assert spent_on(rows({"item": 1, "family": None}, {"item": 1, "family": None})) == Spent(2.0, 2.0, 8.0)
    assert spent_on(rows({"item": 1, "assign_wall_ms": None})).total == 6.0


def test_a_family_estimates_its_sizes() -> None:
    assert units_of([history(0, seed=3), history(1, seed=11)], {"f": float}) == 14.0
    assert units_of([history(0, seed=3)], {}) == 1.0
    assert units_of([history(0), history(1)], {"f": lambda _seed: 1.7e308}) == 2e12


@pytest.mark.parametrize("answer", [float("nan"), float("inf"), -1.0, 0.0, "many", None])
def test_an_estimate_that_is_no_size_has_no_effect(answer: Any) -> None:
    assert units_of([history(0)], {"f": lambda _seed: answer}) == 1.0


def test_an_estimate_that_fails_has_no_effect() -> None:
    def fails(_seed: int) -> float:
        raise RuntimeError("no")

    assert units_of([history(0)], {"f": fails}) == 1.0


def test_a_larger_document_is_more_expensive() -> None:
    assert units_of([WorkItem(0, 0, "x" * 100_000)], {}) > 10 * units_of([WorkItem(1, 0, "x" * 100)], {})


def test_a_plan_of_a_thousand_million_histories_is_counted_not_held() -> None:
    tracemalloc.start()
    with plan_sources([Generated("streams_4x40", 10**9, 5)], REGISTRY) as plan:
        assert plan.items == 10**9
        first = list(itertools.islice(plan.work(), 1000))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert first[-1] == WorkItem(999, 0, family="streams_4x40", seed=1004)
    assert peak < 2**20


@pytest.mark.parametrize("family", [found.name for found in REGISTRY.families() if found.plugin.size is not None])
def test_installed_families_estimate_sizes_of_some_use(family: str) -> None:
    size = REGISTRY.family(family).plugin.size
    assert size is not None
    sizes = [size(seed) for seed in range(200)]
    assert sizes == [size(seed) for seed in range(200)]
    assert 0 < min(sizes) < max(sizes)
