"""``assignor score`` on Connect: the same files as for Streams."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from assignor_lab.simulation.connect.named_episodes import EPISODES
from tests.groups.connect.states import history, member
from tests.scoring.commands import command, refused
from tests.scoring.runs import results_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROUNDS = [
    {"connectors": {"a": 3}, "members": [member("w1")]},
    {"connectors": {"a": 3}, "members": [member("w1", "a a-0 a-1 a-2"), member("w2")]},
]


def written(folder: Path, *documents: object) -> str:
    (folder / "groups.jsonl").write_text("".join(json.dumps(document) + "\n" for document in documents))
    return "groups.jsonl"


def test_histories_fill_the_same_files(spark: SparkSession, tmp_path: Path) -> None:
    gates = ["--baseline", "connect_eager", "--fail-if", "max(jobs_unassigned) > 2"]
    done = command(tmp_path, written(tmp_path, history("h", *ROUNDS)), *gates, spark=spark)
    assert done.returncode == 0, done.stderr
    assert "2 states, 6 rows, 0 failed" in done.stdout
    assert "rounds_to_stable" in done.stdout
    rows = results_of(tmp_path / "out").to_pylist()
    assert [(row["round"], row["assignor"]) for row in rows] == [
        (number, name) for number in (0, 1) for name in ("connect_eager", "connect_incremental", "connect_static")
    ]
    assert [row["jobs_stopped"] for row in rows] == [0.0, 0.0, 0.0, 4.0, 1.0, 1.0]
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["results"]["placements"] == []
    assert {metric["group"] for metric in summary["results"]["metrics"]} == {
        *("movement", "balance", "coverage", "life cycle")
    }
    report = (tmp_path / "out" / "report.html").read_text()
    assert "Rounds to stable" in report
    assert 'id="placements"' not in report


def test_episodes_are_scored_through_the_simulation(spark: SparkSession, tmp_path: Path) -> None:
    documents = [EPISODES[name].document() for name in ("worker-joins", "worker-leaves")]
    done = command(tmp_path, written(tmp_path, *documents), "--assignor", "connect_eager", spark=spark)
    assert done.returncode == 0, done.stderr
    rows = results_of(tmp_path / "out").to_pylist()
    assert [row["scenario"] for row in rows] == ["worker-joins", "worker-leaves"]
    assert all(row["unavailable_task_seconds"] > 0 for row in rows)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--families", "streams_4x40"], "score each kind in a run of its own"),
        (["--assignor", "sticky"], "sticky"),
        (["--only-round", "7"], "no round 7"),
    ],
)
def test_mistakes_end_with_exit_code_2_and_one_message(tmp_path: Path, words: list[str], message: str) -> None:
    text = refused(tmp_path, written(tmp_path, history("h", *ROUNDS)), *words)
    assert message in text
    assert len(text.splitlines()) == 1
