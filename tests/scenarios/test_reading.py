"""Everything in the format is read: all of the golden data, plain and compressed, from files and streams."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from assignor_lab.scenarios import Place, read_scenarios, scenario_from_document
from tests.scenarios.documents import PROCESS_1, PROCESS_2, scenario, streams_document

DATA = Path(__file__).parents[1] / "data"
FILES = sorted(
    path
    for room in (DATA / "golden", DATA / "scale", DATA / "scenarios")
    for path in room.rglob("*.jsonl.gz")
    if not any(word in path.name for word in ("results", "vectors.jsonl", "actives"))
)
LINE = json.dumps(streams_document()).encode()


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_golden_scenario_reads_and_keeps_its_document(path: Path) -> None:
    with gzip.open(path) as lines:
        for scenario, line in zip(read_scenarios(path), lines, strict=True):
            document = json.loads(line)
            assert scenario.document == document
            assert (scenario.id, scenario.kind) == (document["id"], document["kind"])


@pytest.mark.parametrize("kind", ["streams", "connect", "streams-group"])
def test_there_is_golden_data_of_each_kind(kind: str) -> None:
    # Smallest first: the first line of a scale scenario is megabytes.
    assert any(
        next(iter(read_scenarios(path))).kind == kind for path in sorted(FILES, key=lambda path: path.stat().st_size)
    )


@pytest.mark.parametrize(
    "data",
    [
        LINE,
        LINE + b"\n",
        LINE + b"\r\n",
        b"\n" + LINE + b"\n\n",
        b"  " + LINE + b" \t\n",
        gzip.compress(LINE),
        gzip.compress(LINE[:100]) + gzip.compress(LINE[100:]),
    ],
    ids=["bare", "line feed", "carriage return", "blank lines", "spaces", "gzip", "two gzip members"],
)
@pytest.mark.parametrize("name", ["some.jsonl", "some.jsonl.gz", "some"])
def test_compression_is_seen_by_content(tmp_path: Path, data: bytes, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    assert [scenario.document for scenario in read_scenarios(path)] == [streams_document()]
    assert [scenario.document for scenario in read_scenarios(io.BytesIO(data))] == [streams_document()]


@pytest.mark.parametrize("data", [b"", b"\n\n", gzip.compress(b"", mtime=0)])
def test_a_file_without_lines_holds_no_scenario(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "empty.jsonl"
    path.write_bytes(data)
    assert list(read_scenarios(path)) == []


@pytest.mark.slow
@pytest.mark.parametrize("data", [LINE, gzip.compress(LINE)])
def test_the_standard_input_is_read_under_the_name_of_a_dash(data: bytes) -> None:
    program = (
        "from assignor_lab.scenarios import read_scenarios\n"
        "for scenario in read_scenarios('-'): print(scenario.id, scenario.place)"
    )
    run = subprocess.run([sys.executable, "-c", program], input=data, capture_output=True, check=True)
    assert run.stdout.decode() == "small standard input, line 1\n"


def test_a_stream_is_left_open(tmp_path: Path) -> None:
    path = tmp_path / "some.jsonl"
    path.write_bytes(LINE)
    with path.open("rb") as stream:
        assert len(list(read_scenarios(stream))) == 1
        assert not stream.closed


def test_reading_goes_no_further_than_it_is_asked_to(tmp_path: Path) -> None:
    path = tmp_path / "some.jsonl"
    path.write_bytes(LINE + b"\n" + b"garbage\n")
    assert next(iter(read_scenarios(path))).id == "small"


OPTIONAL: dict[str, Any] = {
    "observed": {
        "assignment": {PROCESS_2: {"active": ["0_0"], "standby": []}},
        "followup": None,
        "threads": {"c1": {"active": ["0_0"], "standby": []}},
    },
    "source": {"file": "a.log", "line": 7, "time_ms": 1234, "group": "g", "generation": 3},
    "assumptions": ["racks unknown"],
    "assignment": {PROCESS_1: {"active": ["9_9"], "standby": ["0_0"]}},
    "params": {"tasks": ["0_0"], "traffic_cost": None, "non_overlap_cost": 3, "via": "custom"},
    "workload": {"tasks": {"0_0": {"state_bytes": 1, "weight": 2.5}}, "restore_bytes_per_s": 52428800},
}


def test_the_optional_parts_are_read() -> None:
    read = scenario(**OPTIONAL)
    assert read.observed == OPTIONAL["observed"]
    assert read.source == OPTIONAL["source"]
    assert read.assumptions == ["racks unknown"]
    assert read.application.current_time_ms() == 1234


def test_without_them_nothing_is_known() -> None:
    read = scenario()
    assert (read.observed, read.source, list(read.assumptions)) == (None, None, [])
    assert read.application.current_time_ms() == 0


EPISODE = {
    "format": 1,
    "kind": "streams-episode",
    "id": "e",
    "initial": streams_document(),
    "events": [{"at_ms": 60000, "type": "crash", "client": PROCESS_1}],
    "until_ms": 3600000,
    "timings": {"session_timeout_ms": 45000},
}


def test_an_episode_is_read_with_its_initial_state() -> None:
    assert scenario_from_document(EPISODE, Place("e.jsonl", 1)).kind == "streams-episode"


def test_what_kafka_would_refuse_is_none_of_the_readers_business() -> None:
    document = streams_document()
    document["config"] = {
        "num.standby.replicas": -(2**40),
        "max.warmup.replicas": 0,
        "acceptable.recovery.lag": 2**63,
        "rack.aware.assignment.strategy": "nearest",
        "rack.aware.assignment.tags": ["a", "b", "c", "d", "e", "f"],
    }
    document["tasks"][1]["id"] = "named__1_0"
    document["clients"][0]["lags"] = {}
    document["clients"][0]["previous_active"] = ["7_7"]
    document["clients"][0]["threads"] = 0
    assert scenario_from_document(document, Place("x")).id == "small"
