"""With any amount of parallel work, the rows are those of a run without guesses about exclusions."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

import attrs
import pyarrow as pa
import pytest

from assignment_api.plugins.selection import config_sources
from assignor_lab.groups.runner.terms import JobSpec
from assignor_lab.groups.work import WorkItem
from assignor_lab.scoring.engine.batches import answer_batches, scored_schema
from assignor_lab.scoring.engine.engine import RunWork, Wave
from assignor_lab.scoring.engine.exclusion import RunExclusions
from assignor_lab.scoring.engine.reconciliation import ComputedRows
from assignor_lab.scoring.engine.speculation import MARK, Speculation
from assignor_lab.scoring.output.pieces import NOTED
from assignor_lab.scoring.output.tables import KEY_NAMES
from assignor_lab.scoring.sources.plan import ScoringSource
from assignor_lab.scoring.spark import waves

SOURCES = (ScoringSource("a", "family", 0, 400), ScoringSource("b", "family", 400, 800))
ITEMS = 1_200
ASSIGNORS = ("good", "bad", "worse")
#: Assignor to item to its kind of loss there.
Losses = Mapping[str, Mapping[int, str]]
TIME, DIED = "DeadlineExceededError", "ProcessDiedError"


@attrs.define
class Scores:
    spec: JobSpec
    losses: Losses
    waited: int = 0

    def rows(self, item: WorkItem) -> list[dict[str, Any]]:
        return [self._row(item, name) for name in ASSIGNORS]

    def _row(self, item: WorkItem, name: str) -> dict[str, Any]:
        error = "ExcludedError" if name in item.excluded else self.losses.get(name, {}).get(item.number)
        self.waited += error == TIME
        return {"item": item.number, "round": 0, "assignor": name, "source": item.source, "error_type": error}


@attrs.frozen
class Plan:
    first: int = 0

    def work(self) -> Iterator[WorkItem]:
        return (WorkItem(number, 0 if number < 400 else 1) for number in range(self.first, ITEMS))


class Session:
    def interruptTag(self, tag: str) -> None:  # noqa: N802 - Spark's name
        raise AssertionError(f"{tag} was interrupted")


@pytest.fixture(scope="module")
def spec(tmp_path_factory: pytest.TempPathFactory) -> JobSpec:
    terms = config_sources(environ={}, start=tmp_path_factory.mktemp("terms"))
    return JobSpec(ASSIGNORS, (), (), terms)


def without_guesses(spec: JobSpec, losses: Losses) -> tuple[pa.Table, int]:
    """The rows if items are scored only once enough is known, and the deadlines waited for."""
    scores, exclusions = Scores(spec, losses), RunExclusions(SOURCES, ASSIGNORS[1:])
    tables, left = [], list(Plan().work())
    while left:
        items = [exclusions.marked(item) for item in left if exclusions.may_take(item.number)]
        tables.append(in_order(pa.Table.from_batches(answer_batches(scores, items))))  # type: ignore[arg-type]
        exclusions.see(tables[-1], items[-1].number + 1)
        left = left[len(items) :]
    return pa.concat_tables(tables), scores.waited


def in_order(rows: pa.Table) -> pa.Table:
    return rows.sort_by([(key, "ascending") for key in KEY_NAMES])


def in_waves(
    spec: JobSpec, losses: Losses, hands: int, monkeypatch: pytest.MonkeyPatch, *, in_pieces: bool = True
) -> tuple[list[Wave], int]:
    """Each wave with its rows in full, and the deadlines waited for."""
    scores = Scores(spec, losses)
    pieces: dict[Path, pa.Table] = {}
    numbers = count()

    def scored(
        _spark: Any, heaps: list[list[WorkItem]], work: RunWork, _wheels: Any, speculation: Speculation | None
    ) -> ComputedRows:
        schema = scored_schema(work.spec, marked=speculation is not None)
        parts = [
            batch
            for heap in heaps
            for batch in answer_batches(scores, sorted(heap, key=lambda item: item.number), speculation)  # type: ignore[arg-type]
        ]
        rows = in_order(pa.Table.from_batches(parts, schema))
        if not in_pieces:
            return ComputedRows(rows)
        piece = Path(str(next(numbers)))
        pieces[piece] = rows.drop_columns([MARK])
        return ComputedRows(rows.select([*NOTED, MARK]), (piece,), lambda: pieces.pop(piece) and rows)

    monkeypatch.setattr(waves, "_scored", scored)
    work = RunWork(Plan(), spec, RunExclusions(SOURCES, ASSIGNORS[1:]))  # type: ignore[arg-type]
    found = list(waves.waves(Session(), work, lambda: hands))  # type: ignore[arg-type]
    left = [piece for wave in found for piece in wave.pieces]
    assert sorted(left) == sorted(pieces)
    return [attrs.evolve(wave, rows=pieces[wave.pieces[0]]) if wave.pieces else wave for wave in found], scores.waited


def at_random(chance: random.Random, share: float, error: str, start: int = 0) -> dict[int, str]:
    return {number: error for number in range(start, ITEMS) if chance.random() < share}


CASES: dict[str, Losses] = {
    "nothing": {},
    "always": {"bad": dict.fromkeys(range(ITEMS), TIME)},
    "from the middle on": {"bad": dict.fromkeys(range(700, ITEMS), TIME)},
    "seldom": {"bad": at_random(random.Random(1), 0.01, TIME)},
    "now and then": {"bad": at_random(random.Random(2), 0.05, TIME), "worse": at_random(random.Random(3), 0.02, TIME)},
    "dies often": {"bad": at_random(random.Random(4), 0.3, DIED), "worse": at_random(random.Random(5), 0.02, TIME)},
    "dies, then hangs": {
        "bad": {**at_random(random.Random(6), 0.02, DIED), **at_random(random.Random(7), 0.5, TIME, 500)}
    },
    "seven times": {"bad": dict.fromkeys(range(0, 1_050, 150), TIME)},
    "eight times at the ends of blocks": {"bad": dict.fromkeys((7, 15, 31, 63, 127, 255, 399, 511), TIME)},
}


@pytest.mark.slow
@pytest.mark.parametrize("in_pieces", [True, False])
@pytest.mark.parametrize("name", CASES)
def test_the_rows_are_those_of_a_run_without_guesses(
    name: str, in_pieces: bool, spec: JobSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    losses = CASES[name]
    expected, waited = without_guesses(spec, losses)
    for hands, first in ((1, 1), (2, 32), (4, 300), (100, 32)):
        monkeypatch.setattr(waves, "FIRST_WAVE_ITEMS", first)
        found, more = in_waves(spec, losses, hands, monkeypatch, in_pieces=in_pieces)
        assert sum(wave.items for wave in found) == ITEMS
        rows = pa.concat_tables([wave.rows for wave in found])
        assert rows.equals(expected), (hands, first)
        # A guess costs a few deadlines at most, which pass in parallel.
        assert more <= waited + 2 * hands


def test_rows_stay_in_their_pieces_where_no_guess_was_wrong(spec: JobSpec, monkeypatch: pytest.MonkeyPatch) -> None:
    found, _ = in_waves(spec, {"bad": {5: TIME, 700: DIED}}, 2, monkeypatch)
    assert all(wave.pieces for wave in found)
    # After four losses of its own a heap leaves the plugin out of its later items; seven are not yet too much.
    found, _ = in_waves(spec, {"bad": dict.fromkeys(range(7), TIME)}, 1, monkeypatch)
    assert not found[0].pieces
    assert found[-1].pieces
