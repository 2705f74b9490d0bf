"""Replica counts of groups whose members keep no state: consumers and Connect workers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from assignor_lab.cli.app import build_app
from tests.planning.consumer_groups import classic_group, consumer_group, written

pytestmark = pytest.mark.slow

CONNECT = Path(__file__).parents[2] / "data" / "public" / "connect-roll.json"


@pytest.fixture
def load(tmp_path: Path) -> str:
    file = tmp_path / "load.csv"
    file.write_text("time,records_per_second\n0,4000\n3600,4000\n")
    return str(file)


def document(file: Path, to: str, *words: str) -> dict[str, Any]:
    options = ["scale", "--to", to, "--plays", "2", "--processes", "1", "--json"]
    done = CliRunner().invoke(build_app(), ["plan", str(file), *options, *words])
    assert done.exit_code == 0, done.output
    made: dict[str, Any] = json.loads(done.stdout)
    return made


@pytest.mark.parametrize("make", [classic_group, consumer_group])
def test_counts_that_do_not_divide_the_partitions_are_wasted(make: Any, tmp_path: Path, load: str) -> None:
    file = written(tmp_path / "group.jsonl", make())
    made = document(file, "4..7", "--load", load, "--capacity", "900")
    assert {count: row["same_as"] for count, row in made["counts"].items()} == {"4": None, "5": 4, "6": None, "7": 6}
    # Two of twelve partitions are the most of one consumer: 900 * 6.
    assert made["counts"]["6"]["throughput"] == 5400
    assert made["recommended"] == 6


def test_of_126_partitions_only_some_counts_are_worth_it(tmp_path: Path) -> None:
    made = document(written(tmp_path / "group.jsonl", classic_group(3, 126)), "14..22")
    useful = [int(count) for count, row in made["counts"].items() if row["verdict"] == "useful"]
    assert useful == [14, 16, 18, 21]


def test_one_partition_is_the_cause_and_the_answer_says_so_first(tmp_path: Path) -> None:
    made = document(written(tmp_path / "group.jsonl", classic_group(1, 1)), "1..3")
    assert made["sentences"][0] == (
        "No larger count of the table helps: the group has one partition, and only one consumer can run it: give the "
        "topic more partitions."
    )


def test_static_consumers_scale_in_too(tmp_path: Path, load: str) -> None:
    file = written(tmp_path / "group.jsonl", classic_group(4, 12, static=True))
    made = document(file, "2,3", "--load", load, "--capacity", "2000")
    assert made["recommended"] == 2
    assert made["sentences"][0].startswith("Scale in to 2 consumers: ")


def test_the_lag_of_a_state_counts_if_the_input_is_in_records(tmp_path: Path, load: str) -> None:
    group = classic_group()
    group["workload"] = {"partitions": {"t": {"3": {"lag": 900_000}}}}
    made = document(written(tmp_path / "group.jsonl", group), "4", "--load", load, "--capacity", "2000")
    assert made["counts"]["4"]["worst_lag"] >= 900_000


def test_workers_of_connect_wait_for_the_delay_of_lost_tasks(tmp_path: Path, load: str) -> None:
    state = written(tmp_path / "connect.jsonl", json.loads(CONNECT.read_text("utf-8"))["initial"])
    made = document(state, "2,6", "--load", load, "--capacity", "900")
    assert made["unit"] == "worker"
    assert made["counts"]["2"]["ready_seconds"]["median"] > 60
    assert made["recommended"] == 6


@pytest.mark.parametrize("make", [classic_group, consumer_group, None])
def test_a_count_has_the_same_downtime_alone_and_in_a_table(make: Any, tmp_path: Path) -> None:
    state = json.loads(CONNECT.read_text("utf-8"))["initial"] if make is None else make()
    file = written(tmp_path / "group.jsonl", state)
    table = document(file, "2,4")["counts"]
    for count in ("2", "4"):
        alone = document(file, count, "--no-variants")["total"]
        row = table[count]
        assert row["now_task_seconds"] == alone["now"]["task_seconds"]
        assert row["later_task_seconds"] == alone["later"]["task_seconds"]
        assert row["rest_seconds"] == alone["rest_seconds"]
        assert row["ready_seconds"]["high"] <= row["rest_seconds"]["high"]
