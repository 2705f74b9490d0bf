"""``--racks``, ``--topology`` and ``--timezone``: one meaning on every command that reads states or a group's past."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner, Result

from assignor_lab.capture.histories.workload_file import weighed
from assignor_lab.cli.app import build_app
from assignor_lab.documents.errors import DocumentFormatError
from tests.capture.captured_logs import CAPTURES, logs
from tests.capture.flight_recording import FLIGHT, GROUPS, write_recording
from tests.capture.live.recorded_lives import ASSIGNMENT, CLASSIC
from tests.capture.topologies import ORDERS
from tests.scenarios.documents import streams_document

ROOT = Path(__file__).parents[2]

RACKS = str(FLIGHT / CLASSIC / "racks.toml")
CONFIG = [option for key, value in ASSIGNMENT.items() for option in ("-c", f"{key}={value}")]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(build_app([*arguments]), [*arguments], catch_exceptions=False)


@pytest.fixture
def past(tmp_path: Path) -> Path:
    write_recording(tmp_path / "past", CLASSIC)
    for name in ("samples.jsonl", "racks.toml", "brokers.json"):
        (tmp_path / "past" / name).unlink()
    return tmp_path / "past"


def checked(*arguments: str) -> str:
    return run("history", *arguments, "--check", *CONFIG).stdout.splitlines()[-1]


@pytest.mark.slow
def test_racks_of_a_recording_without_samples_name_the_partitions_of_its_tasks(past: Path) -> None:
    assert checked(str(past)).startswith("6 of 10")
    shutil.copy(RACKS, past)
    assert checked(str(past)).startswith("10 of 10")


def test_the_file_of_racks_that_a_recording_wrote_can_be_given_with_racks(past: Path) -> None:
    result = run("history", str(past), "--check", *CONFIG, "--racks", RACKS)
    assert "10 of 10" in result.stdout
    assert "not used" not in result.stderr


def test_topics_in_brokers_json_name_partitions_where_brokers_have_no_racks(past: Path) -> None:
    topics = {"classic-counts-changelog": 4, "classic-counts-repartition": 4, "in": 4}
    told = {"format": 1, "kind": "brokers", "streams_group_describe": None, "topics": topics}
    (past / "brokers.json").write_text(json.dumps(told))
    states = [json.loads(line) for line in Path(decided(past)).read_text().splitlines()]
    assert all(task["partitions"] for state in states for task in state["tasks"])


def decided(past: Path) -> str:
    from assignor_lab.capture.histories.past import scenarios_of_past

    file = past.parent / "states.jsonl"
    file.write_text("".join(json.dumps(dict(each.document)) + "\n" for each in scenarios_of_past([str(past)])))
    return str(file)


@pytest.mark.slow
def test_racks_beside_recordings_of_groups_of_every_kind(tmp_path: Path) -> None:
    folders = []
    for group in GROUPS:
        write_recording(tmp_path / group, group)
        folders.append(str(tmp_path / group))
    result = run("history", *folders, "--check", *CONFIG, "--racks", RACKS)
    assert result.exit_code == 0
    assert "not used" not in result.stderr


@pytest.mark.slow
def test_a_wrong_name_in_the_racks_is_told_by_every_command(past: Path, tmp_path: Path) -> None:
    shutil.copy(RACKS, past)
    wrong = tmp_path / "wrong.toml"
    wrong.write_text('format = 1\n[clients]\n"i9" = "r1"\n')
    states = decided(past)
    for arguments in (
        ["history", str(past)],
        ["replay", str(past), "--assignor", "sticky"],
        ["simulate", "--from", str(past), "--document"],
        ["compare", str(past), "--assignor", "sticky", "--assignor", "high_availability"],
        ["compare", states, "--assignor", "sticky", "--assignor", "high_availability"],
        ["assign", "--assignor", "sticky", states],
    ):
        result = run(*arguments, "--racks", str(wrong))
        assert result.exit_code == 0, (arguments, result.stderr)
        assert "i9 is no client of any state" in result.stderr, arguments


@pytest.mark.slow
def test_the_text_of_the_topology_and_the_zone_are_taken_where_logs_are_read(tmp_path: Path) -> None:
    text = tmp_path / "topology.txt"
    text.write_text(ORDERS)
    around = ["--config", str(CAPTURES / "tagged" / "application.properties"), "--topology", str(text)]
    around += ["--timezone", "Asia/Tokyo"]
    files = list(map(str, logs("tagged")))
    plain: dict[str, Any] = json.loads(run("simulate", "--from", tmp(tmp_path, files), "--document").stdout)
    told = json.loads(run("simulate", "--from", tmp(tmp_path, files), "--document", *around).stdout)
    assert plain["initial"]["tasks"][0]["partitions"] is None
    assert told["initial"]["tasks"][0]["partitions"]
    assert plain["initial"]["source"]["time_ms"] - told["initial"]["source"]["time_ms"] == 9 * 3_600_000
    folder = tmp(tmp_path, files)
    explained = run("explain", folder, "--task", "0_0", "--calls", "0", *around)
    assert explained.exit_code == 0, explained.stderr


def tmp(folder: Path, files: list[str]) -> str:
    made = folder / "logs"
    made.mkdir(exist_ok=True)
    for file in files:
        shutil.copy(file, made)
    return str(made)


@pytest.mark.parametrize("command", ["assign", "capture", "compare", "explain", "history", "import", "replay"])
def test_help_names_the_racks(command: str) -> None:
    assert "--racks" in run(command, "--help").stdout


def documented_options() -> dict[str, set[str]]:
    text = (ROOT / "docs" / "reference" / "configuration.md").read_text()
    lines = [line for line in text.partition("## Options that commands share")[2].splitlines() if line.startswith("|")]
    rows = [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in lines]
    start = next(place for place, row in enumerate(rows) if row[0] == "command")
    header = rows[start][1:]
    return {
        row[0]: {name for name, cell in zip(header, row[1:], strict=True) if cell == "yes"}
        for row in rows[start + 2 :]
        if len(row) == len(header) + 1
    }


def test_the_table_of_shared_options_is_what_commands_have() -> None:
    documented = documented_options()
    shared = set().union(*documented.values())
    for command in (*documented, "record"):
        (found,) = (each for each in get_command(build_app([command])).commands.values() if each.name == command)  # type: ignore[attr-defined]
        has = {option for parameter in found.params for option in parameter.opts}
        assert has & shared == documented.get(command, set()), command


def test_a_workload_reaches_states_of_both_protocols(tmp_path: Path) -> None:
    (tmp_path / "weights.json").write_text(json.dumps({"tasks": {"0_0": {"state_bytes": 7}}}))
    group = {
        "format": 1, "kind": "streams-group", "id": "g", "config": {}, "members": [],
        "subtopologies": [{"id": "0", "tasks": 2, "stateful": True}],
    }  # fmt: skip
    state = {"kind": "streams", "tasks": [{"id": "0_0"}]}
    made = list(weighed([group, state, {"kind": "connect"}], tmp_path / "weights.json"))
    expected = {"tasks": {"0_0": {"state_bytes": 7}}}
    assert [each.get("workload") for each in made] == [expected, expected, None]


@pytest.mark.parametrize("command", ["compare", "explain"])
def test_compare_and_explain_take_a_workload(command: str, tmp_path: Path) -> None:
    states = tmp_path / "states.jsonl"
    states.write_text(json.dumps(streams_document()) + "\n")
    (tmp_path / "weights.json").write_text(json.dumps({"tasks": {"9_9": {"state_bytes": 7}}}))
    given = ["--assignor", "sticky", "--workload", str(tmp_path / "weights.json")]
    if command == "compare":
        given += ["--assignor", "high_availability"]
    with pytest.raises(DocumentFormatError, match="there is no task '9_9'"):
        run(command, str(states), *given)


@pytest.mark.slow
def test_bench_times_states_with_the_racks_of_a_file(tmp_path: Path) -> None:
    states = tmp_path / "states.jsonl"
    clients = [{**each, "rack": None} for each in streams_document()["clients"]]
    states.write_text(json.dumps(streams_document(clients=clients)) + "\n")
    (tmp_path / "racks.toml").write_text('format = 1\n[clients]\n"*" = "r1"\n')
    given = ["--assignor", "sticky", "--warmup", "0", "--repeat", "1", "--racks", str(tmp_path / "racks.toml")]
    line = json.loads(run("bench", str(states), *given).stdout)
    assert "error" not in line
