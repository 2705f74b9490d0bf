"""Lives of real groups in a recording: all decisions, and the same decisions by our assignors."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from typer.testing import CliRunner, Result

from assignment_api.plugins import discover
from assignor_lab.capture.histories.flight_recordings import recorded_decisions
from assignor_lab.capture.recorded.connect.comparison import compare_observed
from assignor_lab.cli.app import build_app
from assignor_lab.scenarios import Place, scenario_from_document
from tests.capture.live.recorded_lives import ASSIGNMENT, CLASSIC, CONNECT, DELAY_MS, STREAMS, RecordedLives

pytestmark = pytest.mark.services

#: Release of the broker to the assignor of its groups of the streams protocol.
STICKY = {"4.3": "group_sticky", "4.4": "group_sticky_4_4"}


@pytest.fixture(scope="module", params=sorted(STICKY))
def lives(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> RecordedLives:
    made = RecordedLives(tmp_path_factory.mktemp("lives"), request.param)
    try:
        made.live()
    finally:
        made.close()
    return made


def decisions(lives: RecordedLives, group: str) -> list[dict[str, Any]]:
    problems: list[str] = []
    found = list(recorded_decisions(lives.out / group / "records.jsonl", on_problem=problems.append))
    assert problems == []
    return found


def answers(assignor: str, documents: list[dict[str, Any]], folder: Path, *options: str) -> list[dict[str, Any]]:
    file = folder / "decisions.jsonl"
    file.write_text("".join(json.dumps(document) + "\n" for document in documents))
    arguments = ["assign", "--assignor", assignor, str(file), *options]
    told = CliRunner().invoke(build_app(arguments), arguments, catch_exceptions=False)
    assert told.exit_code == 0, told.stderr
    return [json.loads(line) for line in told.stdout.splitlines()]


@pytest.mark.parametrize("group", [CLASSIC, STREAMS, CONNECT])
def test_the_history_has_every_decision_that_the_coordinator_logged(lives: RecordedLives, group: str) -> None:
    told = [each["generation"] for each in lives.history(group) if each["members"]]
    assert len(told) > 4
    assert sorted(told) == sorted(lives.decided(group))


def test_who_was_killed_left_and_who_came_back_is_somebody_new(lives: RecordedLives) -> None:
    for group in (CLASSIC, STREAMS, CONNECT):
        history = lives.history(group)
        joined = [name for each in history for name in each["joined"]]
        left = [name for each in history for name in each["left"]]
        # Three start, one is killed and returns, one stops.
        assert (len(set(joined)), len(set(left))) == (4, 2), group


def test_a_running_recorder_serves_metrics_of_each_group(lives: RecordedLives) -> None:
    assert lives.reproduced.keys() == {CLASSIC, STREAMS, CONNECT}
    assert lives.reproduced[STREAMS] > 0.9 or lives.release != "4.3"


def test_a_check_of_the_recording_names_the_instances_that_came_and_went(lives: RecordedLives) -> None:
    arguments = ["check", str(lives.out), "--json"]
    told = CliRunner().invoke(build_app(arguments), arguments, catch_exceptions=False)
    groups = {each["group"]: each for each in json.loads(told.stdout)["groups"]}
    assert groups.keys() == {CLASSIC, STREAMS, CONNECT}
    # One kill and one stop are ordinary; under load a rebalance can follow another, and the last sessions can end.
    rules = {finding["rule"] for each in groups.values() for finding in each["findings"]}
    assert rules <= {"no known cause", "back and forth", "outage"}


def test_the_coordinators_logs_tell_why_each_was_decided(lives: RecordedLives) -> None:
    logs = [lives.directory / f"{broker}.out" for broker in ("broker", "broker2")]
    for group in (CLASSIC, STREAMS, CONNECT):
        found = list(recorded_decisions(lives.out / group / "records.jsonl", logs=logs))
        sources = [each["source"] for each in found]
        reasons = [reason for each in sources for reason in each.get("reasons", [each.get("reason")])]
        assert len(reasons) > 2
        assert [each for each in reasons if not each] == [], group


def test_every_classic_decision_comes_out_as_the_leader_decided_racks_included(
    lives: RecordedLives, tmp_path: Path
) -> None:
    # Under load one rebalance can interrupt another: the receiver of a moved task is unknown then.
    documents = [each for each in decisions(lives, CLASSIC) if "observed" in each]
    assert len(documents) > 4
    config = [option for key, value in ASSIGNMENT.items() for option in ("-c", f"{key}={value}")]
    found = answers("high_availability", documents, tmp_path, *config)
    assert [each["assignment"] for each in found] == [each["observed"]["assignment"] for each in documents]
    assert len({client["rack"] for each in documents for client in each["clients"]}) == 2


def test_every_target_comes_out_of_the_assignor_of_the_brokers_release(lives: RecordedLives, tmp_path: Path) -> None:
    documents = decisions(lives, STREAMS)
    found = answers(STICKY[lives.release], documents, tmp_path)
    assert [each["members"] for each in found] == [each["observed"]["members"] for each in documents]


def test_every_connect_round_comes_out_of_ours(lives: RecordedLives) -> None:
    """Sets are compared: the order of a worker's jobs is that of an unrecorded map of the leader."""
    compared = []
    for document in decisions(lives, CONNECT):
        history = scenario_from_document(document, Place(str(document["id"]))).connect_history
        made = compare_observed(history, document["observed"], lambda name: discover().connect_assignor(name).create())
        compared += list(made)
    assert [each.difference for each in compared if each.difference] == []
    assert len(compared) == len(lives.decided(CONNECT))


# --- the how-to pages Choose settings, Alert on rebalances, A nightly check ------------------------------------------


def done(*words: object) -> Result:
    arguments = [str(word) for word in words]
    return CliRunner().invoke(build_app(arguments), arguments, catch_exceptions=False)


def test_a_recorded_group_gets_advice(lives: RecordedLives) -> None:
    fixed = ("--fix", "session.timeout.ms", "--fix", "connect.protocol", "--days", 2, "--processes", 1)
    told = done("advise", lives.out / CONNECT, "-c", f"scheduled.rebalance.max.delay.ms={DELAY_MS}", *fixed, "--json")
    made = json.loads(told.stdout)
    assert told.exit_code == 0
    assert made["group"] == CONNECT
    assert made["tried"][0]["name"] == "present settings"
    assert made["tried"][0]["task_seconds"] > 0


def test_a_running_recorder_serves_every_metric_of_the_alerts(lives: RecordedLives) -> None:
    rules = yaml.safe_load(Path("docs/monitoring/alerts.yaml").read_text())
    expressions = " ".join(rule["expr"] for group in rules["groups"] for rule in group["rules"])
    named = set(re.findall(r"assignor_\w+", expressions))
    assert named
    assert named <= lives.served


def test_a_second_nightly_check_has_nothing_new(lives: RecordedLives, tmp_path: Path) -> None:
    last, junit, summary = (tmp_path / name for name in ("last.json", "check.xml", "summary.md"))
    words = ("check", lives.out, "--since", last, "--junit", junit, "--summary", summary)
    done(*words)
    assert junit.read_text().count("<testcase ") >= 3
    assert all(group in summary.read_text() for group in (CLASSIC, STREAMS, CONNECT))
    again = done(*words, "--json")
    assert again.exit_code == 0
    assert not any(each["findings"] for each in json.loads(again.stdout)["groups"])
