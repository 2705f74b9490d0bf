from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from assignor_lab.capture.histories.past import scenarios_of_past
from assignor_lab.cli.main import main
from assignor_lab.scenarios import read_scenarios
from tests.capture.captured_logs import CAPTURES, LEADER_OF_TAGGED, logs, text_of
from tests.capture.flight_recording import GROUPS, write_recording
from tests.capture.topologies import ORDERS

EXAMPLE = Path(__file__).parents[2] / "assignor_lab" / "samples" / "tagged" / "logs"
CONFIG = CAPTURES / "tagged" / "application.properties"


def run(*arguments: object) -> int:
    with pytest.raises(SystemExit) as left:
        main(["import", *map(str, arguments)])
    return int(left.value.code or 0)


@pytest.mark.slow
def test_scenarios_go_to_the_file_and_the_count_to_standard_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "tagged.jsonl.gz"

    assert run(*logs("tagged"), "--config", CONFIG, "--out", out) == 0

    assert len(list(read_scenarios(out))) == 24
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == "assignor: 24 decisions imported\n"


def test_without_out_scenarios_go_to_standard_output(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert run(LEADER_OF_TAGGED) == 0

    lines = capfdbinary.readouterr().out.splitlines()
    assert [json.loads(line)["source"]["generation"] for line in lines] == list(range(1, 25))


@pytest.mark.slow
def test_standard_input_is_read() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "assignor_lab.cli.main", "import", "-"],
        input=LEADER_OF_TAGGED.read_bytes(),
        capture_output=True,
        check=True,
    )

    assert len(done.stdout.splitlines()) == 24


def test_a_key_on_the_command_line_replaces_the_file_and_the_log(tmp_path: Path) -> None:
    out = tmp_path / "tagged.jsonl"

    assert run(LEADER_OF_TAGGED, "--config", CONFIG, "-c", "num.standby.replicas=2", "--out", out) == 0

    scenario = next(iter(read_scenarios(out)))
    assert scenario.config["num.standby.replicas"] == 2
    assert any("num.standby.replicas is 1 in the log and 2 in -c" in sentence for sentence in scenario.assumptions)


def test_a_file_that_contradicts_the_log_is_named_and_the_log_believed(tmp_path: Path) -> None:
    config = tmp_path / "application.properties"
    config.write_text("num.standby.replicas=0\n", encoding="utf-8")
    out = tmp_path / "tagged.jsonl"

    assert run(LEADER_OF_TAGGED, "--config", config, "--out", out) == 0

    scenario = next(iter(read_scenarios(out)))
    assert scenario.config["num.standby.replicas"] == 1
    assert any("the log's is used" in sentence for sentence in scenario.assumptions)


def test_secrets_of_the_applications_file_go_nowhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "application.properties"
    config.write_text("sasl.jaas.config=hunter2\nacceptable.recovery.lag=5\n", encoding="utf-8")
    out = tmp_path / "tagged.jsonl"

    assert run(LEADER_OF_TAGGED, "--config", config, "--out", out) == 0

    assert "hunter2" not in out.read_text(encoding="utf-8") + capsys.readouterr().err


def test_a_topology_gives_stores_and_partitions(tmp_path: Path) -> None:
    topology = tmp_path / "topology.txt"
    topology.write_text(ORDERS, encoding="utf-8")
    out = tmp_path / "tagged.jsonl"

    assert run(LEADER_OF_TAGGED, "--topology", topology, "--out", out) == 0

    tasks = {task["id"]: task for task in next(iter(read_scenarios(out))).document["tasks"]}
    assert tasks["1_0"]["stores"] == ["cities"]
    assert tasks["2_0"]["partitions"][0]["topic"] == "notes-in"


def test_a_garbled_decision_is_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [line for line in text_of(LEADER_OF_TAGGED).splitlines() if "Decided on assignment" in line]
    lines[5] = lines[5][:500] + "\x1b[31m"
    log = tmp_path / "app.log"
    log.write_text("\n".join(lines), encoding="utf-8")

    assert run(log, "--out", tmp_path / "out.jsonl") == 0

    printed = capsys.readouterr().err
    assert f"warning: {log}:6:501: " in printed
    assert "23 decisions imported, 1 left out" in printed
    assert "\x1b" not in printed


def cut(path: Path) -> Path:
    path.write_bytes(LEADER_OF_TAGGED.read_bytes()[:9000])
    return path


def without_decisions(path: Path) -> Path:
    path.write_text("INFO nothing\n", encoding="utf-8")
    return path


def without_line_ends(path: Path) -> Path:
    with gzip.open(path, "wb", compresslevel=1) as packed:
        for _ in range(1024):
            packed.write(b"x" * 2**20)
    return path


@pytest.mark.parametrize(
    ("made", "place", "remedy"),
    [
        (lambda path: path, "app.log: cannot be read", "give the path"),
        (cut, "the gzip data end too early", "copy the file again"),
        (without_decisions, "app.log: no assignment decision", "look for the group leader's lines"),
        (without_line_ends, "app.log:1: the line is longer than 64 MiB", "take the line out"),
    ],
)
def test_unusable_input_ends_with_2_and_one_message_and_leaves_the_old_file(
    made: object, place: str, remedy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert callable(made)
    out = tmp_path / "out.jsonl"
    out.write_text("old", encoding="utf-8")

    assert run(made(tmp_path / "app.log"), "--out", out) == 2

    printed = capsys.readouterr().err
    assert printed.count("\n") == 1
    assert place in printed
    assert remedy in printed
    assert out.read_text(encoding="utf-8") == "old"
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--timezone", "Mars/Olympus"),
        ("--topology", "missing.txt"),
        ("--config", "missing.properties"),
        ("-c", "nonsense"),
    ],
)
def test_a_wrong_option_ends_with_2(option: str, value: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(LEADER_OF_TAGGED, option, value) == 2
    assert value in capsys.readouterr().err


def test_racks_are_filled_into_every_decision(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    racks, out = tmp_path / "racks.toml", tmp_path / "out.jsonl"
    racks.write_text('format = 1\n[clients]\n"zone=a" = "r1"\n"nobody" = "r2"\n', encoding="utf-8")
    assert run(*logs("tagged"), "--racks", racks, "--out", out) == 0
    clients = [client for line in out.read_text().splitlines() for client in json.loads(line)["clients"]]
    assert {(client["tags"]["zone"], client["rack"]) for client in clients} == {("a", "r1"), ("b", None), ("c", None)}
    assert f"warning: {racks}: nobody is no client of any state" in capsys.readouterr().err


def test_a_wrong_file_of_racks_ends_with_2_and_its_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    racks, out = tmp_path / "racks.toml", tmp_path / "out.jsonl"
    racks.write_text('format = 1\n[clients]\n"i1" = 7\n', encoding="utf-8")
    assert run(*logs("tagged"), "--racks", racks, "--out", out) == 2
    assert f"{racks}, line 3, clients.i1: expected a text" in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.slow
def test_an_operators_workload_is_put_into_every_decision(tmp_path: Path) -> None:
    workload, out = tmp_path / "workload.json", tmp_path / "out.jsonl"
    workload.write_text('{"tasks": {"0_0": {"state_bytes": 1000}}, "restore_bytes_per_s": 5000}')
    assert run(LEADER_OF_TAGGED, "--workload", workload, "--out", out) == 0
    for line in out.read_text().splitlines():
        assert json.loads(line)["workload"] == {"tasks": {"0_0": {"state_bytes": 1000}}, "restore_bytes_per_s": 5000}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"tasks": {"9_9": {"state_bytes": 1}}}', "there is no task '9_9'"),
        ('{"changelogs": {}}', "give them to replay or simulate --from"),
        ('{"tasks": 3}', "tasks: expected"),
    ],
)
def test_a_workload_that_does_not_fit_is_refused_and_nothing_is_written(
    text: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    workload, out = tmp_path / "workload.json", tmp_path / "out.jsonl"
    workload.write_text(text)
    assert run(LEADER_OF_TAGGED, "--workload", workload, "--out", out) == 2
    assert words in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.slow
def test_missing_racks_and_two_applications_are_warned_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = CAPTURES / "orders-2" / "application.properties"
    assert run(*logs("orders-2"), *logs("plain"), "--config", config, "--out", tmp_path / "both.jsonl") == 0
    told = capsys.readouterr().err
    assert "54 of 54 decisions looked at racks that the source does not show" in told
    assert "--racks FILE" in told
    assert "decisions of 2 applications (orders-classic-2 and plain-classic)" in told


def test_decisions_of_one_application_without_racks_raise_no_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = CAPTURES / "tagged" / "application.properties"
    assert run(*logs("tagged"), "--config", config, "--out", tmp_path / "tagged.jsonl") == 0
    assert "warning:" not in capsys.readouterr().err


@pytest.mark.parametrize("group", GROUPS)
def test_a_folder_of_record_is_imported(group: str, tmp_path: Path) -> None:
    write_recording(tmp_path / "past", group)
    out = tmp_path / "states.jsonl"

    assert run(tmp_path / "past", "--out", out) == 0

    assert [each.document for each in read_scenarios(out)] == [
        each.document for each in scenarios_of_past([str(tmp_path / "past")])
    ]


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ([CAPTURES / "plans" / "P1" / "capture.jsonl"], "this file has states already"),
        ([LEADER_OF_TAGGED, "--check"], "no file has responses of brokers"),
    ],
)
def test_other_inputs_end_with_2(inputs: list[object], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*inputs) == 2
    assert message in " ".join(capsys.readouterr().err.replace("│", " ").split())


def test_a_folder_of_logs_is_read(tmp_path: Path) -> None:
    out = tmp_path / "states.jsonl"

    assert run(EXAMPLE, "--out", out) == 0

    assert len(list(read_scenarios(out))) == 24
