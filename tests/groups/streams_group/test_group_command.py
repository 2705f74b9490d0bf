"""``assignor score`` on groups of the streams protocol: the same files, gates and promises as for applications."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from assignment_api.plugins import discover
from assignor_lab.scenarios import canonical_line
from assignor_lab.scenarios.families import STREAMS_GROUP_FAMILIES
from assignor_lab.scoring import Generated
from assignor_lab.scoring.engine import blocks
from assignor_lab.scoring.output.folder import RESULTS
from assignor_lab.scoring.sources.reading import family_names
from tests.groups.streams_group.test_group_contest import IN_TURN, STICKY
from tests.scoring.commands import command, refused
from tests.scoring.runs import results_bytes, results_of, run
from tests.scoring.test_resume import Stopped, stopping
from tests.scoring.test_score_command import score
from tests.scoring.wheels import write_wheel

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.slow, pytest.mark.long]

TWO = ["--assignor", STICKY, "--assignor", IN_TURN]
SCALE_OUT = ["--families", "group_scale_out", "--seed", "5"]
GROUPS = Path(__file__).parents[2] / "data" / "scenarios" / "streams-group-sticky.scenarios.jsonl.gz"
WHEEL_PLUGIN = """
    from assignment_api.group import GroupAssignment, MemberAssignment, TaskAssignor
    from assignment_api.plugins import GroupAssignorPlugin, hookimpl
    from travelling_parts.names import NAME


    class AllOnFirst(TaskAssignor):
        def assign(self, group, topology):
            tasks = {key: range(topology.max_num_input_partitions(key)) for key in topology.subtopologies()}
            return GroupAssignment({next(iter(group.members)): MemberAssignment(tasks)})


    @hookimpl
    def assignor_lab_group_assignors():
        return [GroupAssignorPlugin(NAME, AllOnFirst)]
"""


def summary_of(folder: Path) -> dict[str, Any]:
    results: dict[str, Any] = json.loads((folder / "out" / "summary.json").read_text(encoding="utf-8"))["results"]
    return results


def test_a_file_of_groups_fills_tables_summary_and_report(spark: SparkSession, tmp_path: Path) -> None:
    done = command(tmp_path, str(GROUPS), *TWO, "--baseline", STICKY, spark=spark)
    assert done.returncode == 0, done.stderr
    assert "60 states, 120 rows, " in done.stdout
    rows = results_of(tmp_path / "out").to_pylist()
    assert [(row["item"], row["assignor"]) for row in rows[:4]] == [
        (0, STICKY),
        (0, IN_TURN),
        (1, STICKY),
        (1, IN_TURN),
    ]
    failed = [row for row in rows if row["error_type"]]
    assert {row["members"] for row in failed} == {0}
    field = pq.read_schema(tmp_path / "out" / RESULTS).field("actives_moved_within_process")
    assert field.metadata[b"unit"] == b"tasks"
    summary = summary_of(tmp_path)
    assert summary["groups"] == []
    picture = summary["placements"][0]
    assert {"process", "instance_id"} <= picture["clients"][0].keys()
    assert {each["assignor"] for each in summary["differences"]} == {IN_TURN}
    report = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert re.search(r"[0-9]+ process(es)? with [0-9]+ members?, [0-9]+ tasks?", report)
    assert '<th scope="col">Member</th>' in report


def test_all_families_are_those_of_the_brokers_where_their_assignors_compete() -> None:
    names = family_names(discover(), ["all"], [STICKY, IN_TURN])
    assert set(names) == {family.name for family in STREAMS_GROUP_FAMILIES}


def test_gates_judge_them_and_a_worst_case_is_seen_again(spark: SparkSession, tmp_path: Path) -> None:
    gates = ["--fail-if", "stateful_actives_moved > baseline", "--fail-if", "max(tasks_active_twice) > 0"]
    words = [*TWO, "--baseline", STICKY, *SCALE_OUT, "--count", "4", *gates, "--junit", "gates.xml"]
    done = command(tmp_path, *words, spark=spark)
    assert done.returncode == 1, done.stderr
    assert f"FAILED  {IN_TURN}: stateful_actives_moved > baseline: " in done.stdout
    assert f"passed  {IN_TURN}: max(tasks_active_twice) > 0: " in done.stdout
    assert (tmp_path / "gates.xml").exists()
    worst = next(case for case in summary_of(tmp_path)["worst_cases"] if case["round"] > 0)
    before = {
        row["assignor"]: row for row in results_of(tmp_path / "out").to_pylist() if row["scenario"] == worst["scenario"]
    }
    again = command(tmp_path, *shlex.split(worst["replay"])[2:-2], spark=spark)
    assert again.returncode == 0, again.stderr
    rows = results_of(tmp_path / "out").to_pylist()
    assert {row["assignor"] for row in rows} <= before.keys()
    assert rows
    for row in rows:
        assert row == {**before[row["assignor"]], "item": 0}


def test_everybody_installed_is_scored_where_nobody_is_named(spark: SparkSession, tmp_path: Path) -> None:
    done = command(tmp_path, "--families", "group_steady_state", "--count", "1", spark=spark)
    assert done.returncode == 0, done.stderr
    installed = [found.name for found in discover().group_assignors()]
    assert sorted({row["assignor"] for row in results_of(tmp_path / "out").to_pylist()}) == sorted(installed)


def test_however_the_work_is_cut_the_bytes_are_the_same(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [*TWO, "--families", "group_adversarial,group_full_restart", "--count", "6"]
    assert command(tmp_path, *words, spark=spark).returncode == 0
    whole = results_bytes(tmp_path / "out")
    monkeypatch.setattr(blocks, "BLOCK_ITEMS", 1)
    monkeypatch.setattr(blocks, "PART_BLOCKS", 2)
    assert command(tmp_path, *words, "--isolate", "all", spark=spark).returncode == 0
    assert results_bytes(tmp_path / "out") == whole


def test_a_run_that_stopped_goes_on_and_ends_with_the_same_bytes(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "BLOCK_ITEMS", 1)
    monkeypatch.setattr(blocks, "PART_BLOCKS", 2)
    histories = [Generated("group_histories", 6, 1)]
    run(spark, histories, (STICKY, IN_TURN), tmp_path / "whole")
    with pytest.raises(Stopped):
        run(spark, histories, (STICKY, IN_TURN), tmp_path / "out", on_progress=stopping(2))
    summary = run(spark, histories, (STICKY, IN_TURN), tmp_path / "out", resume=True)
    assert 2 <= summary["run_metrics"]["restored_items"] < 6
    assert results_bytes(tmp_path / "out") == results_bytes(tmp_path / "whole")


@pytest.mark.slow
def test_an_assignor_comes_as_a_wheel(tmp_path: Path) -> None:
    wheel = write_wheel(
        tmp_path / "wheel",
        {
            "travelling_plugin.py": WHEEL_PLUGIN,
            "travelling_parts/__init__.py": "",
            "travelling_parts/names.py": 'NAME = "group_first_member"\n',
        },
    )
    words = ["--families", "group_steady_state", "--count", "2", "--plugin-wheel", str(wheel), "--master", "local[1]"]
    done = score(tmp_path, "--assignor", STICKY, "--assignor", "group_first_member", *words)
    assert done.returncode == 0, done.stderr.decode()
    rows = [row for row in results_of(tmp_path / "out").to_pylist() if row["assignor"] == "group_first_member"]
    assert len(rows) == 2 * 5
    assert {row["error_type"] for row in rows} == {None}
    assert all(row["tasks_kept_on_member"] in (None, 1.0) for row in rows)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--families", "streams_4x40"], "score each kind in a run of its own"),
        (["--assignor", "sticky"], "'sticky' is a task assignor for Streams applications, not a broker-side"),
        (["--only-round", "1"], "no round 1"),
    ],
)
def test_mistakes_end_with_exit_code_2_and_one_message(tmp_path: Path, words: list[str], message: str) -> None:
    assert message in refused(tmp_path, str(GROUPS), *words)


def test_the_documents_of_a_family_are_scenarios_of_a_file(spark: SparkSession, tmp_path: Path) -> None:
    history = STREAMS_GROUP_FAMILIES[0].history(3)
    (tmp_path / "groups.jsonl").write_bytes(b"".join(canonical_line(history.round(n, None)) + b"\n" for n in range(3)))
    done = command(tmp_path, "groups.jsonl", "--assignor", STICKY, "-c", "num.standby.replicas=1", spark=spark)
    assert done.returncode == 0, done.stderr
    rows = results_of(tmp_path / "out").to_pylist()
    assert [row["scenario"] for row in rows] == [f"group_histories-3-round-{number}" for number in range(3)]
    assert all(row["standbys_missing"] == 0.0 for row in rows)
    assert {"key": "num.standby.replicas", "value": "1", "source": "-c num.standby.replicas"} in summary_of(tmp_path)[
        "config"
    ]
