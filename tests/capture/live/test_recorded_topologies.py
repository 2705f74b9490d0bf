"""Decisions of many small applications at a real broker are reproduced, with and without the topology's text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.capture.live.recorded_topologies import RecordedTopologies
from tests.capture.test_topology_captures import decided_otherwise
from tests.capture.topology_recordings import STREAMS, TopologyRecordings

pytestmark = pytest.mark.services


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RecordedTopologies]:
    made = RecordedTopologies(tmp_path_factory.mktemp("topologies"))
    try:
        made.live()
        yield made
    finally:
        made.close()


@pytest.fixture
def recordings(lived: RecordedTopologies) -> TopologyRecordings:
    return lived.recordings


def classic(recordings: TopologyRecordings) -> list[str]:
    return [name for name in recordings.names() if not name.endswith(STREAMS)]


def captured(lived: RecordedTopologies, name: str, *options: str) -> dict[str, Any]:
    out = lived.directory / "scenario.jsonl"
    lived.run("capture", "--group", name, "--out", str(out), *options)
    document: dict[str, Any] = json.loads(out.read_text())
    return document


def test_every_logged_decision_comes_out_again(recordings: TopologyRecordings) -> None:
    different = {}
    for name in classic(recordings):
        logs = [*map(str, recordings.logs(name)), *recordings.config(name)]
        without, given = recordings.checked(*logs), recordings.checked(*logs, *recordings.topology(name))
        assert without[0] == given[0] > 4
        if without[1] or given[1]:
            different[name] = (without[1], given[1])
    assert different == {}


def test_every_recorded_decision_comes_out_again_with_the_topology(recordings: TopologyRecordings) -> None:
    found = {
        name: recordings.checked(str(recordings.past(name)), *recordings.config(name), *recordings.topology(name))
        for name in classic(recordings)
    }
    assert {name: differences for name, (_, differences) in found.items() if differences} == {}
    assert min(decisions for decisions, _ in found.values()) > 4


def test_every_recorded_decision_comes_out_again_without_the_topology(recordings: TopologyRecordings) -> None:
    different = {}
    for name in classic(recordings):
        _, differences = recordings.checked(str(recordings.past(name)), *recordings.config(name))
        if differences:
            different[name] = differences
    assert different == {}


def test_every_target_of_the_streams_protocol_comes_out_again(recordings: TopologyRecordings) -> None:
    found = {
        name: recordings.checked(str(recordings.past(name))) for name in recordings.names() if name.endswith(STREAMS)
    }
    assert {name: differences for name, (_, differences) in found.items() if differences} == {}
    assert min(decisions for decisions, _ in found.values()) > 3


def test_tasks_are_as_the_running_applications_have_them(recordings: TopologyRecordings) -> None:
    for name in classic(recordings):
        for document in recordings.decisions(name):
            assert recordings.wrong_tasks(name, document) == [], name


def test_captured_groups_are_decided_as_their_leaders_did_with_the_topology(
    lived: RecordedTopologies, tmp_path: Path
) -> None:
    recordings = lived.recordings
    names = classic(recordings)
    documents = [captured(lived, name, *recordings.config(name), *recordings.topology(name)) for name in names]
    wrong = {name: recordings.wrong_tasks(name, each) for name, each in zip(names, documents, strict=True)}
    assert {name: tasks for name, tasks in wrong.items() if tasks} == {}
    assert decided_otherwise(documents, tmp_path) == []


def test_captured_groups_are_decided_as_their_leaders_did_without_the_topology(
    lived: RecordedTopologies, tmp_path: Path
) -> None:
    names = classic(lived.recordings)
    documents = [captured(lived, name, *lived.recordings.config(name)) for name in names]
    assert decided_otherwise(documents, tmp_path) == []


def test_captured_groups_of_the_streams_protocol_run_their_latest_recorded_targets(lived: RecordedTopologies) -> None:
    recordings = lived.recordings
    for name in recordings.names():
        if name.endswith(STREAMS):
            document, (*_, latest) = captured(lived, name), recordings.decisions(name)
            stateful = {each["id"] for each in document["subtopologies"] if each["stateful"]}
            known = recordings.subtopologies(name).items()
            assert stateful == {key for key, each in known if each["changelogs"]}, name
            # A replay of these is no test: only the recording has the members' previous tasks.
            assert document["observed"] == latest["observed"], name
