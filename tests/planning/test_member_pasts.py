"""Pasts of workers and consumers: their changes are predicted, and correct the intervals of plans."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from assignment_api.plugins import config_sources, discover
from assignor_lab.capture.histories.group_histories import group_histories
from assignor_lab.capture.histories.past import PastSurroundings, read_past
from assignor_lab.cli.app import build_app
from assignor_lab.model.history import JOBS, GroupHistory
from assignor_lab.model.unowned import unowned_between_decisions
from assignor_lab.planning.past.keeping import keep_ledger
from assignor_lab.planning.past.ledger import read_ledger
from assignor_lab.scenarios import Scenario

CAPTURES = Path(__file__).parents[1] / "data" / "captures"
CONSUMERS, WORKERS = CAPTURES / "consumers" / "uniform", CAPTURES / "flight" / "real-connect"


def unpacked(source: Path, folder: Path) -> Path:
    for file in source.iterdir():
        if file.suffix == ".gz":
            (folder / file.stem).write_bytes(gzip.decompress(file.read_bytes()))
        else:
            shutil.copy(file, folder)
    return folder


def scenarios_of(folder: Path) -> list[Scenario]:
    around = PastSurroundings(config_sources(environ={}).above, on_problem=lambda _: None)
    return list(read_past([str(folder)], around).scenarios)


def history_of(source: Path, folder: Path) -> GroupHistory:
    (found,) = group_histories(scenarios_of(unpacked(source, folder)))
    return found


def planned(folder: Path, *words: str) -> dict[str, Any]:
    done = CliRunner().invoke(build_app(), ["plan", str(folder), *words, "--plays", "3", "--no-variants", "--json"])
    assert done.exit_code == 0, done.output
    made: dict[str, Any] = json.loads(done.stdout)
    return made


def test_partitions_of_a_consumer_that_is_gone_are_away_until_the_next_decision(tmp_path: Path) -> None:
    found = unowned_between_decisions(history_of(CONSUMERS, tmp_path), 45_000)
    # Six partitions of uniform-c1: its record was deleted 866 ms before epoch 5.
    first = [each for each in found if each.begin_ms == 1795801960594]
    assert len(first) == 6
    assert {(each.end_ms or 0) - each.begin_ms for each in first} == {866}


def test_jobs_of_a_worker_are_its_tasks_without_connectors(tmp_path: Path) -> None:
    history = history_of(WORKERS, tmp_path)
    assert history.moves == JOBS
    found = unowned_between_decisions(history, 10_000)
    assert {each.task for each in found} <= {"read-0-0", "read-1-0", "read-2-0"}
    # The group noticed the lost worker within its session.
    assert all(each.begin_ms - each.earliest_ms <= 10_000 for each in found)


@pytest.mark.slow
@pytest.mark.parametrize(("source", "unit"), [(CONSUMERS, "uniform-c1"), (WORKERS, "w1")])
def test_a_plan_of_a_recording_begins_with_the_record_of_the_group(source: Path, unit: str, tmp_path: Path) -> None:
    made = planned(unpacked(source, tmp_path), "scale", "--to", "4")
    past = made["past_changes"]
    assert past["changes"] >= 1
    assert "of this group:" in past["sentences"][0]
    assert any(unit in each["instances"] for each in past["rows"])


@pytest.mark.slow
def test_the_ledger_of_consumers_keeps_each_change_once(tmp_path: Path) -> None:
    folder = unpacked(CONSUMERS, tmp_path)
    kept = keep_ledger(folder, discover(), config_sources(environ={}))
    assert kept == len(read_ledger(folder)) > 2
    assert keep_ledger(folder, discover(), config_sources(environ={})) == 0


def test_a_static_member_that_returns_in_its_session_was_away_for_an_unknown_part_of_it(tmp_path: Path) -> None:
    history = history_of(CAPTURES / "consumers" / "static", tmp_path)
    found = [each for each in unowned_between_decisions(history, 6_000) if each.end_ms == each.begin_ms]
    assert {(each.begin_ms - each.earliest_ms) for each in found} == {6_000}


def test_a_share_group_has_no_past_changes(tmp_path: Path) -> None:
    folder = unpacked(CAPTURES / "consumers" / "share", tmp_path)
    assert keep_ledger(folder, discover(), config_sources(environ={})) == 0
