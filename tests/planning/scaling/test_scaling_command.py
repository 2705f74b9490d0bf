"""``assignor plan SOURCE scale`` with several counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from assignor_lab.cli.app import build_app

pytestmark = pytest.mark.slow

PLANS = Path(__file__).parents[2] / "data" / "captures" / "plans"


@pytest.fixture
def load(tmp_path: Path) -> str:
    file = tmp_path / "load.csv"
    file.write_text("time,records_per_second\n" + "".join(f"{hour * 3600},3000\n" for hour in range(24)))
    return str(file)


def run(name: str, to: str, *words: str) -> Result:
    source, config = PLANS / name / "capture.jsonl", PLANS / name / "application.properties"
    options = ["--config", str(config), "--plays", "2", "--start-seconds", "2.2", "--processes", "1"]
    return CliRunner().invoke(build_app(), ["plan", str(source), "scale", "--to", to, *options, *words])


def document(name: str, to: str, *words: str) -> dict[str, Any]:
    done = run(name, to, *words, "--json")
    assert done.exit_code == 0, done.output
    made: dict[str, Any] = json.loads(done.stdout)
    return made


def test_a_group_that_is_behind_gets_the_smallest_count_that_keeps_up(load: str) -> None:
    made = document("P8", "2,4,5", "--load", load, "--capacity", "600", "--lag", "100000")
    # Three of twelve tasks on one of the present threads: 600 / 0.25 = 2400 of 3000 records.
    assert made["present"]["throughput"] == 2400
    assert made["recommended"] == 4
    four, two = made["counts"]["4"], made["counts"]["2"]
    assert four["throughput"] == 3600
    # Not before the first new instance has a task, and soon afterwards.
    assert 2.2 < four["break_even_seconds"]["median"] < 20
    assert two["verdict"] == "falls behind"
    assert two["break_even_seconds"] is None
    assert made["counts"]["5"]["verdict"] == "wasted"
    assert made["counts"]["5"]["same_as"] == 4
    assert made["sentences"][0].startswith("Scale to 4 instances: the lag is lower than without scaling after ")


def test_unknown_rates_are_no_column_and_the_answer_names_the_options() -> None:
    done = run("P8", "4,5")
    assert done.exit_code == 0, done.output
    for option in ("--load", "--workload", "--sample-every", "--capacity"):
        assert option in done.stdout
    assert "throughput" not in done.stdout
    assert document("P8", "4,5")["counts"]["4"]["break_even_seconds"] is None


def test_a_scale_out_that_never_helps_says_so_first(load: str) -> None:
    made = document("P5", "4,5", "--load", load, "--capacity", "900")
    assert made["sentences"][0] == (
        "No larger count of the table helps: 12 tasks on up to 10 threads leave at least 2 on one thread, as now."
    )
    assert made["recommended"] == 3


def test_a_hot_task_is_named_as_the_cause(tmp_path: Path) -> None:
    workload = tmp_path / "weights.json"
    tasks = {f"0_{number}": {"input_bytes_per_s": 9000 if number == 3 else 10} for number in range(8)}
    workload.write_text(json.dumps({"tasks": tasks | {f"1_{each}": {"input_bytes_per_s": 1} for each in range(4)}}))
    made = document("P8", "4", "--workload", str(workload), "--capacity", "5kB")
    assert "task 0_3 has 99% of the input" in made["sentences"][0]


def test_later_downtime_and_idle_threads_are_counted() -> None:
    made = document("P8", "12,12")
    row = made["counts"]["12"]
    assert row["tasks"] == [1, 1]
    assert row["idle_threads"] == 12
    assert row["later_task_seconds"]["median"] > 0
    assert row["ready_seconds"]["median"] < row["rest_seconds"]["median"]


def test_the_same_seed_makes_the_same_answer_with_any_number_of_processes() -> None:
    made = document("P8", "4,5")
    assert document("P8", "4,5", "--processes", "2") == made


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["13..20"], "12 tasks, and each further instance is idle"),
        (["3,3"], "already"),
        (["9..4"], "turned round"),
        (["4..5", "--leaving", "d1"], "one count"),
        (["4..5", "--capacity", "fast"], "records per second"),
        (["4..5", "--capacity", "0"], "records per second"),
        (["4..5", "--master", "local[2]"], "one plan"),
        (["four", "--lag", "5"], "no number"),
    ],
)
def test_contradictions_are_refused(words: list[str], reason: str) -> None:
    done = run("P8", *words)
    assert done.exit_code != 0
    assert reason in str(done.exception) + done.output


def test_bytes_and_records_are_not_mixed(load: str) -> None:
    done = run("P8", "4..5", "--load", load, "--capacity", "2MB")
    assert "--capacity is in bytes, and the input in records" in str(done.exception)


def test_the_page_and_a_gate(tmp_path: Path, load: str) -> None:
    page = tmp_path / "scale.html"
    gate = ("--fail-if", "counts.4.now_task_seconds.high > 0.1")
    done = run("P8", "4,5", "--load", load, "--capacity", "600", "--report", str(page), *gate)
    assert done.exit_code == 1
    assert "Scale to 4 instances" in page.read_text()


def test_advice_needs_a_day_and_writes_a_manifest(tmp_path: Path) -> None:
    file = tmp_path / "day.csv"
    rows = [f"{minute * 60},{2300 if minute < 30 else 500}" for minute in range(60)]
    file.write_text("\n".join(["time,records_per_second", *rows]))
    source, config = PLANS / "P8" / "capture.jsonl", PLANS / "P8" / "application.properties"
    words = ["advise", str(source), "--scaling", "--to", "3,4", "--config", str(config), "--start-seconds", "2.2"]
    lacking = CliRunner().invoke(build_app(), words)
    assert "give --load FILE and --capacity N" in str(lacking.exception)
    manifest = tmp_path / "scaled-object.yaml"
    done = CliRunner().invoke(
        build_app(), [*words, "--load", str(file), "--capacity", "600", "--scaled-object", str(manifest), "--json"]
    )
    assert done.exit_code == 0, done.output
    made = json.loads(done.stdout)
    assert made["scaled_object"] == manifest.read_text()
    assert made["chosen"]["lag_seconds"] <= made["keda"]["lag_seconds"]
    assert {each["policy"] for each in made["constants"]} == {"always 3", "always 4"}


def test_options_of_scaling_need_it() -> None:
    done = CliRunner().invoke(build_app(), ["advise", str(PLANS / "P8" / "capture.jsonl"), "--capacity", "5"])
    assert done.exit_code != 0
    assert "need --scaling" in done.output


def test_a_count_has_the_same_downtime_alone_and_in_a_table() -> None:
    table = document("P8", "2,6")["counts"]
    for count in ("2", "6"):
        alone = document("P8", count, "--no-variants")["total"]
        row = table[count]
        assert row["now_task_seconds"] == alone["now"]["task_seconds"]
        assert row["later_task_seconds"] == alone["later"]["task_seconds"]
        assert row["rest_seconds"] == alone["rest_seconds"]
        assert row["ready_seconds"]["median"] <= row["rest_seconds"]["median"]
