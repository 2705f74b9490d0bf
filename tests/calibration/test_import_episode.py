"""``assignor import-episode``: recorded experiments of real groups as episodes."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from assignor_lab.cli.app import build_app
from assignor_lab.cli.main import main
from assignor_lab.scenarios import DocumentFormatError
from calibration.episodes import import_episode
from tests.capture.topologies import ORDERS

CAPTURES = Path(__file__).parents[1] / "data" / "captures"
PLAIN_HA = CAPTURES / "timelines" / "plain-ha-classic.json.gz"
DOWNTIME = CAPTURES / "downtime" / "F"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(build_app(), arguments)


@pytest.fixture(scope="module")
def plain_ha() -> dict[str, Any]:
    return import_episode(PLAIN_HA, CAPTURES / "plain-ha")


@pytest.fixture(scope="module")
def downtime() -> dict[str, Any]:
    return import_episode(DOWNTIME / "timeline.json.gz", DOWNTIME)


@pytest.mark.slow
def test_what_was_done_is_what_the_timeline_says(plain_ha: dict[str, Any]) -> None:
    timeline = json.loads(gzip.decompress(PLAIN_HA.read_bytes()))
    kinds = {"start": "start", "SIGTERM": "stop"}
    done = [each for each in timeline["actions"] if each["event"] in kinds]
    assert [(event["at_ms"], event["type"], event["client"]) for event in plain_ha["events"]] == [
        (each["t"] - done[0]["t"], kinds[each["event"]], each["instance"]) for each in done
    ]
    assert [event["client"] for event in plain_ha["events"]] == ["h1", "h2", "h3", "h3", "h1", "h2"]


def test_process_ids_are_those_that_members_sent(plain_ha: dict[str, Any]) -> None:
    ids = [event["process_id"] for event in plain_ha["events"] if event["type"] == "start"]
    assert len(set(ids)) == 3
    assert not [sentence for sentence in plain_ha["assumptions"] if "process id" in sentence]


def test_configuration_becomes_settings_and_timings(plain_ha: dict[str, Any]) -> None:
    assert plain_ha["initial"]["config"] == {
        "acceptable.recovery.lag": 100, "num.standby.replicas": 0, "probing.rebalance.interval.ms": 60_000,
    }  # fmt: skip
    assert plain_ha["timings"] == {
        "heartbeat_interval_ms": 3_000, "session_timeout_ms": 10_000, "commit_interval_ms": 2_000,
    }  # fmt: skip
    assert plain_ha["settings"] == {
        "commit.interval.ms": 2_000, "heartbeat.interval.ms": 3_000, "kafka.release": "4.3.1",
        "session.timeout.ms": 10_000,
    }  # fmt: skip
    assert plain_ha["missing_topics"] == ["plain-ha-classic-by-city-repartition"]


def test_a_topology_says_which_stores_are_whose(tmp_path: Path) -> None:
    described = tmp_path / "topology.txt"
    described.write_text(ORDERS)
    document = import_episode(PLAIN_HA, CAPTURES / "plain-ha", described)
    stores = {task["id"]: task["stores"] for task in document["initial"]["tasks"]}
    assert (stores["0_0"], stores["1_0"], stores["2_0"]) == (["counts", "latest"], ["cities"], [])


def test_the_workload_is_what_changelogs_held_and_how_they_grew(
    plain_ha: dict[str, Any], downtime: dict[str, Any]
) -> None:
    stateful = [f"0_{number}" for number in range(6)] + [f"1_{number}" for number in range(4)]
    assert sorted(plain_ha["changelogs"]) == stateful
    # The input is even, and so are its results: leaders saw the ends repeatedly.
    for subtopology, partitions in (("0", 6), ("1", 4)):
        growth = [plain_ha["changelogs"][f"{subtopology}_{number}"]["records_per_s"] for number in range(partitions)]
        assert max(growth) < 1.2 * min(growth)
        assert min(growth) > 15
    first = downtime["changelogs"]["0_0"]
    assert first["records"] == pytest.approx(1_000_000, rel=0.01)
    assert first["bytes_per_record"] == pytest.approx(209, abs=0.5)


def test_a_folder_without_answers_says_what_it_made_up(downtime: dict[str, Any]) -> None:
    told = " ".join(downtime["assumptions"])
    assert "process ids" in told
    assert "partitions and racks" in told
    assert [task["id"] for task in downtime["initial"]["tasks"] if task["logged"]] == [f"0_{n}" for n in range(8)]


@pytest.mark.slow
def test_the_simulation_never_reads_what_followed(tmp_path: Path, downtime: dict[str, Any]) -> None:
    with_it, without = tmp_path / "with.jsonl", tmp_path / "without.jsonl"
    with_it.write_text(json.dumps({**downtime, "recorded": {"generations": []}}) + "\n")
    without.write_text(json.dumps({key: value for key, value in downtime.items() if key != "recorded"}) + "\n")
    outputs = [run("simulate", str(file), "--json") for file in (with_it, without)]
    assert [output.exit_code for output in outputs] == [0, 0]
    first, second = (json.loads(output.stdout) for output in outputs)
    assert {**first, "compared": None} == second


@pytest.mark.slow
def test_the_command_writes_the_episode_and_tells_of_it(tmp_path: Path) -> None:
    out = tmp_path / "episode.jsonl"
    told = run("import-episode", str(PLAIN_HA), "--recording", str(CAPTURES / "plain-ha"), "--out", str(out), "--json")
    assert told.exit_code == 0
    assert json.loads(told.stdout)["lines"] == 1
    assert json.loads(out.read_text())["kind"] == "streams-episode"
    shown = run("simulate", str(out), "--width", "60")
    assert shown.exit_code == 0
    assert "rebalances" in shown.stdout


def test_a_folder_without_configuration_says_which_file_would_have_it(tmp_path: Path) -> None:
    with pytest.raises(DocumentFormatError, match=r"configs\.jsonl.*threads, timeouts and standbys"):
        import_episode(PLAIN_HA, tmp_path)


def test_an_instance_without_configuration_is_named(tmp_path: Path) -> None:
    (tmp_path / "configs.jsonl").write_text('{"instance": "h1", "config": {}}\n')
    with pytest.raises(DocumentFormatError, match="no line for instance 'h2'"):
        import_episode(PLAIN_HA, tmp_path)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda timeline: timeline.pop("actions"), '"actions" is missing'),
        (lambda timeline: timeline.update(kind="connect"), "those of Streams groups"),
        (lambda timeline: timeline.update(actions=[]), "no instance is started"),
        (lambda timeline: timeline["actions"][1].update(t="now"), r"actions\[1\].t"),
        (lambda timeline: timeline.update(probe=[{"t": 1}]), r"probe\[0\]"),
        (lambda timeline: timeline["generations"][0].update(assigned={"h1-x": {"active": ["one"]}}), "not a task id"),
    ],
)
def test_what_is_no_timeline_is_refused_with_its_place(tmp_path: Path, change: Any, what: str) -> None:
    timeline = json.loads(gzip.decompress(PLAIN_HA.read_bytes()))
    change(timeline)
    file = tmp_path / "timeline.json"
    file.write_text(json.dumps(timeline))
    with pytest.raises(DocumentFormatError, match=what):
        import_episode(file, CAPTURES / "plain-ha")


@pytest.mark.parametrize(
    "words",
    [("import-episode", str(PLAIN_HA), "--recording", str(CAPTURES)), ("connect", "benchmark", "--small")],
    ids=("import-episode", "connect benchmark"),
)
def test_without_calibration_the_command_names_a_clone(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for module in ("calibration.episodes", "calibration.connect.small_benchmark"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(SystemExit, match="2"):
        main(words)
    assert capsys.readouterr().err == (
        "assignor: this command reads recorded experiments: call it from a clone of the repository, after make setup\n"
    )
