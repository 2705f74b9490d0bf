"""Reasons inferred from decisions alone, compared with those of the coordinators and the clients."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import attrs
import pytest
from typer.testing import CliRunner

from assignor_lab.capture.histories.group_histories import group_histories, history_of_rounds
from assignor_lab.capture.histories.reasons import FOLLOW_UP, PROBING
from assignor_lab.capture.histories.timeline import GroupTimeline, timeline_of
from assignor_lab.cli.app import build_app
from assignor_lab.scenarios import Scenario
from assignor_lab.scenarios.formats.connect import read_connect
from tests.capture.captured_logs import CAPTURES, logs
from tests.capture.flight_recording import decisions, write_recording
from tests.capture.histories.pasts import decisions_of, group_past_of, properties_of
from tests.capture.live.recorded_lives import CONNECT

_TIMELINES = {"orders-2": "orders-classic-2"}


def reported(application: str) -> dict[int, tuple[str, str]]:
    name = _TIMELINES.get(application, f"{application}-classic")
    timeline = json.loads(gzip.decompress((CAPTURES / "timelines" / f"{name}.json.gz").read_bytes()))
    return {each["generation"]: (each["reason"], each.get("client_reason") or "") for each in timeline["generations"]}


def inferred(application: str) -> dict[int | None, str]:
    return {entry.generation: entry.inferred_reason for entry in timeline_of(group_past_of(application))}


def fits(words: str, coordinator: str, client: str) -> bool:
    """True if an inferred reason matches the reported one."""
    if words == PROBING or "was due" in words:
        return "followup rebalance scheduled for 1" in client
    if words == FOLLOW_UP:
        return "need to revoke" in client or client.endswith("scheduled for 0")
    if "joined" in words or "restarted" in words:
        return coordinator.startswith("Adding new member")
    if "stopped" in words or "left" in words:
        return coordinator.startswith("removing member")
    return "cached metadata has changed" in client


@pytest.mark.parametrize(("application", "least"), [("orders-2", 40), ("tagged", 18), ("plain-ha", 10), ("warm", 3)])
def test_what_is_inferred_is_what_coordinator_and_clients_reported(application: str, least: int) -> None:
    known = {number: words for number, words in inferred(application).items() if words}
    truth = reported(application)
    assert [(number, words) for number, words in known.items() if not fits(words, *truth[number or 0])] == []
    assert len(known) >= least


def test_a_stop_that_was_logged_is_no_end_of_a_session() -> None:
    words = inferred("orders-2")
    assert (words[17], words[45]) == ("i2 left, or the session ended", "i4 stopped")
    assert [words[number] for number in range(41, 45)] == [f"i{number} restarted" for number in range(1, 5)]


def test_a_thread_that_comes_alone_is_named_as_one() -> None:
    changed = [decisions_of("warm")[0], without_a_thread(decisions_of("warm")[1]), *decisions_of("warm")[2:]]
    (history,) = group_histories(changed)
    words = [entry.inferred_reason for entry in timeline_of(history)]
    assert any("1 thread of v1 left" in each for each in words)
    assert any("1 thread of v1 joined" in each for each in words)


def without_a_thread(scenario: Scenario) -> Scenario:
    first, *others = scenario.document["clients"]
    less = {**first, "threads": first["threads"] - 1, "consumers": first["consumers"][:-1]}
    return attrs.evolve(scenario, document={**scenario.document, "clients": [less, *others]})


def test_workers_of_connect_join_and_leave(tmp_path: Path) -> None:
    write_recording(tmp_path / "past", CONNECT)
    timeline = GroupTimeline.of(history_of_rounds("connect", map(read_connect, decisions(tmp_path / "past"))))
    words = [entry.inferred_reason for entry in timeline.entries]
    assert "w3 joined" in words
    assert "w1 left, or the session ended" in words


def run(*arguments: str) -> Any:
    return CliRunner().invoke(build_app(), ["history", *arguments], env={"COLUMNS": "200"})


@pytest.mark.slow
def test_history_shows_causes_as_reasons_and_what_follows_in_its_own_column() -> None:
    result = run(*map(str, logs("plain-ha")), "--config", str(properties_of("plain-ha")))
    assert "h3 joined" in result.stdout
    assert "probing follows" not in result.stdout
    assert "NEXT" in result.stdout
    assert "reasons are inferred from members and tasks" in result.stderr


@pytest.mark.slow
def test_a_reason_of_the_coordinator_goes_before_an_inferred_one() -> None:
    result = run(*(str(CAPTURES / "lives" / name) for name in ("broker.log.gz", "c1.log.gz", "c2.log.gz")))
    assert "heartbeat expiration" in result.stdout
    assert "or the session ended" not in result.stdout
