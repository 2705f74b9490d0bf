"""Lives of real groups, as a recorder beside them tells them: all that was decided, and decided again by us."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from assignment_api.plugins import discover
from assignor_lab.capture.histories.flight_recordings import recorded_decisions
from assignor_lab.capture.recorded.connect import compare_observed
from assignor_lab.cli.app import build_app
from assignor_lab.scenarios import Place, scenario_from_document
from tests.capture.live.recorded_lives import ASSIGNMENT, CLASSIC, CONNECT, STREAMS, RecordedLives

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
    arguments = ["assign", "--assignor", assignor, "--scenarios", str(file), *options]
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
        # Three are started, one is killed, and comes back; one is stopped.
        assert (len(set(joined)), len(set(left))) == (4, 2), group


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
    documents = decisions(lives, CLASSIC)
    config = [option for key, value in ASSIGNMENT.items() for option in ("-c", f"{key}={value}")]
    found = answers("high_availability", documents, tmp_path, *config)
    assert [each["assignment"] for each in found] == [each["observed"]["assignment"] for each in documents]
    assert len({client["rack"] for each in documents for client in each["clients"]}) == 2


def test_every_target_comes_out_of_the_assignor_of_the_brokers_release(lives: RecordedLives, tmp_path: Path) -> None:
    documents = decisions(lives, STREAMS)
    found = answers(STICKY[lives.release], documents, tmp_path)
    assert [each["members"] for each in found] == [each["observed"]["members"] for each in documents]


def test_every_connect_round_comes_out_of_ours(lives: RecordedLives) -> None:
    """The order within a worker's jobs is that of a map of the leader's, which nobody tells: sets are compared."""
    compared = []
    for document in decisions(lives, CONNECT):
        history = scenario_from_document(document, Place(str(document["id"]))).connect_history
        made = compare_observed(history, document["observed"], lambda name: discover().connect_assignor(name).create())
        compared += list(made)
    assert [each.difference for each in compared if each.difference] == []
    assert len(compared) == len(lives.decided(CONNECT))
