"""Variants in a run: an assignor with its own keys beside the plain one, each under its own name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assignment_api.plugins import discover
from assignor_lab.groups.variants import VariantError, as_variant
from assignor_lab.scoring import Generated
from assignor_lab.scoring.contenders import found_contenders
from assignor_lab.scoring.provenance.manifest import read_manifest
from assignor_lab.scoring.terms import ReplayCommand
from tests.scenarios.documents import streams_document
from tests.scoring.in_process import scored
from tests.scoring.runs import results_bytes, results_of

pytestmark = [pytest.mark.slow, pytest.mark.long]

TWO = "two=high_availability,num.standby.replicas=2"


def rows(out: Path, assignor: str) -> list[dict[str, Any]]:
    return [row for row in results_of(out).to_pylist() if row["assignor"] == assignor]


def without_names(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in row.items() if key != "assignor"} for row in found]


@pytest.mark.slow
@pytest.mark.parametrize("family", ["streams_4x40", "scale_out"])
def test_a_variant_answers_as_the_assignor_does_in_a_run_under_its_settings(family: str, tmp_path: Path) -> None:
    both = scored([Generated(family, 3)], ["high_availability", TWO], tmp_path / "both")
    scored([Generated(family, 3)], ["high_availability"], tmp_path / "one")
    scored([Generated(family, 3)], ["high_availability"], tmp_path / "two", ["num.standby.replicas=2"])
    assert both["results"]["failed_rows"] == 0
    assert rows(tmp_path / "both", "high_availability") == rows(tmp_path / "one", "high_availability")
    found, alone = rows(tmp_path / "both", "two"), rows(tmp_path / "two", "high_availability")
    assert without_names(found) == without_names(alone)
    assert found[0]["standbys_missing"] is not None
    entry = both["results"]["assignors"][1]
    assert (entry["name"], entry["settings"]) == ("two", {"num.standby.replicas": "2"})
    assert entry["summary"] == "high_availability with num.standby.replicas=2."


@pytest.mark.slow
def test_of_a_recorded_state_only_the_variant_was_asked_under_other_settings(tmp_path: Path) -> None:
    path = tmp_path / "states.jsonl"
    document = streams_document()
    tasks = [each["id"] for each in document["tasks"]]
    first = document["clients"][0]["process_id"]
    document["observed"] = {
        "assignment": {first: {"active": tasks, "standby": []}},
        "followup": False,
        "threads": None,
    }
    path.write_text(json.dumps(document) + "\n")
    scored([str(path)], ["high_availability", TWO], tmp_path / "out")
    found = {row["assignor"]: row["settings_difference"] for row in results_of(tmp_path / "out").to_pylist()}
    assert found == {"high_availability": False, "two": True, "kafka": False}


@pytest.mark.slow
def test_timeouts_are_a_variant_of_an_episode(tmp_path: Path) -> None:
    late = "late=high_availability,session.timeout.ms=90000"
    scored([Generated("episode_crash", 2)], ["high_availability", late], tmp_path / "out")
    found = {name: rows(tmp_path / "out", name) for name in ("high_availability", "late")}
    for usual, later in zip(found["high_availability"], found["late"], strict=True):
        assert later["unavailable_task_seconds"] > usual["unavailable_task_seconds"]


@pytest.mark.slow
def test_a_manifest_has_variants_as_they_are_written(tmp_path: Path) -> None:
    scored([Generated("streams_4x40", 1)], ["sticky", TWO], tmp_path / "out")
    kept = read_manifest(tmp_path / "out" / "manifest.json").assignors
    assert kept == ("sticky", TWO)
    scored([Generated("streams_4x40", 1)], kept, tmp_path / "again")
    assert results_bytes(tmp_path / "again") == results_bytes(tmp_path / "out")


def test_the_command_that_shows_a_state_again_has_the_variant() -> None:
    command = ReplayCommand(("states.jsonl",), variants={"two": TWO}).command(3, 0, None, None, ["two", "sticky"])
    assert command == f"assignor score states.jsonl --only-item 3 --variant {TWO} --assignor sticky --out replay"


@pytest.mark.parametrize(
    ("text", "kind", "says"),
    [
        ("sticky=high_availability,num.standby.replicas=2", "streams", "another contender has that name"),
        ("kafka=high_availability,num.standby.replicas=2", "streams", "another contender has that name"),
        ("x=high_availability,assignor.plugins.isolate=none", "streams", "holds for a whole run"),
        ("x=high_availability,assignor.high_availability.password=hunter2", "streams", "is secret"),
        ("x=high_availability,group.protocol=streams", "streams", "only episodes"),
        ("x=high_availability,group.protocol=streams", "streams-episode", "speaks the classic protocol"),
        ("x=high_availability,session.timeout.ms=soon", "streams-episode", "a number of milliseconds"),
        ("x=", "streams", "is no variant"),
    ],
)
def test_what_a_variant_cannot_be_is_refused_before_the_run(text: str, kind: str, says: str) -> None:
    with pytest.raises(VariantError, match=says) as caught:
        found_contenders(discover(), [text], kind=kind)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("setting", ["num.standby.replicas=many", "session.timeout.ms=90000", "num.standby.replica=1"])
def test_settings_that_kafka_or_the_kind_would_refuse_are_refused_before_the_run(setting: str) -> None:
    with pytest.raises(VariantError, match="variant 'x': .*" + setting.partition("=")[0]):
        found_contenders(discover(), [f"x=sticky,{setting}"], kind="streams")


def test_two_variants_of_one_name_are_refused() -> None:
    with pytest.raises(VariantError, match="another contender"):
        found_contenders(discover(), [TWO, "two=sticky,num.standby.replicas=1"])


def test_a_contender_can_be_written_and_read_again() -> None:
    text = "new=group_sticky_4_4,rack.aware.assignment.tags=zone,cluster,group.protocol=streams"
    assert as_variant(text).text == text
    assert as_variant("sticky").text == "sticky"
