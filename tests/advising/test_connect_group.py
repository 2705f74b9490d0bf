"""Advice for a recorded Connect group of Kafka 4.3."""

from __future__ import annotations

import json
from pathlib import Path

import attrs
import pytest
from typer.testing import CliRunner

from assignment_api.plugins import config_sources, discover
from assignor_lab.advising.configurations import BATCH, MAX_DELAY, PROTOCOL_OF_WORKERS, SESSION
from assignor_lab.advising.connect_group import ConnectGroup, connect_group, connect_space
from assignor_lab.advising.days import Day, DayEvent
from assignor_lab.advising.mix import DEFAULT_MIX
from assignor_lab.advising.space import narrowed
from assignor_lab.capture.histories.past import scenarios_of_past
from assignor_lab.cli.app import build_app
from assignor_lab.planning.connect_state import is_connect_state
from assignor_lab.planning.making import Options
from assignor_lab.planning.predict import Terms
from assignor_lab.scenarios.settings import given_settings
from tests.capture.flight_recording import write_recording


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("past") / "recording"
    write_recording(made, "real-connect")
    return made


def group_of(folder: Path, *given: str) -> ConnectGroup:
    (state,) = scenarios_of_past([str(folder)])
    assert is_connect_state(state)
    sources = config_sources(None, list(given), environ={})
    return connect_group(state, Terms(discover(), sources, given_settings(sources.above)), Options())


def cost(group: ConnectGroup, kind: str, for_ms: int = 0, **changes: str) -> tuple[float, float]:
    """Task-seconds and rebalances of one event."""
    present = connect_space(group, DEFAULT_MIX).present
    keys = {"delay": MAX_DELAY, "session": SESSION, "protocol": PROTOCOL_OF_WORKERS}
    chosen = {**present, **{keys[name]: value for name, value in changes.items()}}
    day = Day((DayEvent(kind, 0, 0, for_ms),), {kind: 1.0})
    figures = group.played(day, DEFAULT_MIX, chosen, present, "0-0").figures
    assert figures["task_seconds"] is not None
    assert figures["rebalances"] is not None
    return figures["task_seconds"], figures["rebalances"]


def test_the_last_round_is_the_present_group(folder: Path) -> None:
    group = group_of(folder)
    assert (group.instances, group.protocol, group.max_delay_ms) == (2, "sessioned", 300_000)
    assert any("taken as 300000" in each for each in group.assumptions)
    given = group_of(folder, "scheduled.rebalance.max.delay.ms=3000", "session.timeout.ms=20000")
    assert (given.max_delay_ms, given.sessions) == (3_000, {SESSION: 20_000})


def test_the_space_has_the_delay_the_protocol_and_the_session(folder: Path) -> None:
    group = group_of(folder)
    space = connect_space(group, DEFAULT_MIX)
    assert space.present == {MAX_DELAY: "300000", PROTOCOL_OF_WORKERS: "sessioned", SESSION: "10000"}
    third = attrs.evolve(
        group.episode, workers={**group.episode.workers, "w": next(iter(group.episode.workers.values()))}
    )
    assert BATCH in connect_space(attrs.evolve(group, episode=third), DEFAULT_MIX).present


def test_a_crash_waits_for_the_session_and_the_delay(folder: Path) -> None:
    group = group_of(folder)
    at_once, short, long = (cost(group, "kill", delay=each)[0] for each in ("0", "60000", "300000"))
    assert 10 < at_once < short < long
    assert at_once < cost(group, "kill", delay="0", session="30000")[0]


def test_a_stall_within_the_session_costs_nothing(folder: Path) -> None:
    group = group_of(folder)
    assert cost(group, "stall", 4_000) == (0, 0)
    assert cost(group, "stall", 30_000)[0] > 0


@pytest.mark.parametrize("kind", ["roll", "scaling"])
def test_deployments_and_scalings_rebalance(folder: Path, kind: str) -> None:
    group = group_of(folder, "scheduled.rebalance.max.delay.ms=10000")
    seconds, rebalances = cost(group, kind)
    assert seconds > 0
    assert rebalances >= 2


def test_the_delay_has_no_effect_under_eager(folder: Path) -> None:
    space = narrowed(connect_space(group_of(folder), DEFAULT_MIX), {}, {PROTOCOL_OF_WORKERS: ["eager"]})
    eager = {**space.present, PROTOCOL_OF_WORKERS: "eager", MAX_DELAY: "0"}
    assert space.canonical(eager) == {**eager, MAX_DELAY: "300000"}
    assert cost(group_of(folder), "roll", protocol="eager")[1] > 0


@pytest.mark.slow
def test_the_answer_is_a_change_of_the_workers_file(folder: Path) -> None:
    words = ["advise", str(folder), "--days", "2", "--json", "--processes", "1"]
    words += ["--fix", SESSION, "--fix", PROTOCOL_OF_WORKERS]
    done = CliRunner().invoke(build_app(["advise"]), words)
    assert done.exit_code == 0, done.output
    made = json.loads(done.stdout)
    assert made["changes"] == made["change"]["properties"] == {MAX_DELAY: "0"}
    assert made["change"]["file"] == "connect-distributed.properties"
    assert made["sentence"].startswith("scheduled.rebalance.max.delay.ms=0: ")
