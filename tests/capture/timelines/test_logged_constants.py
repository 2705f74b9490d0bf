"""Durations in the logs of real groups: tests/data/captures/restored and lives."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from assignor_lab.capture.errors import NothingTimedError
from assignor_lab.cli.app import build_app
from assignor_lab.documents.errors import DocumentFormatError
from assignor_lab.simulation.streams.timings import StreamsTimings

CAPTURES = Path(__file__).parents[2] / "data" / "captures"
RESTORED = CAPTURES / "restored"
LIVES = CAPTURES / "lives"


def run(*arguments: Path | str) -> Result:
    words = [*map(str, arguments)]
    return CliRunner().invoke(build_app(words), words)


def derived(*arguments: Path | str) -> dict[str, Any]:
    told = run("derive-constants", "--json", *arguments)
    assert told.exit_code == 0, told.stderr
    document: dict[str, Any] = json.loads(told.stdout)
    return document


def lines(*names: str) -> str:
    return "".join(gzip.decompress((RESTORED / name).read_bytes()).decode() for name in names)


def test_logs_tell_how_long_starts_joins_and_restorations_take() -> None:
    timings = derived(RESTORED)["timings"]
    # Two threads restored 360,000 records in 644 ms; one of them counts as having 100 of 162 parts.
    assert timings.pop("restore_records_per_s") == pytest.approx(360_000 / 0.644 / 1.62, abs=1_000)
    assert timings == {
        "startup_ms": 946, "join_ms": 159, "close_ms": 363, "rejoin_ms": 13, "assign_ms": 29, "open_store_ms": 106,
        "first_open_store_ms": 118, "restore_poll_ms": 108,
    }  # fmt: skip
    assert StreamsTimings.from_mapping(timings).startup_ms == 946


def test_each_restored_store_is_told_with_its_task_and_milliseconds() -> None:
    stores = derived(RESTORED, "--bytes-per-record", "20")["restorations"]
    largest = max(stores, key=lambda each: each["records"])
    assert largest == {
        "time_ms": 1_795_388_815_018, "client": "i1", "task": "1_2", "store": "counts",
        "changelog": "orders-counts-changelog-2", "records": 162_000, "ms": 472, "records_per_s": 343_220,
        "bytes_per_s": 6_864_407,
    }  # fmt: skip
    assert [each["records"] for each in stores] == [0, 0, 0, 97_200, 100_800, 162_000, 0, 0, 0]


def test_sizes_that_are_given_make_a_rate_in_bytes() -> None:
    timings = derived(RESTORED, "--bytes-per-record", "200")["timings"]
    assert timings["restore_bytes_per_s"] == pytest.approx(200 * timings["restore_records_per_s"], rel=1e-4)


def test_one_thread_alone_tells_the_rate_of_a_thread_and_several_what_the_machine_has(tmp_path: Path) -> None:
    text = lines("i1.log.gz")
    log = tmp_path / "j1.log"
    log.write_text(text.replace("i1-StateUpdater-2", "i1-StateUpdater-1").replace("i1", "j1"))
    timings = derived(log)["timings"]
    assert timings["restore_records_per_s"] == pytest.approx(360_000 / 0.644, abs=1_500)
    assert "machine_restore_percent" not in timings
    # Another instance is another machine, with simultaneous restores of its threads.
    both = derived(log, RESTORED)["timings"]
    assert both["restore_records_per_s"] == timings["restore_records_per_s"]
    assert both["machine_restore_percent"] == 100


def test_a_streams_group_is_timed_by_its_coordinators_log() -> None:
    document = derived(LIVES / "s1.log.gz", LIVES / "s2.log.gz", LIVES / "broker.log.gz")
    assert document["timings"].keys() == {"startup_ms", "close_ms", "leave_ms", "restore_poll_ms", "recycle_ms"}
    assert not any("GroupMetadataManager" in sentence for sentence in document["not_derived"])
    missing = "not derived: broker_topics_ms, acknowledge_ms, "
    assert any(sentence.startswith(missing) for sentence in document["not_derived"])


@pytest.mark.slow
def test_what_logs_lack_is_named_with_the_logger_that_has_it(tmp_path: Path) -> None:
    log = tmp_path / "i1.log"
    text = lines("i1.log.gz")
    log.write_text("".join(line for line in text.splitlines(True) if "End offset for changelog" not in line))
    document = derived(log)
    assert {each["ms"] for each in document["restorations"]} == {None}
    (restoring,) = [each for each in document["not_derived"] if "restore_records_per_s" in each]
    assert "'End offset for changelog ... initialized as' are missing" in restoring
    assert "StoreChangelogReader to INFO" in restoring
    log.write_text("".join(line for line in text.splitlines(True) if "StateUpdater" not in line))
    assert any("no line names a restored store" in each for each in derived(log)["not_derived"])
    (few,) = [
        each for each in derived(LIVES / "c1.log.gz")["not_derived"] if "restore_records_per_s" in each
    ]  # fmt: skip
    assert "the largest with 75 records: a rate needs 100,000 records or more" in few


def test_logs_that_tell_nothing_are_refused(tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    log.write_text("2026-11-22 23:00:00,000 INFO nothing of the kind\n")
    told = run("derive-constants", log)
    assert isinstance(told.exception, NothingTimedError)
    assert "no line has a duration: give logs of instances" in str(told.exception)


@pytest.mark.slow
def test_timings_go_straight_into_simulate_and_replay(tmp_path: Path) -> None:
    file = tmp_path / "timings.json"
    file.write_text(run("derive-constants", str(RESTORED), "--json").stdout)
    past = [str(LIVES / name) for name in ("c1.log.gz", "c2.log.gz", "broker.log.gz")]
    decisions = tmp_path / "decisions.jsonl"
    assert run("import", *past, "--out", decisions).exit_code == 0
    told = run("simulate", "--from", decisions, "--timings", file, "--document")
    assert told.exit_code == 0, told.stderr
    document = told.stdout.splitlines(keepends=True)[0]
    # The recording bounds the session timeout besides.
    assert json.loads(document)["timings"].items() >= json.loads(file.read_text())["timings"].items()
    episode = tmp_path / "episode.jsonl"
    episode.write_text(document)
    slow = tmp_path / "slow.json"
    slow.write_text('{"timings": {"open_store_ms": 20000}}')
    quick, late = (
        json.loads(run("simulate", episode, "--timings", each, "--json").stdout)["totals"] for each in (file, slow)
    )
    assert late["unavailable_task_s"] > quick["unavailable_task_s"] + 5
    replayed = run("replay", episode, "--assignor", "high_availability", "--timings", slow, "--plays", "1", "--json")
    assert json.loads(replayed.stdout)["contenders"]["high_availability"]["totals"] == late


@pytest.mark.slow
def test_a_file_of_timings_that_is_none_is_refused_with_its_key(tmp_path: Path) -> None:
    file = tmp_path / "timings.json"
    for text, said in (
        ('{"timings": {"startup": 1}}', "startup"),
        ('{"timings": {"restore_records_per_s": 0}}', "has to be at least 1"),
        ('{"startup_ms": 1}', "is this the output of derive-constants --json?"),
    ):
        file.write_text(text)
        told = run("simulate", "rolling-restart", "--timings", file)
        assert isinstance(told.exception, DocumentFormatError)
        assert said in str(told.exception)
