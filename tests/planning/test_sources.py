"""The present group of each kind of source: a file of states, a folder of a recording, the log of a leader."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assignment_api.plugins import config_sources
from assignor_lab.capture.histories import episodes
from assignor_lab.capture.histories.history import DecisionHistory
from assignor_lab.capture.histories.history_episode import history_episode
from assignor_lab.cli.present_group import read_group
from assignor_lab.documents.writer import canonical_line
from assignor_lab.opened.past import past_of_group
from assignor_lab.opened.reading import PresentGroup
from assignor_lab.planning.making import Options
from assignor_lab.planning.starts import options_with_starts
from assignor_lab.scenarios import read_scenarios
from tests.capture.flight_recording import write_recording

CAPTURES = Path(__file__).parents[1] / "data" / "captures"


def present(source: Path) -> PresentGroup:
    return read_group(str(source), None, config_sources(), *[None] * 6).present()


@pytest.mark.parametrize(("group", "is_classic"), [("classic", True), ("streams", False)])
def test_a_recording_ends_with_the_present_group(group: str, is_classic: bool, tmp_path: Path) -> None:
    write_recording(tmp_path / "past", group)
    state = present(tmp_path / "past").state
    assert sorted(state.names) == [f"p1-{group}", f"p3-{group}"]
    assert state.is_classic == is_classic
    assert not is_classic or state.given["session_timeout_ms"] == 10_000  # brokers record it for classic members


@pytest.mark.slow
def test_the_log_of_a_leader_ends_with_the_present_group() -> None:
    state = present(CAPTURES / "plain" / "p1.log.gz").state
    assert state.names == ("p1",)
    assert state.episode.instance_ids == ("p1",)
    assert any("session.timeout.ms is unknown" in sentence for sentence in state.episode.assumptions)


def test_a_past_is_built_once_for_its_starts_and_its_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_recording(tmp_path / "past", "classic")
    calls: list[str] = []

    def counted(history: DecisionHistory, *terms: Any) -> dict[str, Any]:
        calls.append(history.group)
        return history_episode(history, *terms)

    monkeypatch.setattr(episodes, "history_episode", counted)
    read = read_group(str(tmp_path / "past"), None, config_sources(), *[None] * 6)
    options_with_starts(Options(), lambda: read.past, read.present().state.episode.timings, are_known=False)
    verification = read.sample.verified(read.verified_under)
    past_of_group(str(tmp_path / "past"), read, verification, 1, 0, Options())
    assert calls == ["classic"]


def test_a_group_in_a_rebalance_is_as_in_its_last_stable_state(tmp_path: Path) -> None:
    (stable,) = read_scenarios(str(CAPTURES / "plans" / "P1" / "capture.jsonl"))
    interrupted = {key: part for key, part in stable.document.items() if key != "observed"}
    states = tmp_path / "states.jsonl"
    states.write_bytes(canonical_line(stable.document) + canonical_line({**interrupted, "id": "interrupted"}))
    found = present(states)
    assert found.scenario.id == stable.id
    assert found.state.is_settled
    assert found.state.episode.assumptions[0].startswith("decision interrupted was interrupted by a further rebalance")
