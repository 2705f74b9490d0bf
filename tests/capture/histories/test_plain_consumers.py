"""Recorded plain consumer groups: each decision comes out again, and its past is a history."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from assignor_lab.capture.errors import HistoryError
from assignor_lab.capture.histories.group_histories import group_histories
from assignor_lab.capture.histories.past import read_past
from assignor_lab.capture.live.group_recording import GroupRecording
from assignor_lab.capture.recorded.kept_records import read_kept_records
from assignor_lab.cli.app import build_app
from assignor_lab.cli.main import main
from assignor_lab.model.events import (
    GroupDeleted,
    GroupEmptied,
    GroupRefilled,
    InstanceGone,
    InstanceRestartedInSession,
    ProtocolChanged,
)
from assignor_lab.model.history import PARTITIONS, GroupHistory
from assignor_lab.scenarios.anonymous import Pseudonyms
from assignor_lab.scoring.sources.timelines import SourceTimeline
from assignor_lab.web.past import pasts_of
from tests.capture.plain_consumers import OWN_RULES, recorded_groups, write_consumers


def shown(*arguments: str) -> Any:
    found = CliRunner().invoke(build_app(list(arguments)), list(arguments), catch_exceptions=False)
    assert found.exit_code == 0, found.output
    return json.loads(found.stdout)


def history(folder: Path, group: str) -> GroupHistory:
    past = read_past([str(write_consumers(folder, group))])
    (found,) = group_histories(past.scenarios, past.events)
    return found


@pytest.mark.parametrize("group", recorded_groups())
def test_each_recorded_decision_comes_out_again(group: str, tmp_path: Path) -> None:
    words = ("--check", "--json", *OWN_RULES.get(group, ()))
    found = shown("history", str(write_consumers(tmp_path, group)), *words)
    assert found["checked"]["differences"] == []
    assert found["checked"]["decisions"] >= 5


def test_sticky_is_another_rule_where_kafka_python_leads(tmp_path: Path) -> None:
    words = ["history", str(write_consumers(tmp_path, "kafka-python-sticky")), "--check", "--json"]
    found = CliRunner().invoke(build_app(words), words)
    assert found.exit_code == 1
    assert len(json.loads(found.stdout)["checked"]["differences"]) == 12


def test_a_roll_a_kill_a_late_poll_and_a_grown_topic_are_decisions_of_one_history(tmp_path: Path) -> None:
    found = history(tmp_path, "range")
    assert found.moves == PARTITIONS
    assert found.protocols == ("classic",)
    assert {each.name for each in found.instances} == {"range-c1", "range-c2", "range-c3"}
    sizes = [len(each.tasks or ()) for each in found.decisions]
    assert (sizes[0], sizes[-1]) == (18, 22)
    assert any(isinstance(each, GroupEmptied) for each in found.events) or found.decisions[-1].members == 1


def test_a_static_member_that_restarts_in_its_session_is_an_event_and_no_decision(tmp_path: Path) -> None:
    found = history(tmp_path, "static")
    restarts = [each.instance for each in found.events if isinstance(each, InstanceRestartedInSession)]
    assert restarts[:1] == ["static-c2"]
    assert len(found.decisions) < len(history(tmp_path / "range", "range").decisions)


def test_a_cooperative_decision_waits_for_the_release_of_moving_partitions(tmp_path: Path) -> None:
    found = history(tmp_path, "cooperative")
    waiting = [each for each in found.decisions if each.hands_over]
    assert waiting
    assert all("taken away first" in each.notes[0] for each in waiting)


def test_a_static_member_of_a_consumer_group_restarts_without_a_decision(tmp_path: Path) -> None:
    found = history(tmp_path, "uniform-static")
    assert found.protocols == ("consumer",)
    restarts = [each.instance for each in found.events if isinstance(each, InstanceRestartedInSession)]
    assert restarts[:2] == ["uniform-static-c1", "uniform-static-c2"]
    (left,) = [each for each in found.decisions if each.members == 2 and each.number == 5]
    assert "uniform-static-c3" not in left.shares


def test_a_move_to_the_consumer_protocol_and_back_is_one_history(tmp_path: Path) -> None:
    found = history(tmp_path, "moved")
    assert found.protocols == ("classic", "consumer")
    moves = [(each.before, each.after) for each in found.events if isinstance(each, ProtocolChanged)]
    assert moves == [("classic", "consumer"), ("consumer", "classic")]
    assert not any(isinstance(each, GroupEmptied | GroupDeleted | GroupRefilled) for each in found.events)


def test_departures_of_a_consumer_group_have_their_own_time(tmp_path: Path) -> None:
    found = history(tmp_path, "uniform")
    gone = [each for each in found.events if isinstance(each, InstanceGone)]
    assert [each.instance for each in gone[:3]] == ["uniform-c1", "uniform-c2", "uniform-c3"]
    assert all(each.at.earliest_ms == each.at.latest_ms for each in gone)


def test_names_of_topics_that_no_file_has_are_requested(tmp_path: Path) -> None:
    folder = write_consumers(tmp_path, "uniform")
    (folder / "brokers.json").unlink()
    with pytest.raises(HistoryError, match=r"names of 2 ids .* are in no file: record from brokers"):
        read_past([str(folder)])


def test_a_recording_that_begins_later_than_its_group_has_no_first_decision(tmp_path: Path) -> None:
    folder = write_consumers(tmp_path, "uniform")
    head, *lines = (folder / "records.jsonl").read_text().splitlines()
    # As the cleaner of a compacted topic leaves it: the latest record of each key.
    latest = {json.loads(line).get("key_hex"): line for line in lines[:40]}
    (folder / "records.jsonl").write_text("".join(f"{line}\n" for line in [head, *latest.values(), *lines[40:]]))
    scenarios = read_past([str(folder)]).scenarios
    assert [each.observed is None for each in scenarios[:3]] == [True, False, False]
    assert "the previous targets are in no record" in scenarios[0].assumptions[0]


def test_a_recording_is_replayed_decision_by_decision_under_another_leader(tmp_path: Path) -> None:
    found = shown("replay", str(write_consumers(tmp_path, "static")), "--client", "kafka-python", "--json")
    recorded, library = found["decided"]
    assert (recorded["name"], recorded["as_recorded"], recorded["decisions"]) == ("kafka", None, 5)
    assert (library["name"], library["as_recorded"]) == ("kafka_python_range", 5)


def test_a_library_leads_a_replay_with_the_recorded_strategy(tmp_path: Path) -> None:
    found = shown("replay", str(write_consumers(tmp_path, "kafka-python-sticky")), "--client", "kafka-python", "--json")
    assert found["decided"][1]["name"] == "kafka_python_sticky"


def test_a_replay_of_eager_members_counts_their_stops(tmp_path: Path) -> None:
    words = ("--assignor", "range", "--assignor", "cooperative-sticky", "--json")
    found = shown("replay", str(write_consumers(tmp_path, "range")), *words)
    stops = [each["figures"]["Partitions that stop"] for each in found["decided"]]
    assert stops[0] == stops[1] > 3 * stops[2] > 0


def test_a_replay_under_another_strategy_counts_equal_decisions_and_stops(tmp_path: Path) -> None:
    found = shown("replay", str(write_consumers(tmp_path, "uniform")), "--assignor", "range", "--json")
    recorded, other = found["decided"]
    assert other["name"] == "consumer_group_range"
    assert other["as_recorded"] < recorded["decisions"]
    assert other["figures"]["Partitions that stop"] > recorded["figures"]["Partitions that stop"]


@pytest.mark.parametrize(
    ("options", "remedy"),
    [
        ((), "name a contender"),
        (("--assignor", "unknown-strategy"), "unknown-strategy"),
        (("--client", "kafka-python", "--assignor", "uniform"), "no strategy 'uniform'"),
    ],
)
def test_a_replay_without_a_known_strategy_names_the_remedy(
    options: tuple[str, ...], remedy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["replay", str(write_consumers(tmp_path, "uniform")), *options])
    assert remedy in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("group", ["sticky", "uniform", "share"])
def test_a_recording_with_pseudonyms_decides_alike_and_has_no_names(group: str, tmp_path: Path) -> None:
    """Uniform and simple depend on the hash of member ids: their pseudonyms can decide otherwise."""
    folder, names = write_consumers(tmp_path, group), Pseudonyms(b"k" * 32)
    kept = read_kept_records(folder / "records.jsonl")
    made = GroupRecording(tmp_path / "out", names.group(group), 0, names)
    made.original = group
    made.create()
    for each in kept.records:
        made.take(each.record)
    made.settle(10**9)
    assert made.left_out == []
    written = (tmp_path / "out" / "records.jsonl").read_text()
    for name in (f"{group}-c1", "orders", "payments"):
        assert name.encode().hex() not in written
    if (folder / "brokers.json").is_file():
        ids = json.loads((folder / "brokers.json").read_text())["topic_ids"]
        brokers = {"format": 1, "kind": "brokers", "streams_group_describe": 1,
                   "topic_ids": {names.topic(name, group): topic_id for name, topic_id in ids.items()}}  # fmt: skip
        (tmp_path / "out" / "brokers.json").write_text(json.dumps(brokers))
    scenarios = read_past([str(tmp_path / "out")]).scenarios
    assert len(scenarios) == len(read_past([str(folder)]).scenarios)


@pytest.mark.parametrize("group", ["moved", "share", "cooperative"])
def test_the_page_and_the_report_show_the_past_of_a_group(group: str, tmp_path: Path) -> None:
    past = read_past([str(write_consumers(tmp_path, group))])
    reported = SourceTimeline()
    for scenario in past.scenarios:
        reported.add(scenario)
    (timeline,) = reported.timelines(past.events)
    (shown,) = pasts_of(past.scenarios, past.events)
    assert (timeline.moves, shown.moves) == (PARTITIONS, PARTITIONS)
    assert len(timeline.decisions) == len(shown.decisions) == len(past.scenarios)
    assert timeline.given is not None
    assert [row.task for row in timeline.given.rows][:2] == ["orders-0", "orders-1"]
