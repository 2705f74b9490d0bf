"""Recordings of ``assignor record`` as decisions: the same readers as for brokers' answers."""

from __future__ import annotations

import json
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import attrs
import pytest

from assignment_api.plugins import config_sources
from assignment_api.streams import TaskId
from assignment_api.streams.client_state import UNTOLD_LAG
from assignor_lab.capture.errors import HistoryError
from assignor_lab.capture.histories.episodes import past_as_episodes
from assignor_lab.capture.histories.flight_recordings import recorded_decisions
from assignor_lab.capture.histories.held_back import meant_for
from assignor_lab.capture.histories.past_files import flight_recordings
from assignor_lab.capture.histories.recorded_generations import recorded_generations
from assignor_lab.capture.recorded.broker_answers import DescribedGroup, MemberAnswer
from assignor_lab.capture.recorded.group_records import _layout
from assignor_lab.capture.recorded.kept_records import read_kept_records
from assignor_lab.capture.recorded.member_evidence import members_of
from assignor_lab.capture.recorded.states import members_by_process
from assignor_lab.documents.errors import DocumentFormatError
from assignor_lab.groups.entries import kind_named
from assignor_lab.scenarios import Place, scenario_from_document
from tests.capture.coordinator_records import key, value
from tests.capture.histories.flight_folders import classic_folder, streams_folder, write_folder
from tests.capture.histories.pasts import decisions_of, properties_of
from tests.capture.recorded.groups import states


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("recordings")


def decided(folder: Path, application: str | None = None) -> list[dict[str, Any]]:
    layers = () if application is None else config_sources(properties_of(application), ()).above
    (file,) = flight_recordings(folder)
    documents = list(recorded_decisions(file, layers))
    for document in documents:
        scenario_from_document(document, Place("past"))
    return documents


@cache
def logged(application: str) -> dict[int, dict[str, Any]]:
    """Generation to its leader's log."""
    return {each.document["source"]["generation"]: dict(each.document) for each in decisions_of(application)}


@pytest.mark.slow
@pytest.mark.parametrize("application", ["tagged", "warm", "plain-ha", "orders-2", "plain"])
def test_what_was_decided_is_what_the_leaders_log_says(application: str, folders: Path) -> None:
    found = decided(classic_folder(folders / application, application), application)
    assert len(found) == len({each.seen.answer.generation for each in states(application)[0]})
    told = [each for each in found if "observed" in each]
    assert len(told) >= len(found) - 3
    for document in told:
        theirs = logged(application)[document["source"]["generation"]]
        assert document["observed"]["assignment"] == theirs["observed"]["assignment"]
        assert document["observed"]["followup"] in (None, theirs["observed"]["followup"])


def test_what_clients_had_is_what_the_leader_saw(folders: Path) -> None:
    keys = ("process_id", "tags", "host", "threads", "consumers", "previous_by_consumer")
    for document in decided(classic_folder(folders / "had", "tagged"), "tagged"):
        theirs = logged("tagged")[document["source"]["generation"]]
        for ours, logs in zip(document["clients"], theirs["clients"], strict=True):
            assert {name: ours[name] for name in keys} == {name: logs[name] for name in keys}


def test_tasks_that_were_held_back_are_those_of_who_got_them_next_and_unknown_before_a_hole(folders: Path) -> None:
    found = decided(classic_folder(folders / "orders", "orders-2"), "orders-2")
    numbers = [each["source"]["generation"] for each in found]
    unknown = [each["source"]["generation"] for each in found if "observed" not in each]
    assert unknown
    assert all(number + 1 not in numbers for number in unknown)


def test_a_generation_that_was_decided_anew_shows_no_process_of_held_back_tasks(folders: Path) -> None:
    (file,) = flight_recordings(classic_folder(folders / "joined", "orders-2"))
    generations = recorded_generations(read_kept_records(file, None), lambda _: None)
    answers = [each.answer for each in generations if each.answer is not None]
    sources = members_of(answers).sources
    all_tasks = frozenset().union(*map(_given, answers))
    shown_by_the_next = 0
    for answer, later in pairwise(answers):
        held = all_tasks - _given(answer)
        unaided = meant_for(answer, held, sources, None)
        newcomer = attrs.evolve(later.members[0], member_id="newcomer", assignment=None)
        joined = attrs.evolve(later, members=(*later.members, newcomer))
        assert meant_for(answer, held, sources, joined) == unaided
        assert meant_for(answer, held, sources, _with_a_task_moved(later, answer)) == unaided
        shown_by_the_next += meant_for(answer, held, sources, later) != unaided
    assert shown_by_the_next


def _with_a_task_moved(later: DescribedGroup, answer: DescribedGroup) -> DescribedGroup:
    """Another process runs a task that both generations assign."""
    task = min(_given(answer) & _given(later))
    processes = list(members_by_process(later).values())
    new_owner = next(members[0] for members in processes if not any(task in _active(each) for each in members))
    return attrs.evolve(
        later,
        members=tuple(
            _with_active(member, {*_active(member), task} if member is new_owner else {*_active(member)} - {task})
            for member in later.members
        ),
    )


def _active(member: MemberAnswer) -> tuple[TaskId, ...]:
    return () if member.assignment is None else tuple(member.assignment.info.active_tasks)


def _with_active(member: MemberAnswer, tasks: set[TaskId]) -> MemberAnswer:
    if member.assignment is None:
        return member
    info = attrs.evolve(member.assignment.info, active_tasks=sorted(tasks))
    return attrs.evolve(member, assignment=attrs.evolve(member.assignment, info=info))


def _given(answer: DescribedGroup) -> set[TaskId]:
    return {task for member in answer.members for task in _active(member)}


def test_without_samples_lags_are_what_members_reported_and_that_is_said(folders: Path) -> None:
    for document in decided(classic_folder(folders / "reported", "warm"), "warm"):
        assert any("has no samples" in sentence for sentence in document["assumptions"])
        for client in document["clients"]:
            for task, lag in client["lags"].items():
                assert lag >= 0 or task in client["previous_active"]


def test_samples_tell_the_lags_of_those_who_do_not_run_a_task(folders: Path) -> None:
    topics = {
        "tagged-classic-counts-changelog": 6,
        "tagged-classic-latest-changelog": 6,
        "tagged-classic-cities-changelog": 4,
        "orders-in": 6,
        "notes-in": 4,
        "tagged-classic-by-city-repartition": 4,
    }
    times = sorted(each["source"]["time_ms"] for each in logged("tagged").values())
    samples = [
        {
            "t": at,
            "ends": {topic: {str(number): at - times[0] for number in range(count)} for topic, count in topics.items()},
            "bytes": {},
        }
        for at in (times[0], times[-1])
    ]
    for document in decided(classic_folder(folders / "sampled", "tagged", samples), "tagged"):
        passed = document["source"]["time_ms"] - times[0]
        for client in document["clients"]:
            has = {*client["previous_active"], *client["previous_standby"]}
            for task, lag in client["lags"].items():
                if task not in has:
                    assert lag == pytest.approx(passed * (2 if task.startswith("0_") else 1), abs=2)


@pytest.mark.parametrize("capture", ["orders-group-1", "orders-group-3"])
def test_targets_of_a_streams_group_are_decisions(capture: str, folders: Path) -> None:
    found = decided(streams_folder(folders / capture, capture))
    epochs = [each["source"]["generation"] for each in found]
    assert epochs == sorted(set(epochs))
    for before, after in pairwise(found):
        had = {each["id"]: {kind: each[kind] for kind in ("active", "standby", "warmup")} for each in after["members"]}
        for name, target in before["observed"]["members"].items():
            assert had.get(name, target) == target
    assert {each["id"]: each["tasks"] for each in found[-1]["subtopologies"]} == {"0": 6, "1": 4, "2": 4}


@pytest.mark.slow
def test_a_streams_groups_past_is_an_episode_with_its_instances_by_their_names(folders: Path) -> None:
    (episode,) = past_as_episodes([str(streams_folder(folders / "episode", "orders-group-3"))])
    events = [(each["type"], each["client"]) for each in episode.document["events"]]
    assert episode.document["protocol"] == "streams"
    assert [who for kind, who in events if kind == "start"][:4] == ["i1", "i3", "i2", "i4"]
    assert ("stop", "i2") in events


def test_a_folder_of_many_groups_stands_for_the_recordings_in_it(tmp_path: Path) -> None:
    (tmp_path / "recording.jsonl").write_text('{"format": 1, "kind": "recording"}\n')
    for name in ("warm", "plain"):
        classic_folder(tmp_path / name, name)
    assert [file.parent.name for file in flight_recordings(tmp_path)] == ["plain", "warm"]


def test_a_line_that_a_kill_has_cut_off_is_passed_over(folders: Path) -> None:
    folder = classic_folder(folders / "cut", "warm")
    whole = (folder / "records.jsonl").read_text()
    (folder / "records.jsonl").write_text(whole + '{"offset": 99, "t": 1, "key_')
    assert len(decided(folder, "warm")) == 6


def test_a_garbled_line_is_named_with_its_place(folders: Path) -> None:
    folder = classic_folder(folders / "garbled", "warm")
    lines = (folder / "records.jsonl").read_text().splitlines()
    lines[2] = lines[2].replace('"key_hex"', '"kee_hex"')
    (folder / "records.jsonl").write_text("\n".join(lines) + "\n")
    with pytest.raises(DocumentFormatError, match=r"records\.jsonl, line 3"):
        decided(folder)


def test_a_record_that_cannot_be_read_is_told_and_the_rest_is_read(folders: Path) -> None:
    folder = classic_folder(folders / "unreadable", "warm")
    lines = (folder / "records.jsonl").read_text().splitlines()
    lines[2] = lines[2].replace('"value_hex": "0003', '"value_hex": "0063')
    (folder / "records.jsonl").write_text("\n".join(lines) + "\n")
    told: list[str] = []
    assert len(list(recorded_decisions(folder / "records.jsonl", on_problem=told.append))) == 5
    assert len(told) == 1
    assert "line 3: record 1 is left out" in told[0]
    assert "version 99" in told[0]


def test_a_recording_without_a_decision_says_what_to_do(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "empty", "g", [(1, key(17, "g"), None)])
    with pytest.raises(HistoryError, match="none of 1 record of group 'g' is a decision"):
        decided(folder)


@pytest.mark.parametrize("name", ["history.jsonl", "folder"])
def test_half_a_recording_is_refused_with_what_is_missing(name: str, tmp_path: Path) -> None:
    history = tmp_path / "history.jsonl"
    history.write_text('{"generation": 1, "joined": [], "left": []}\n')
    with pytest.raises(HistoryError, match="name its folder" if name != "folder" else r"records\.jsonl is missing"):
        flight_recordings(tmp_path if name == "folder" else history)


def test_a_file_of_something_else_is_no_recording(tmp_path: Path) -> None:
    other = tmp_path / "scenarios.jsonl"
    other.write_text('{"format": 1, "kind": "streams"}\n')
    assert flight_recordings(other) == []
    assert flight_recordings(tmp_path) == []
    assert flight_recordings(tmp_path / "nothing") == []


def test_the_groups_configuration_is_that_of_its_records(tmp_path: Path) -> None:
    plain = decided(streams_folder(tmp_path / "plain", "orders-group-3"))
    assert {each["config"]["num.standby.replicas"] for each in plain} == {1}
    assert all(any("is in no record" in sentence for sentence in each["assumptions"]) for each in plain)
    layout = _layout("StreamsGroupMetadataValue")
    entry = layout.LastAssignmentConfig(key="num.standby.replicas", value="2")
    config = value("StreamsGroupMetadataValue", 0, epoch=2, metadata_hash=0, last_assignment_configs=[entry])
    lines = (tmp_path / "plain" / "records.jsonl").read_text().splitlines()
    told = {"offset": 10_000, "t": 1, "key_hex": key(17, "orders-group").hex(), "value_hex": config.hex()}
    lines = [lines[0], json.dumps({**told, "offset": 0}), *(_later(line) for line in lines[1:])]
    (tmp_path / "plain" / "records.jsonl").write_text("\n".join(lines) + "\n")
    own = decided(tmp_path / "plain")
    assert {each["config"]["num.standby.replicas"] for each in own} == {2}
    assert not any("is in no record" in sentence for each in own for sentence in each["assumptions"])


def _later(line: str) -> str:
    told = json.loads(line)
    return json.dumps({**told, "offset": told["offset"] + 1} if "offset" in told else told)


def test_lags_that_nobody_tells_are_unknown_in_every_view_and_no_number(folders: Path) -> None:
    folder = classic_folder(folders / "unknown", "plain")
    (file,) = flight_recordings(folder)
    unknown = 0
    kind = kind_named("streams")
    for document in recorded_decisions(file, config_sources(properties_of("plain"), ()).above):
        document["config"]["rack.aware.assignment.strategy"] = "none"
        scenario = scenario_from_document(document, Place("past"))
        untold = {
            (task, place)
            for place, client in enumerate(document["clients"])
            for task, lag in client["lags"].items()
            if lag >= UNTOLD_LAG
        }
        if not untold:
            continue
        unknown += 1
        state = kind.state(scenario, 0, {})
        task = min(untold)[0]
        assert kind.changes is not None
        told = kind.changes.facts(state, task)
        assert "lag unknown" in told[document["clients"][dict(untold)[task]]["process_id"]]
        knobs = list(kind.changes.knobs(scenario, 0, state, task, str))
        words = [knob.at(value).words for knob in knobs if knob.what == "lag" for value in knob.values]
        assert not any(f"{UNTOLD_LAG:,}"[:12] in each for each in (*words, *told.values()))
    assert unknown


def test_the_episode_of_a_recording_without_samples_invents_no_state(folders: Path) -> None:
    (episode,) = past_as_episodes([str(classic_folder(folders / "sizes", "plain"))])
    ends = [each["records"] + each["backlog_records"] for each in episode.document["changelogs"].values()]
    assert max(ends, default=0) < 500_000


def records_of(folder: Path, application: str) -> tuple[str, list[tuple[int, bytes, bytes | None]]]:
    head, *lines = [
        json.loads(line) for line in (classic_folder(folder, application) / "records.jsonl").read_text().splitlines()
    ]
    kept = [line for line in lines if "key_hex" in line]
    return head["group"], [
        (each["t"], bytes.fromhex(each["key_hex"]), bytes.fromhex(each["value_hex"])) for each in kept
    ]


def test_a_group_that_is_deleted_and_made_anew_keeps_both_lives(folders: Path) -> None:
    group, records = records_of(folders / "lives", "warm")
    (time_ms, name, first), *_ = records
    lives = [(time_ms, name, first), (time_ms, name, None), (time_ms, name, first)]
    folder = write_folder(folders / "anew", group, lives)
    assert [each["source"]["generation"] for each in decided(folder, "warm")] == [1, 1]
    folder = write_folder(folders / "again", group, [(time_ms, name, first), (time_ms, name, first)])
    assert [each["source"]["generation"] for each in decided(folder, "warm")] == [1]


def test_where_the_coordinators_clock_goes_back_the_order_and_what_lies_between_stay(folders: Path) -> None:
    before = [each["source"]["time_ms"] for each in decided(classic_folder(folders / "steady", "warm"), "warm")]
    behind = classic_folder(
        folders / "back", "warm", clock=lambda generation, time_ms: time_ms - 3_600_000 * (generation > 3)
    )
    told: list[str] = []
    (file,) = flight_recordings(behind)
    found = [each["source"] for each in recorded_decisions(file, on_problem=told.append)]
    times = [each["time_ms"] for each in found]
    assert [each["generation"] for each in found] == [1, 2, 3, 4, 5, 6]
    assert times[:4] == [*before[:3], before[2]]
    assert [after - at for at, after in pairwise(times[3:])] == [after - at for at, after in pairwise(before[3:])]
    assert any("the coordinator's clock has gone back by 3," in each for each in told)
