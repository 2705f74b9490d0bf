"""The rows of a run do not depend on the order of its blocks, nor on the number of its stops."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import attrs
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assignment_api.plugins import config_sources, discover
from assignor_lab.scoring import Generated
from assignor_lab.scoring.contenders import found_contenders
from assignor_lab.scoring.engine import blocks
from assignor_lab.scoring.engine.batches import scored_schema
from assignor_lab.scoring.engine.engine import BlockWork, JobFailedError
from assignor_lab.scoring.engine.in_process import InProcess
from assignor_lab.scoring.engine.rows_folder import write_block
from assignor_lab.scoring.output.folder import OutputFolder
from assignor_lab.scoring.output.tables import block_schema
from assignor_lab.scoring.rows import Progress, score_rows
from assignor_lab.scoring.sources.reading import plan_sources
from assignor_lab.scoring.terms import ScoringRun

FAMILY = "streams_4x40"


@attrs.define
class Scheduler(InProcess):
    """Writes blocks in any order, a row for each item, and fails now and then."""

    chance: random.Random = attrs.field(factory=random.Random)
    failing: float = 0.0
    tasks: int = 0

    def write(self, work: BlockWork, on_tick: Callable[[], None]) -> None:
        folder = work.target.folder
        assert folder is not None
        schema = scored_schema(work.spec)
        for number in self.chance.sample(work.blocks, len(work.blocks)):
            self.tasks += 1
            if self.chance.random() < self.failing:
                raise JobFailedError("an executor was lost")
            made = [
                {"block": number, "item": item.number, "round": 0, "source": 0, "assignor": "sticky", "seed": item.seed}
                for item in work.part.block(number)
            ]
            batch = pa.RecordBatch.from_pylist(made, schema=block_schema(schema))
            write_block(folder, number, schema, [batch])
            on_tick()


@contextmanager
def run_of(items: int, out: Path, *, resume: bool = False) -> Iterator[tuple[ScoringRun, OutputFolder]]:
    registry, config = discover(), config_sources(environ={}, start=out.parent)
    with plan_sources([Generated(FAMILY, items, 7)], registry) as plan, OutputFolder(out, resume=resume) as folder:
        competing = found_contenders(registry, ["sticky"])
        yield ScoringRun(registry, competing, plan, config, columns=("tasks_kept_on_process",)), folder


def scored(items: int, out: Path, engine: Scheduler, *, resume: bool = False) -> tuple[pa.Table, list[Progress]]:
    progress: list[Progress] = []
    with run_of(items, out, resume=resume) as (run, folder):
        found = score_rows(run, engine, folder, progress.append)
        return pq.read_table(found.results), progress


@pytest.mark.slow
@pytest.mark.long
def test_a_thousand_blocks_in_any_order_with_stops_are_the_same_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "BLOCK_ITEMS", 2)
    items = 2_000
    whole, progress = scored(items, tmp_path / "whole", Scheduler(chance=random.Random(1)))
    assert whole["item"].to_pylist() == list(range(items))
    assert whole["seed"].to_pylist() == list(range(7, 7 + items))
    seen = [each.items for each in progress]
    assert seen == sorted(seen)
    assert seen[-1] == items
    engine = Scheduler(chance=random.Random(2), failing=0.003)
    stops, again = 0, None
    while again is None:
        try:
            again, _ = scored(items, tmp_path / "again", engine, resume=True)
        except JobFailedError:
            stops += 1
    assert stops > 1
    # A stop costs its own task, and no complete block is written twice.
    assert engine.tasks == items // 2 + stops
    assert again.equals(whole)
