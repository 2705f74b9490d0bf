from __future__ import annotations

import json
from pathlib import Path

import pytest

from assignor_lab.cli.main import main
from assignor_lab.scenarios import read_scenarios
from tests.capture.captured_logs import CAPTURES, logs
from tests.capture.recorded.groups import STABLE


def run(application: str, *more: object) -> int:
    folder = CAPTURES / application
    files = [folder / "exchanges.jsonl.gz", *logs(application)]
    arguments = ["import", *files, "--config", folder / "application.properties", *more]
    with pytest.raises(SystemExit) as ended:
        main(list(map(str, arguments)))
    assert isinstance(ended.value.code, int)
    return ended.value.code


@pytest.mark.slow
@pytest.mark.parametrize(("application", "replayable"), [("warm", 6), ("orders-2", 28), ("plain", 6)])
def test_recorded_states_come_out_as_kafka_sent_them(
    application: str, replayable: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "states.jsonl.gz"

    assert run(application, "--check", "--out", out) == 0

    assert len(list(read_scenarios(out))) == replayable
    told = capsys.readouterr().err
    assert f"{replayable} of {replayable} equal the bytes that Kafka sent" in told
    assert told.count("static members came back without a rebalance") == STABLE[application] - replayable


def test_a_state_has_the_release_that_the_log_shows_or_that_is_given(tmp_path: Path) -> None:
    for words, release in (([], "4.3.1"), (["-c", "kafka.release=4.4"], "4.4")):
        out = tmp_path / f"states-{release}.jsonl"
        assert run("plain", *words, "--out", out) == 0
        assert {state.config["kafka.release"] for state in read_scenarios(out)} == {release}


def test_another_release_than_that_of_the_log_is_found_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("plain", "--check", "-c", "kafka.release=4.4", "--out", tmp_path / "states.jsonl") == 1

    assert "3 of 6 equal the bytes that Kafka sent" in capsys.readouterr().err


def test_a_wrong_configuration_is_found_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("warm", "--check", "-c", "num.standby.replicas=0", "--out", tmp_path / "states.jsonl") == 1

    assert "standby_tasks was" in capsys.readouterr().err


@pytest.mark.slow
def test_without_check_scenarios_go_to_the_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("plain") == 0

    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line)["source"]["generation"] for line in lines] == [1, 2, 3, 4, 5, 6]


def test_a_recording_that_is_none_ends_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recording = tmp_path / "exchanges.jsonl"
    recording.write_text("hello\n")
    with pytest.raises(SystemExit) as ended:
        main(["import-recording", str(recording), "--log", str(logs("plain")[0])])

    assert ended.value.code == 2
    assert "exchanges.jsonl, line 1: not JSON" in capsys.readouterr().err


def test_responses_without_logs_end_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["import", str(CAPTURES / "warm" / "exchanges.jsonl.gz")])

    assert ended.value.code == 2
    assert "give the logs of all instances, too" in " ".join(capsys.readouterr().err.split())
