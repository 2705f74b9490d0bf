from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from assignor_lab.cli.app import build_app
from assignor_lab.groups.runner.timing import Timed, timing

pytestmark = pytest.mark.slow

DATA = Path(__file__).parents[1] / "data"
SMALL = DATA / "scale" / "streams" / "small-4x40.jsonl.gz"


def test_one_line_for_each_scenario_with_the_times_of_the_call() -> None:
    arguments = ["bench", str(SMALL), "--assignor", "sticky", "--warmup", "1", "--repeat", "3"]
    result = CliRunner().invoke(build_app(), arguments)
    assert result.exit_code == 0
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert [line["id"] for line in lines] == [
        "small-4x40-cold",
        "small-4x40-second",
        "small-4x40-racks-cold",
        "small-4x40-racks-second",
    ]
    for line in lines:
        assert list(line) == ["id", "assignor", "tasks", "clients", "median_ms", "min_ms"]
        assert (line["assignor"], line["tasks"], line["clients"]) == ("sticky", 40, 4)
        assert 0 < line["min_ms"] <= line["median_ms"]


def test_a_state_that_kafka_refuses_is_a_line_with_an_error(tmp_path: Path) -> None:
    refused = tmp_path / "refused.jsonl"
    refused.write_text(
        '{"format":1,"kind":"streams","id":"r","config":{"max.warmup.replicas":0},"tasks":[],"clients":[]}\n',
        encoding="utf-8",
    )
    result = CliRunner().invoke(build_app(), ["bench", str(refused), "--assignor", "sticky"])
    assert result.exit_code == 0
    line = json.loads(result.stdout)
    assert (line["median_ms"], line["min_ms"]) == (None, None)
    assert line["error"]["java_type"] == "ConfigException"
    assert "max.warmup.replicas" in result.stderr


def test_a_history_of_a_connect_group_counts_as_long_as_its_slowest_round() -> None:
    history = DATA / "scale" / "connect" / "blog.scenarios.jsonl.gz"
    arguments = ["bench", str(history), "--assignor", "connect_incremental", "--warmup", "0", "--repeat", "1"]
    result = CliRunner().invoke(build_app(), arguments)
    assert result.exit_code == 0
    line = json.loads(result.stdout)
    assert (line["id"], line["tasks"], line["clients"]) == ("blog-000000", 900, 3)
    assert 0 < line["min_ms"] < 1_000


def test_clients_of_a_group_that_brokers_assign_are_processes_as_in_results() -> None:
    groups = DATA / "scale" / "streams-group" / "jmh.scenarios.jsonl.gz"
    arguments = ["bench", str(groups), "--assignor", "group_sticky", "--warmup", "0", "--repeat", "1"]
    result = CliRunner().invoke(build_app(), arguments)
    assert result.exit_code == 0
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    with gzip.open(groups) as file:
        documents = [json.loads(line) for line in file]
    assert [(line["id"], line["clients"]) for line in lines] == [
        (document["id"], len({member["process_id"] for member in document["members"]})) for document in documents
    ]
    assert any(line["clients"] < len(document["members"]) for line, document in zip(lines, documents, strict=True))
    assert all(0 < line["min_ms"] <= line["median_ms"] for line in lines)


def test_of_a_history_the_round_counts_that_is_slowest_in_most_calls() -> None:
    calls = iter([[5, 90, 70], [5, 10, 80], [400, 20, 75]])
    measured = timing(lambda: Timed(next(calls)), warmup=0, repeat=3)
    assert measured.durations_ns == (70, 80, 75)
