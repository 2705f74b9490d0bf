"""Recorded pasts in ``score``: played as histories, or decision by decision, with a statement of the way."""

from __future__ import annotations

import gzip
import json
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest

from assignment_api.plugins import config_sources, discover
from assignor_lab.capture.errors import HistoryError
from assignor_lab.capture.histories.episodes import past_as_episodes
from assignor_lab.capture.histories.past import PastSurroundings
from assignor_lab.capture.histories.past_terms import AUTO, DECISIONS, PLAYED, PastTerms
from assignor_lab.documents.errors import Place
from assignor_lab.groups.streams_episode.replaying import replay
from assignor_lab.groups.variants import parse_variant, variants_of
from assignor_lab.report.words import opening, reading
from assignor_lab.scenarios import read_scenarios, scenario_from_document, write_lines
from assignor_lab.scoring import Generated
from assignor_lab.scoring.output.summary_file import summary_of
from assignor_lab.scoring.provenance.manifest import read_manifest
from assignor_lab.scoring.sources.parts import SourceInput
from assignor_lab.scoring.sources.plan import ScoringPlan
from assignor_lab.scoring.sources.reading import plan_sources
from assignor_lab.simulation.streams.formats.episodes import read_episode
from tests.capture.captured_logs import CAPTURES
from tests.capture.histories.flight_folders import classic_folder, streams_folder, write_folder
from tests.capture.histories.pasts import decisions_of, properties_of
from tests.scoring.in_process import scored
from tests.scoring.runs import results_of
from tests.simulation.streams.episodes import document, started

REGISTRY = discover()
LOGS = sorted((CAPTURES / "warm").glob("*.log.gz"))
TIMINGS = {"heartbeat_interval_ms": 3_000, "session_timeout_ms": 10_000}


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return classic_folder(tmp_path_factory.mktemp("pasts") / "warm", "warm")


def plan_of(*sources: SourceInput, way: str = AUTO, notes: list[str] | None = None, **terms: Any) -> ScoringPlan:
    layers = config_sources(properties_of("warm"), environ={}, start=Path("/")).above
    told = PastTerms(way, TIMINGS, **terms)
    return plan_sources(sources, REGISTRY, layers, (notes if notes is not None else []).append, past=told)


def seen(*sources: SourceInput, **asked: Any) -> ScoringPlan:
    with plan_of(*sources, **asked) as plan:
        return plan


def documents_of(plan: ScoringPlan) -> list[dict[str, Any]]:
    with plan:
        return [json.loads(item.document or "") for item in plan.work()]


def test_a_recording_is_played_unless_somebody_asks_for_its_decisions(warm: Path) -> None:
    plan = seen(warm)
    (source,) = plan.sources
    assert (plan.kind.name, plan.past.way, source.items, source.decisions) == ("streams-episode", PLAYED, 1, 6)
    assert [each.generation for each in source.timelines[0].decisions] == list(range(1, 7))
    alone = seen(warm, way=DECISIONS)
    assert (alone.kind.name, alone.items, alone.sources[0].decisions) == ("streams", 6, 0)
    assert alone.digest != plan.digest


def test_what_is_played_is_what_simulate_makes_of_it(warm: Path) -> None:
    layers = config_sources(properties_of("warm"), environ={}, start=Path("/")).above
    plan = plan_of(*LOGS, way=PLAYED)
    (theirs,) = past_as_episodes([str(log) for log in LOGS], TIMINGS, around=PastSurroundings(layers))
    assert without_plays(plan) == [theirs.document]
    (past,) = past_as_episodes([str(warm)], TIMINGS, around=PastSurroundings(layers))
    assert without_plays(plan_of(warm)) == [past.document]


def without_plays(plan: ScoringPlan) -> list[dict[str, Any]]:
    return [{key: value for key, value in each.items() if key != "plays"} for each in documents_of(plan)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "warm.jsonl.gz"
    write_lines(str(file), [dict(each.document) for each in decisions_of("warm")])
    return file


def test_logs_and_files_of_decisions_are_played_too(file: Path) -> None:
    for sources in (LOGS, [file]):
        plan = seen(*sources)
        assert (plan.kind.name, plan.past.way, plan.sources[0].decisions) == ("streams-episode", PLAYED, 6)
        assert seen(*sources, way=DECISIONS).kind.name == "streams"


def test_the_standard_input_is_a_past_too(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for content, kind in ((file.read_bytes(), "streams-episode"), (first_state(file), "streams")):
        monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(content)))
        assert seen("-").kind.name == kind


def first_state(file: Path) -> bytes:
    (state, *_) = gzip.decompress(file.read_bytes()).splitlines()
    return state + b"\n"


def test_a_state_in_a_file_is_scored_without_a_word(file: Path, tmp_path: Path) -> None:
    state = tmp_path / "state.jsonl"
    state.write_bytes(first_state(file))
    notes: list[str] = []
    plan = seen(state, notes=notes)
    assert (plan.kind.name, notes) == ("streams", [])


def test_a_past_begins_with_its_first_complete_decision_and_gaps_are_named(file: Path, tmp_path: Path) -> None:
    decisions = [json.loads(line) for line in gzip.decompress(file.read_bytes()).splitlines()]
    del decisions[0]["observed"], decisions[3]
    other = {**decisions[1], "source": {**decisions[1]["source"], "group": "another"}}
    part = tmp_path / "part.jsonl"
    write_lines(str(part), [*decisions, other])
    notes: list[str] = []
    plan = plan_of(part, notes=notes)
    (episode,) = documents_of(plan)
    assert notes == [
        "not played: 1 recorded state without Kafka's decision or its time",
        "not played: group 'another' has a single decision in the source",
    ]
    assert [each["generation"] for each in episode["recorded"]["generations"]] == [2, 3, 5, 6]
    assert episode["assumptions"][0].startswith("1 generation between the recorded ones is not in the source (4):")


def test_a_past_with_a_decision_twice_is_scored_decision_by_decision(file: Path, tmp_path: Path) -> None:
    decisions = [json.loads(line) for line in gzip.decompress(file.read_bytes()).splitlines()]
    twice = tmp_path / "twice.jsonl"
    write_lines(str(twice), [*decisions, decisions[0]])
    notes: list[str] = []
    assert seen(twice, notes=notes).kind.name == "streams"
    assert len([note for note in notes if note.startswith("each decision is scored by itself: ")]) == 1


@pytest.mark.slow
def test_groups_of_both_protocols_are_one_run_of_histories(warm: Path, tmp_path: Path) -> None:
    plan = plan_of(warm, streams_folder(tmp_path / "new", "orders-group-3"))
    assert [each["protocol"] for each in documents_of(plan)] == ["classic", "streams"]


def test_one_decision_is_no_history_and_is_scored_alone(tmp_path: Path, warm: Path) -> None:
    lines = [json.loads(line) for line in (warm / "records.jsonl").read_text().splitlines()]
    first = lines[1]
    folder = write_folder(
        tmp_path / "short", lines[0]["group"],
        [(first["t"], bytes.fromhex(first["key_hex"]), bytes.fromhex(first["value_hex"]))],
    )  # fmt: skip
    notes: list[str] = []
    plan = seen(folder, notes=notes)
    assert (plan.kind.name, plan.past.way, plan.items) == ("streams", DECISIONS, 1)
    assert [note for note in notes if note.startswith("each decision is scored by itself: ")]
    with pytest.raises(HistoryError, match="alone is a state and no history"):
        plan_of(folder, way=PLAYED)


def test_beside_generated_histories_decisions_stay_decisions(warm: Path) -> None:
    assert seen(warm, Generated("streams_4x40", 1)).kind.name == "streams"


def test_workload_and_timeouts_are_those_that_are_told(warm: Path, tmp_path: Path) -> None:
    weights = tmp_path / "weights.json"
    weights.write_text(json.dumps({"tasks": {"0_0": {"state_bytes": 12345}}}))
    (episode,) = documents_of(plan_of(warm, workload=str(weights)))
    assert episode["initial"]["workload"]["tasks"]["0_0"]["state_bytes"] == 12345
    assert episode["timings"] == {**TIMINGS, "max_poll_interval_ms": 300_000}
    decisions = documents_of(plan_of(warm, way=DECISIONS, workload=str(weights)))
    assert {each["workload"]["tasks"]["0_0"]["state_bytes"] for each in decisions} == {12345}


@pytest.mark.slow
def test_each_contender_goes_on_from_its_own_answers_as_in_replay(warm: Path, tmp_path: Path) -> None:
    variant = "none=high_availability,num.standby.replicas=0"
    names = ["high_availability", "sticky", variant]
    weights = tmp_path / "weights.json"
    tasks = [*(f"0_{number}" for number in range(6)), *(f"1_{number}" for number in range(4))]
    weights.write_text(json.dumps({"tasks": {task: {"state_bytes": 500_000} for task in tasks}}))
    past = PastTerms(AUTO, TIMINGS, workload=str(weights))
    summary = scored([warm], names, tmp_path / "out", config=properties_of("warm"), past=past)
    config = config_sources(properties_of("warm"), environ={}, start=tmp_path)
    (episode,) = documents_of(plan_of(warm, workload=str(weights)))
    world = read_episode(scenario_from_document(episode, Place("past")))
    contenders = [*variants_of(["high_availability", "sticky"], ()), parse_variant(variant)]
    figures = {each.contender.name: each.figures or {} for each in replay(world, REGISTRY, config, contenders)}
    rows = {row["assignor"]: row for row in results_of(tmp_path / "out").to_pylist()}
    assert set(rows) == {"high_availability", "sticky", "none"}
    for name, row in rows.items():
        assert row["unavailable_task_seconds"] == figures[name]["unavailable_task_seconds"]
        assert row["restored_bytes"] == figures[name]["restored_bytes"]
    results = summary["results"]
    assert (results["histories"], results["played"], results["sources"][0]["decisions"]) == ("played", True, 6)
    assert results["headline"]["alone"] == 0
    shown = summary_of(summary).results
    assert opening(shown) == "1 history from 1 recording was put to 3 assignors."
    assert "Played as a history: the events behind 6 recorded decisions" in reading(shown)[0]


@pytest.mark.slow
def test_what_a_recording_without_samples_does_not_tell_is_no_figure(warm: Path, tmp_path: Path) -> None:
    summary = scored([warm], ["sticky"], tmp_path / "played", past=PastTerms(AUTO, TIMINGS))
    (row,) = results_of(tmp_path / "played").to_pylist()
    assert row["restored_bytes"] is None
    assert row["restored_bytes_before_processing"] is None
    assert row["unavailable_task_seconds"] is None
    assert row["unavailable_without_restoring_task_seconds"] > 0
    told = [each["text"] for each in summary["results"]["assumptions"]]
    assert any(text.startswith("nothing is known of the state of 10 tasks") for text in told)
    assert any("the recording has no samples of its topics" in text for text in told)
    scored([warm], ["sticky"], tmp_path / "alone", past=PastTerms(DECISIONS))
    figures = [row["offsets_to_restore"] for row in results_of(tmp_path / "alone").to_pylist()]
    assert None in figures
    assert max(each for each in figures if each is not None) < 100_000


@pytest.mark.slow
def test_a_run_of_decisions_says_so_and_how_to_play_them(warm: Path, tmp_path: Path) -> None:
    summary = scored([warm], ["sticky"], tmp_path / "out", past=PastTerms(DECISIONS))
    assert (summary["results"]["histories"], summary["results"]["played"]) == ("decisions", False)
    (sentence,) = reading(summary_of(summary).results)
    assert sentence.startswith("Each decision alone:")
    assert "score --mode played" in sentence


def test_scenarios_in_memory_are_a_past_as_those_of_a_file(file: Path) -> None:
    documents = [json.loads(line) for line in gzip.decompress(file.read_bytes()).splitlines()]
    from_file = seen(file)
    for held in (documents, list(read_scenarios(str(file)))):
        plan = seen(*held)
        assert (plan.kind.name, plan.past.way, plan.items) == ("streams-episode", PLAYED, 1)
        assert plan.sources[0].decisions == from_file.sources[0].decisions
    assert seen(*documents, way=DECISIONS).items == len(documents)
    assert seen(documents[0]).kind.name == "streams"
    assert seen(*documents, Generated("streams_4x40", 1)).kind.name == "streams"


@pytest.mark.slow
def test_the_manifest_tells_how_pasts_were_read(warm: Path, tmp_path: Path) -> None:
    scored([warm], ["sticky"], tmp_path / "out", past=PastTerms(AUTO, TIMINGS))
    assert read_manifest(tmp_path / "out" / "manifest.json").past == PastTerms(PLAYED, TIMINGS)


@pytest.mark.slow
def test_state_of_unknown_size_has_no_figure_and_no_part_in_the_verdict(tmp_path: Path) -> None:
    file = tmp_path / "unknown.jsonl"
    write_lines(str(file), [document([started("a"), started("b", 60_000)], changelogs={})])
    summary = scored([str(file)], ["high_availability", "sticky"], tmp_path / "out")
    figures = {each["figure"]: each for each in summary["results"]["headline"]["figures"]}
    for name, why in (
        ("restored", "bytes of the state are unknown"),
        ("cross_zone", "bytes of the state, are unknown"),
    ):
        assert figures[name]["of"] == []
        assert why in figures[name]["not_measured"]
    measured = {each["metric"] for each in summary["results"]["aggregates"] if each["mean"] is not None}
    assert "unavailable_without_restoring_task_seconds" in measured
    assert figures["unavailable"]["title"] == "Task-seconds unavailable, restoring left out"
    unknown = {"restored_bytes", "restored_bytes_before_processing", "restoring_task_seconds"}
    assert not measured & {*unknown, "unavailable_task_seconds", "worst_task_unavailable_seconds"}
