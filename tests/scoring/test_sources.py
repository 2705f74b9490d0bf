from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from assignment_api import AssignorLabError
from assignment_api.plugins import UnknownPluginError, config_sources, discover
from assignor_lab.capture.errors import LogImportError
from assignor_lab.documents.errors import Place
from assignor_lab.scenarios import DocumentFormatError, ScenarioKindError, scenario_from_document
from assignor_lab.scenarios.racks import Racks
from assignor_lab.scoring import Generated
from assignor_lab.scoring.sources.parts import EmptySourceError, SourceInput
from assignor_lab.scoring.sources.plan import NoSuchStateError, ScoringPlan
from assignor_lab.scoring.sources.reading import family_names, generated, plan_sources
from tests.capture.histories.flight_folders import classic_folder, streams_folder
from tests.scenarios.documents import streams_document
from tests.scenarios.test_reading import EPISODE

REGISTRY = discover()
LOGS = Path(__file__).parents[1] / "data" / "captures" / "tagged"


def file_of(path: Path, *documents: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(document) + "\n" for document in documents), encoding="utf-8")
    return path


def named(name: str) -> dict[str, Any]:
    return {**streams_document(), "id": name}


def test_items_are_numbered_over_all_sources_in_order(tmp_path: Path) -> None:
    first = file_of(tmp_path / "b.jsonl", named("b1"), named("b2"))
    second = file_of(tmp_path / "a.jsonl", named("a1"))
    with plan_sources([first, Generated("streams_4x40", 2, 9), second], REGISTRY) as plan:
        work = list(plan.work())
    assert [(source.name, source.kind, source.items) for source in plan.sources] == [
        (str(first), "scenarios", 2),
        ("streams_4x40", "family", 2),
        (str(second), "scenarios", 1),
    ]
    assert [item.number for item in work] == [0, 1, 2, 3, 4]
    assert [item.source for item in work] == [0, 0, 1, 1, 2]
    assert [item.seed for item in work] == [None, None, 9, 10, None]
    assert [json.loads(item.document)["id"] for item in work if item.document] == ["b1", "b2", "a1"]
    assert [item.line for item in work] == [1, 2, None, None, 1]


def test_single_items_can_be_asked_for(tmp_path: Path) -> None:
    source = file_of(tmp_path / "a.jsonl", named("a1"), named("a2"), named("a3"))
    with plan_sources([source, Generated("streams_4x40", 3)], REGISTRY) as plan:
        assert [item.number for item in plan.work(frozenset({2, 4}))] == [2, 4]
        assert [item.number for item in plan.work()] == list(range(6))


def test_a_folder_stands_for_its_files_by_name(tmp_path: Path) -> None:
    file_of(tmp_path / "b.jsonl", named("b"))
    file_of(tmp_path / "a.jsonl", named("a"))
    with plan_sources([tmp_path], REGISTRY) as plan:
        assert [json.loads(item.document or "")["id"] for item in plan.work()] == ["a", "b"]


def test_scenarios_in_memory_are_sources() -> None:
    made = scenario_from_document(named("made"), Place("somewhere", 3))
    with plan_sources([made, named("plain")], REGISTRY) as plan:
        assert [(item.file, item.line) for item in plan.work()] == [("somewhere", 3), ("(in memory)", None)]


def test_logs_are_read_together_and_hold_what_kafka_decided() -> None:
    with plan_sources(sorted(LOGS.glob("*.log.gz")), REGISTRY) as plan:
        documents = [json.loads(item.document or "") for item in plan.work()]
    assert [source.kind for source in plan.sources] == ["log"]
    assert len(documents) == 24
    assert all(document["observed"] for document in documents)


def test_a_scenario_file_is_known_by_its_first_line_whatever_its_name(tmp_path: Path) -> None:
    source = tmp_path / "states.txt.gz"
    source.write_bytes(gzip.compress(json.dumps(named("zipped")).encode()))
    with plan_sources([source], REGISTRY) as plan:
        assert [source.kind for source in plan.sources] == ["scenarios"]


def test_a_fault_in_the_last_line_is_found_at_once(tmp_path: Path) -> None:
    source = file_of(tmp_path / "a.jsonl", named("good"), {**named("bad"), "surprise": 1})
    with pytest.raises(DocumentFormatError, match="line 2"):
        plan_sources([source], REGISTRY)


def test_episodes_of_streams_groups_are_a_source(tmp_path: Path) -> None:
    source = file_of(tmp_path / "a.jsonl", EPISODE)
    with plan_sources([source], REGISTRY) as plan:
        assert plan.kind.name == "streams-episode"


def test_groups_that_brokers_assign_are_a_source() -> None:
    group = Path(__file__).parents[1] / "data" / "scenarios" / "streams-group-sticky.scenarios.jsonl.gz"
    with plan_sources([group], REGISTRY) as plan:
        assert plan.kind.name == "streams-group"


@pytest.mark.parametrize(
    ("sources", "error", "message"),
    [
        ([], EmptySourceError, "nothing to score"),
        (["no-such-file.jsonl"], DocumentFormatError, "no-such-file.jsonl"),
        (["no-such.log"], AssignorLabError, "no-such.log"),
        ([Generated("streams_4x41", 3)], UnknownPluginError, "did you mean"),
        ([Generated("streams_4x40", 0)], EmptySourceError, "from 1"),
    ],
)
def test_what_cannot_be_a_source_is_refused(
    sources: list[SourceInput], error: type[AssignorLabError], message: str
) -> None:
    with pytest.raises(error, match=message):
        plan_sources(sources, REGISTRY)


def test_a_file_without_scenarios_a_folder_without_files_and_a_log_without_decisions(tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    folder = tmp_path / "folder"
    folder.mkdir()
    log = tmp_path / "app.log"
    log.write_text("2026-01-01 INFO nothing here\n")
    for source, error in ((empty, EmptySourceError), (folder, EmptySourceError), (log, LogImportError)):
        with pytest.raises(error, match=source.name):
            plan_sources([source], REGISTRY)


def test_histories_are_shared_out_among_families() -> None:
    assert generated(["a", "b", "c"], 5, 7) == (Generated("a", 2, 7), Generated("b", 2, 7), Generated("c", 1, 7))
    assert generated(["a", "b"], 1, 0) == (Generated("a", 1, 0),)


def test_families_are_named_once_each() -> None:
    assert family_names(REGISTRY, ["streams_4x40,streams_4x40", "all"]) == tuple(
        dict.fromkeys(
            ["streams_4x40", *(found.name for found in REGISTRY.families() if found.plugin.kind == "streams")]
        )
    )


@pytest.mark.parametrize("item", [0, 1, 2, 3])
def test_one_item_alone_is_the_one_of_that_number(tmp_path: Path, item: int) -> None:
    sources: list[SourceInput] = [
        file_of(tmp_path / "a.jsonl", named("a"), named("b")),
        Generated("streams_4x40", 2, 9),
    ]
    with plan_sources(sources, REGISTRY) as plan:
        expected = list(plan.work())[item]
    with plan_sources(sources, REGISTRY, only_item=item) as plan:
        assert plan.items == 1
        assert list(plan.work()) == list(plan.work(frozenset([item]))) == [expected]
        assert list(plan.work(frozenset([item + 1]))) == []


@pytest.mark.parametrize(
    ("item", "number", "message"),
    [
        (4, None, "no item 4: the sources hold items 0 to 3"),
        (None, 8, "no round 8: there are rounds 0 to 7"),
        (1, 1, "no round 1: there are rounds 0 to 0"),
    ],
)
def test_a_state_that_the_sources_do_not_have(
    tmp_path: Path, item: int | None, number: int | None, message: str
) -> None:
    sources: list[SourceInput] = [
        file_of(tmp_path / "a.jsonl", named("a"), named("b")),
        Generated("streams_4x40", 2, 9),
    ]
    with pytest.raises(NoSuchStateError, match=message):
        plan_sources(sources, REGISTRY, only_item=item, only_round=number)


# --- racks, and the origin of settings --------------------------------------------------------------


def documents_of(plan: ScoringPlan) -> list[dict[str, Any]]:
    return [json.loads(item.document or "") for item in plan.work()]


def test_racks_are_filled_into_what_is_scored_and_are_part_of_its_digest(tmp_path: Path) -> None:
    clients = [{**client, "rack": None} for client in streams_document()["clients"]]
    file = file_of(tmp_path / "states.jsonl", {**named("one"), "clients": clients})
    process = clients[0]["process_id"]
    racks = Racks(("racks.toml",), {process: "r7", "i9": "r1"}, {})
    notes: list[str] = []
    with plan_sources([file], REGISTRY, on_note=notes.append, racks=racks) as filled:
        assert documents_of(filled)[0]["clients"][0]["rack"] == "r7"
    with plan_sources([file], REGISTRY) as plain:
        assert documents_of(plain)[0]["clients"][0]["rack"] is None
    assert filled.digest != plain.digest
    assert notes == ["racks.toml: i9 is no client of any state: it is not used"]


def test_what_is_asked_for_with_c_is_no_setting_of_the_group_that_logged(tmp_path: Path) -> None:
    given = config_sources(LOGS / "application.properties", ["num.standby.replicas=2"], environ={}, start=tmp_path)
    assert given.explicit_values()["num.standby.replicas"] == 2
    with plan_sources(sorted(LOGS.glob("*.log.gz")), REGISTRY, given.above) as plan:
        configs = [document["config"] for document in documents_of(plan)]
    assert {config["num.standby.replicas"] for config in configs} == {1}
    assert {config["acceptable.recovery.lag"] for config in configs} == {100}


@pytest.mark.slow
def test_the_folder_of_a_recording_is_one_source_of_decisions_with_what_kafka_decided(tmp_path: Path) -> None:
    folder = classic_folder(tmp_path / "past", "warm", [{"t": 1, "ends": {}, "bytes": {}}])
    with plan_sources([folder, LOGS / "i3.log.gz"], REGISTRY) as plan:
        work = list(plan.work())
    assert [(source.name, source.kind, source.items) for source in plan.sources] == [
        (str(folder / "records.jsonl"), "recording", 6),
        (str(LOGS / "i3.log.gz"), "log", 24),
    ]
    assert [Path(file.name).name for file in plan.sources[0].files] == ["records.jsonl", "samples.jsonl"]
    first = json.loads(work[0].document or "")
    assert first["observed"]["assignment"]
    assert (work[0].file, work[0].line) == (str(folder / "records.jsonl"), 2)


def test_recordings_of_many_groups_are_a_source_each_and_of_one_kind(tmp_path: Path) -> None:
    (tmp_path / "recording.jsonl").write_text('{"format": 1, "kind": "recording"}\n')
    classic_folder(tmp_path / "warm", "warm")
    classic_folder(tmp_path / "plain", "plain")
    with plan_sources([tmp_path], REGISTRY) as plan:
        assert [source.items for source in plan.sources] == [6, 6]
    streams_folder(tmp_path / "zz", "orders-group-3")
    with pytest.raises(
        ScenarioKindError, match="is of kind 'streams-group', and the items before it are of kind 'streams'"
    ):
        plan_sources([tmp_path], REGISTRY)


@pytest.mark.slow
def test_racks_that_a_recording_has_are_those_of_its_states(tmp_path: Path) -> None:
    folder = streams_folder(tmp_path / "past", "orders-group-3")
    member = json.loads(_documents(folder)[0])["members"][0]
    (folder / "racks.toml").write_text(f'format = 1\n[clients]\n"{member["id"]}" = "{member["rack"]}"\n')
    assert json.loads(_documents(folder)[0])["members"][0]["rack"] == member["rack"]
    (folder / "racks.toml").write_text(f'format = 1\n[clients]\n"{member["id"]}" = "elsewhere"\n')
    # The record decides; the verification names the racks as the cause.
    assert json.loads(_documents(folder)[0])["members"][0]["rack"] == member["rack"]


def _documents(folder: Path) -> list[str]:
    with plan_sources([folder], REGISTRY) as plan:
        return [item.document or "" for item in plan.work()]


def test_recorded_decisions_with_times_have_a_timeline_and_states_have_none(tmp_path: Path) -> None:
    states = file_of(tmp_path / "states.jsonl", named("a"), named("b"))
    with plan_sources([*sorted(LOGS.glob("*.log.gz")), states], REGISTRY) as plan:
        logged, given = plan.sources
    (timeline,) = logged.timelines
    assert timeline.group == "tagged-classic"
    assert [each.generation for each in timeline.decisions] == list(range(1, 25))
    assert timeline.decisions[2].joined == ("i4",)
    assert given.timelines == ()
