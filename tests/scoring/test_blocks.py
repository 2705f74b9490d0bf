"""Blocks depend on the plan alone: they have every item once, in order, and parts are equal for any cluster."""

from __future__ import annotations

import io
import pickle
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from assignment_api.plugins import config_sources, discover
from assignor_lab.groups.work import WorkItem
from assignor_lab.scoring import Generated
from assignor_lab.scoring.engine import blocks
from assignor_lab.scoring.engine.blocks import (
    BLOCK_ITEMS,
    FIRST_BLOCKS,
    LEAST_ITEMS,
    MOST_PARTS,
    PART_BLOCKS,
    SMALL_RUN_BLOCKS,
    RunPart,
    parts_of,
)
from assignor_lab.scoring.sources.parts import FAMILY
from assignor_lab.scoring.sources.plan import ScoringPlan, ScoringSource
from assignor_lab.scoring.sources.reading import plan_sources
from tests.scenarios.documents import streams_document


def plan_of(*counts: int) -> ScoringPlan:
    """Families with so many histories."""
    sources, first = [], 0
    for number, count in enumerate(counts):
        sources.append(ScoringSource(f"f{number}", FAMILY, first, count, Generated(f"f{number}", count, 100 * number)))
        first += count
    return ScoringPlan(sources, io.BytesIO())


def items_of(parts: Sequence[RunPart]) -> list[WorkItem]:
    return [
        item
        for part in parts
        for number in range(part.first_block, part.first_block + part.blocks)
        for item in part.block(number)
    ]


@pytest.mark.parametrize("counts", [(1,), (BLOCK_ITEMS,), (BLOCK_ITEMS + 1, 3), (700, 1, 0, 513), (70 * BLOCK_ITEMS,)])
def test_every_item_is_in_one_block_in_order(counts: Sequence[int]) -> None:
    plan = plan_of(*counts)
    parts = list(parts_of(plan))
    assert items_of(parts) == list(plan.work())
    assert sum(part.items for part in parts) == plan.items
    assert [part.number for part in parts] == list(range(len(parts)))


def test_blocks_of_a_part_follow_those_of_the_part_before() -> None:
    parts = list(parts_of(plan_of(PART_BLOCKS * BLOCK_ITEMS + 1, 3 * PART_BLOCKS * BLOCK_ITEMS)))
    assert len(parts) > 3
    for one, other in pairwise(parts):
        assert other.first_block == one.first_block + one.blocks


def test_a_hundred_million_histories_are_few_and_small_parts() -> None:
    """Histories travel as ranges: neither the driver nor a task holds them."""
    parts = list(parts_of(plan_of(60_000_000, 40_000_000)))
    assert len(parts) <= MOST_PARTS + 1
    assert sum(part.items for part in parts) == 100_000_000
    assert all(len(pickle.dumps(part)) < 1_000 for part in parts)
    last = parts[-1]
    assert last.block(last.first_block + last.blocks - 1)[-1].number == 99_999_999


@pytest.mark.parametrize("count", [1, 30, 100, 3_000, 100_000, 131_072, 200_000])
def test_a_small_run_has_small_blocks(count: int) -> None:
    """So many cores have work, and a task is not too small."""
    parts = list(parts_of(plan_of(count)))
    sizes = {
        len(part.block(block)) for part in parts for block in range(part.first_block, part.first_block + part.blocks)
    }
    assert max(sizes) <= BLOCK_ITEMS
    assert min(LEAST_ITEMS, count) <= max(sizes)
    assert sum(part.blocks for part in parts) >= min(SMALL_RUN_BLOCKS, count / LEAST_ITEMS) / 2


def test_parts_begin_small_if_plugins_can_be_excluded() -> None:
    plan = plan_of(1_000 * BLOCK_ITEMS)
    sizes = [part.blocks for part in parts_of(plan, can_exclude=True)]
    assert sizes[:7] == [FIRST_BLOCKS * 2**number for number in range(6)] + [PART_BLOCKS]
    assert items_of(list(parts_of(plan, can_exclude=True))) == list(plan.work())


def test_scenarios_travel_in_blocks_of_bounded_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "LEAST_ITEMS", 4)
    given = config_sources(environ={}, start=tmp_path)
    documents = [streams_document(id=f"s-{number}") for number in range(10)]
    with plan_sources([*documents, Generated("streams_4x40", 3, 7)], discover(), given.above) as plan:
        parts = list(parts_of(plan))
        assert items_of(parts) == list(plan.work())
        assert [len(span.items) for span in parts[0].spans] == [4, 4, 2, 0]


def test_one_item_alone_is_one_block() -> None:
    plan = ScoringPlan([ScoringSource("f", FAMILY, 0, 9, Generated("f", 9, 0))], io.BytesIO(), only=4)
    (part,) = parts_of(plan)
    assert [item.number for item in items_of([part])] == [4]
