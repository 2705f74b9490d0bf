"""Plans of Connect groups: rolls, scaling and kills from a captured state, under settings side by side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from assignor_lab.cli.app import build_app
from assignor_lab.planning.predicted import RestlessGroupError

PUBLIC = Path(__file__).parents[1] / "data" / "public" / "connect-roll.json"


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("connect") / "state.jsonl", json.loads(PUBLIC.read_text("utf-8"))["initial"])


def written(file: Path, document: dict[str, Any]) -> Path:
    file.write_text(json.dumps(document) + "\n", "utf-8")
    return file


def run(file: Path, *words: str) -> Any:
    return CliRunner().invoke(build_app(), ["plan", str(file), *words, "--plays", "12"])


def planned(file: Path, *words: str) -> dict[str, Any]:
    done = run(file, *words, "--json")
    assert done.exit_code == 0, done.output
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def task_seconds(document: dict[str, Any]) -> float:
    return float(document["total"]["task_seconds"]["median"])


def test_a_roll_shows_delay_protocol_batch_and_order_side_by_side(state: Path) -> None:
    made = planned(state, "roll", "--down-seconds", "20", "--wait", "60")
    assert [step["name"] for step in made["steps"]] == ["w1:8083", "w2:8083", "w3:8083"]
    variants = made["variants"]
    assert set(variants) == {
        "delay 0 s", "delay 60 s", "protocol eager", "two at once", "leader first", "leader last",
    }  # fmt: skip
    at_0, at_60 = task_seconds(variants["delay 0 s"]), task_seconds(variants["delay 60 s"])
    assert at_0 < 200 < at_60 < task_seconds(made)
    assert task_seconds(variants["leader first"]) < task_seconds(variants["leader last"])
    assert made["spent_on"]["scheduled delay"] > made["spent_on"]["rebalancing and starting"]
    assert made["total"]["worst_task_seconds"]["high"] > 60
    assert set(made["by_connector"]) == {"bad", "c1", "c2", "c3", "c4", "c5", "c6", "num"}
    assert "A rolling restart of 3 workers" in made["sentence"]
    assert made["releases"] == ["connect_incremental: as Kafka 4.3 to 4.4 decide, which give equal answers"]


def test_the_same_seed_gives_the_same_bytes_in_one_process_or_two(state: Path) -> None:
    one, two = (run(state, "roll", "--json", "--processes", number).stdout for number in ("1", "2"))
    assert one == two
    assert run(state, "roll", "--json", "--seed", "7").stdout != one


def test_a_killed_worker_waits_for_the_session_and_then_for_the_delay(state: Path) -> None:
    made = planned(state, "kill", "w1", "--back-after", "20", "--no-variants")
    assert {"session timeout", "scheduled delay"} <= set(made["spent_on"])
    assert 300 < made["total"]["worst_task_seconds"]["high"] < 320
    gone = planned(state, "kill", "w1:8083", "--no-variants")
    assert gone["plan"]["back_after_seconds"] is None


def test_scaling_out_stops_few_tasks_and_scaling_in_waits(state: Path) -> None:
    out = planned(state, "scale", "--to", "4", "--no-variants")
    assert out["plan"]["new"] == ["new-1"]
    assert task_seconds(out) < 30
    gone = planned(state, "scale", "--to", "2", "--leaving", "w2:8083", "--no-variants")
    assert [step["name"] for step in gone["steps"]] == ["w2:8083"]
    assert gone["total"]["worst_task_seconds"]["high"] > 300


def test_given_variants_change_delay_protocol_and_timeouts(state: Path) -> None:
    quick = "quick=connect_incremental,scheduled.rebalance.max.delay.ms=1000,session.timeout.ms=6000"
    made = planned(state, "kill", "w3", "--variant", quick, "--variant", "eager=connect_eager,connect.protocol=eager")
    assert set(made["variants"]) == {"quick", "eager"}
    assert made["variants"]["quick"]["total"]["worst_task_seconds"]["high"] < 12


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("roll", "--leave"), "--leave is for Streams groups"),
        (("upgrade-protocol",), "a Connect group has roll, scale and kill"),
        (("kill", "w9"), "fits no worker: the group has w1:8083, w2:8083, w3:8083"),
        (("kill", "w"), "fits 3 workers"),
        (("scale", "--to", "3"), "the group has 3 workers"),
        (("roll", "--order", "w1,w2"), "--order leaves out w3:8083"),
        (("roll", "--variant", "a=connect_incremental,num.standby.replicas=1"), "has no effect on a plan of a Connect"),
    ],
)
def test_impossible_plans_are_refused_with_the_remedy(state: Path, words: tuple[str, ...], message: str) -> None:
    done = run(state, *words)
    assert done.exit_code != 0
    assert message in str(done.exception) + done.output


def test_the_only_worker_has_to_come_back(tmp_path: Path) -> None:
    document = json.loads(PUBLIC.read_text("utf-8"))["initial"]
    del document["rounds"][0]["members"][1:]
    alone = written(tmp_path / "one.jsonl", document)
    assert "give --back-after" in str(run(alone, "kill", "w1").exception)
    made = planned(alone, "kill", "w1", "--back-after", "3", "--no-variants")
    assert sum(made["spent_on"].values()) == pytest.approx(made["total"]["task_seconds"]["median"], rel=0.1)


def test_jobs_of_no_worker_count_as_lost_and_wait(tmp_path: Path) -> None:
    document = json.loads(PUBLIC.read_text("utf-8"))["initial"]
    lost = document["rounds"][0]["members"].pop()
    made = planned(written(tmp_path / "lost.jsonl", document), "scale", "--to", "3", "--no-variants")
    jobs = len(lost["owned"]["connectors"]) + len(lost["owned"]["tasks"])
    assert any(sentence.startswith(f"{jobs} jobs of no worker") for sentence in made["assumptions"])
    assert made["spent_on"]["scheduled delay"] > 0
    assert made["total"]["tasks"]["low"] >= len(lost["owned"]["tasks"])


def test_a_group_that_never_rests_has_no_figures_and_no_gate_passes(state: Path) -> None:
    timeouts = ("-c", "session.timeout.ms=4", "-c", "heartbeat.interval.ms=3")
    words = ("roll", "--no-variants", *timeouts, "--fail-if", "total.worst_task_seconds.high > 9999")
    done = CliRunner().invoke(build_app(), ["plan", str(state), *words, "--plays", "2", "--processes", "1"])
    assert isinstance(done.exception, RestlessGroupError)
    assert "the group does not come to rest before the plan" in str(done.exception)
    assert "away for" not in done.output
