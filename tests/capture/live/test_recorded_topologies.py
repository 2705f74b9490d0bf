"""Decisions of many small applications at a real broker come out again, with and without the text of the topology."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.capture.live.recorded_topologies import RecordedTopologies
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


def test_every_logged_decision_comes_out_again(recordings: TopologyRecordings) -> None:
    different = {}
    for name in recordings.names():
        if not name.endswith(STREAMS):
            logs = [*map(str, recordings.logs(name)), *recordings.config(name)]
            without, given = recordings.checked(*logs), recordings.checked(*logs, *recordings.topology(name))
            assert without[0] == given[0] > 4
            if without[1] or given[1]:
                different[name] = (without[1], given[1])
    assert different == {}


def test_every_target_of_the_streams_protocol_comes_out_again(recordings: TopologyRecordings) -> None:
    found = {
        name: recordings.checked(str(recordings.past(name))) for name in recordings.names() if name.endswith(STREAMS)
    }
    assert {name: differences for name, (_, differences) in found.items() if differences} == {}
    assert min(decisions for decisions, _ in found.values()) > 3
