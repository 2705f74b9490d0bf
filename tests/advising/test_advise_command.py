from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner, Result

from assignor_lab.cli.app import build_app
from tests.advising.groups import PLANS

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def rolls(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A mix of deployments alone."""
    file = tmp_path_factory.mktemp("mix") / "mix.toml"
    file.write_text("rolls_per_week = 7\n")
    return str(file)


def run(*words: str, name: str = "P1") -> Result:
    source, config = PLANS / name / "capture.jsonl", PLANS / name / "application.properties"
    fixed = ["--config", str(config), "--start-seconds", "2.2", "--processes", "1", "--days", "3"]
    return CliRunner().invoke(build_app(["advise"]), ["advise", str(source), *fixed, *words])


#: Everything but the members' form stays.
ALONE = [
    word
    for key in (
        "CloseOptions", "session.timeout.ms", "num.standby.replicas", "task.assignor.class", "acceptable.recovery.lag",
        "max.warmup.replicas", "probing.rebalance.interval.ms", "group.protocol", "instances at once",
    )
    for word in ("--fix", key)
]  # fmt: skip


def test_a_session_below_the_brokers_minimum_is_an_assumption_and_one_without_heartbeats_is_refused(rolls: str) -> None:
    words = ["--mix", rolls, "--configurations", "2", "--hours", "1"]
    assert "the brokers allow session.timeout.ms 3000" in run(*words, "--fix", "session.timeout.ms=3000").output
    assert "the brokers allow" not in run(*words, "--fix", "session.timeout.ms=6000").output
    refused = run(*words, "--fix", "session.timeout.ms=2")
    assert "heartbeat.interval.ms 0 is not between 0 and session.timeout.ms 2" in str(refused.exception)


def test_the_answer_begins_with_the_check_and_a_sentence_and_the_change(rolls: str) -> None:
    done = run(*ALONE, "--mix", rolls)
    assert done.exit_code == 0, done.output
    verified, sentence, *rest = done.stdout.splitlines()
    assert verified.startswith("Decisions: ")
    assert sentence.startswith("Static members: ")
    assert "% less downtime (90 %: " in sentence
    assert "  d1: group.instance.id=d1" in rest


def test_the_document_has_the_answer_its_forms_and_the_tried_configurations(rolls: str) -> None:
    done = run(*ALONE, "--json", "--mix", rolls)
    made = json.loads(done.stdout)
    assert made["keep"] is False
    assert made["changes"] == {"group.instance.id": "one for each instance"}
    assert made["change"]["instances"]["d2"] == {"group.instance.id": "d2"}
    assert made["figures"]["task_seconds"]["judged"]["high"] < 0
    assert [each["name"] for each in made["tried"]] == ["present settings", "static members"]
    roll = made["events"]["roll"]
    assert roll["advised_task_seconds"] < roll["present_task_seconds"] / 2
    assert roll["advised_low"] < roll["advised_task_seconds"] < roll["advised_high"]


def test_the_same_seed_has_the_same_bytes_with_any_number_of_processes(rolls: str) -> None:
    words = (*ALONE, "--json", "--mix", rolls, "--seed", "5")
    assert run(*words).stdout == run(*words, "--processes", "2").stdout


def test_without_another_configuration_the_present_one_stays(rolls: str) -> None:
    made = json.loads(run(*ALONE, "--fix", "group.instance.id", "--mix", rolls, "--json").stdout)
    assert made["keep"] is True
    assert made["sentence"].startswith("Keep the present settings: ")
    assert not any(value for key, value in made["change"].items() if key != "file")


def test_a_mix_without_stalls_is_warned_about(rolls: str) -> None:
    assert "The mix has no stalls." in run(*ALONE, "--mix", rolls).stderr


def test_an_unknown_figure_cannot_be_an_objective(rolls: str) -> None:
    done = run(*ALONE, "--mix", rolls, "--objective", "dollars")
    assert "dollars) is unknown in this group" in str(done.exception)


def test_several_objectives_have_a_front_with_the_present_configuration_beside_it(rolls: str) -> None:
    made = json.loads(
        run(*ALONE, "--mix", rolls, "--objective", "task_seconds", "--objective", "rebalances", "--json").stdout
    )
    assert made["front"][0]["name"] == "static members"
    assert made["tried"][0]["name"] == "present settings"
