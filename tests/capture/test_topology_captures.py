"""Captures of the recorded applications give their leaders' decisions, with and without a topology."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from assignment_api.plugins import config_sources
from assignor_lab.capture.histories.settings import optimization_in
from assignor_lab.capture.live.classic import GroupSurroundings, classic_document, unsettled
from assignor_lab.capture.live.errors import GroupUnusableError
from assignor_lab.capture.recorded.recording import RecordedResponses, read_recording
from assignor_lab.capture.topology.evidence import reuses_sources
from tests.capture.test_topology_recordings import CLASSIC
from tests.capture.topology_recordings import run, unpacked

#: Before a second member has joined, no data shows which sub-topologies have state.
UNKNOWN_AT_FIRST = (
    "exactlyonce", "foreignkeynamed", "many", "orders", "stateless", "tablejoin", "twostateless", "unlogged", "windows",
)  # fmt: skip


@pytest.fixture(scope="module")
def recording() -> RecordedResponses:
    return read_recording([unpacked().answers])


def ends_at(name: str, time_ms: int) -> Mapping[tuple[str, int], int]:
    """Ends of partitions at the latest sample before a moment."""
    found: dict[tuple[str, int], int] = {}
    for line in (unpacked().past(name) / "samples.jsonl").read_text().splitlines():
        sample = json.loads(line)
        if sample["t"] <= time_ms or not found:
            found = {(topic, int(at)): end for topic, of in sample["ends"].items() for at, end in of.items()}
    return found


def captures(recording: RecordedResponses, name: str, *, topology: bool) -> Iterator[dict[str, Any] | str]:
    found = unpacked()
    text, properties = Path(found.topology(name)[1]), Path(found.config(name)[1])
    layers = config_sources(properties, environ={}, start=found.root).above
    around = GroupSurroundings(groups=frozenset(CLASSIC), optimized=reuses_sources(optimization_in(layers)))
    for seen in recording.stable():
        if seen.answer.group != name or unsettled(seen.answer) is not None:
            continue
        _, cluster = min(recording.clusters, key=lambda each: abs(each[0] - seen.time_ms))
        ends = ends_at(name, seen.time_ms)

        def known(asked: Iterable[tuple[str, int]], ends: Mapping[tuple[str, int], int] = ends) -> dict[Any, int]:
            return {each: ends[each] for each in asked if each in ends}

        try:
            yield classic_document(
                seen.answer, cluster, seen.time_ms, known, lambda _: {}, layers, text if topology else None, around
            )
        except GroupUnusableError as error:
            yield str(error)


def decided_otherwise(documents: list[dict[str, Any]], folder: Path) -> list[str]:
    file = folder / "scenarios.jsonl"
    file.write_text("".join(json.dumps(document) + "\n" for document in documents))
    answers = run("assign", "--assignor", "high_availability", str(file)).stdout.splitlines()
    pairs = zip(documents, map(json.loads, answers), strict=True)
    return [each["id"] for each, answer in pairs if answer["assignment"] != each["observed"]["assignment"]]


@pytest.mark.slow
@pytest.mark.parametrize("topology", [True, False], ids=["with", "without"])
def test_every_capture_is_decided_as_the_leader_did(
    recording: RecordedResponses, topology: bool, tmp_path: Path
) -> None:
    found = {name: list(captures(recording, name, topology=topology)) for name in CLASSIC}

    assert {len(each) for each in found.values()} == {6}
    unusable = {name: [why for why in each if isinstance(why, str)] for name, each in found.items()}
    assert [name for name, reasons in unusable.items() if reasons] == ([] if topology else list(UNKNOWN_AT_FIRST))
    for reason in (why for reasons in unusable.values() for why in reasons):
        assert "no member has reported state yet" in reason
    documents = [each for of in found.values() for each in of if not isinstance(each, str)]
    assert decided_otherwise(documents, tmp_path) == []


@pytest.mark.slow
def test_a_likely_changelog_names_its_tasks_and_its_range_and_leaves_partitions_unknown(
    recording: RecordedResponses,
) -> None:
    *_, document = captures(recording, "many", topology=False)

    assert isinstance(document, dict)
    (sentence,) = (each for each in document["assumptions"] if each.startswith("which changelogs"))
    assert "3_0 108 (or " in sentence
    assert {each["id"][0] for each in document["tasks"] if each["partitions"] is None} == set("0135")
