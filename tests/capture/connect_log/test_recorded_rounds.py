from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from assignment_api.connect import ConnectProtocol
from assignor_lab.capture.logs.connect.replay import received_as_answered, replay
from assignor_lab.capture.logs.connect.rounds import read_worker_log
from assignor_lab.cli.app import build_app
from tests.capture.connect_log.logs import GROUPS, configured, files

#: Group to its leaders' rounds, and to the assignments that its workers logged.
_ROUNDS = {"sessioned": 32, "eager": 11, "conflict": 38}
_RECEIVED = {"sessioned": 89, "eager": 19, "conflict": 75}


@pytest.mark.parametrize("group", GROUPS)
def test_our_assignors_decide_as_the_recorded_leaders_did_down_to_the_bytes(group: str) -> None:
    lives = [life for file in files(group) for life in read_worker_log(file)]

    compared = [found for life in lives for found in replay(life, configured)]

    assert len(compared) == _ROUNDS[group]
    assert [found for found in compared if found.departure is not None or not found.same_bytes] == []


@pytest.mark.parametrize("group", GROUPS)
def test_workers_say_that_they_run_what_our_answers_would_have_them_run(group: str) -> None:
    lives = [life for file in files(group) for life in read_worker_log(file)]
    compared = [found for life in lives for found in replay(life, configured)]

    received = received_as_answered(lives, compared)

    assert len(received) == _RECEIVED[group] == sum(len(life.received) for life in lives)
    assert all(same for _, same in received)


def test_the_recorded_rounds_hold_delays_revocations_a_leader_change_and_all_kinds_of_rounds() -> None:
    lives = [life for group in GROUPS for file in files(group) for life in read_worker_log(file) if life.rounds]
    rounds = [recorded for life in lives for recorded in life.rounds]
    messages = [message for recorded in rounds for message in (recorded.assignments or {}).values()]

    assert {message.delay_ms for message in messages} >= {0, 20992, 30000, 5000}
    assert any(message.revoked_tasks for message in messages)
    assert {recorded.protocol for recorded in rounds} == {ConnectProtocol.EAGER, ConnectProtocol.SESSIONED}
    assert [len(life.rounds) for life in lives if life.group == "connect-main"] == [14, 18]


def test_the_command_prints_the_number_of_compared_rounds() -> None:
    logs = [str(file) for group in GROUPS for file in files(group)]

    result = CliRunner().invoke(build_app(), ["connect", "replay", *logs])

    assert result.exit_code == 0, result.output
    assert "81 rounds recorded, 81 compared, 81 the same" in result.stdout
    assert "183 reports of a worker's work after one of them, 183 as our" in result.stdout


def test_the_command_tells_each_round_as_json() -> None:
    logs = [str(file) for file in files("eager")]

    result = CliRunner().invoke(build_app(), ["connect", "replay", "--json", *logs])

    document = json.loads(result.stdout)
    assert (document["rounds"], document["compared"], document["same"]) == (11, 11, 11)
    assert document["leaders"][0]["rounds"][0]["generation"] == 1
