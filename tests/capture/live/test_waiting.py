"""A recorder that follows waits for a new cluster, keeps its history up to date, and reports its health."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import attrs
import pytest

from assignor_lab.capture.live import recorder
from assignor_lab.capture.live.access import read_access
from assignor_lab.capture.live.cluster_files import ClusterFiles
from assignor_lab.capture.live.errors import NotAuthorizedError
from assignor_lab.capture.live.recorder import RecordingSettings, _LiveReading
from assignor_lab.capture.recorded.broker_answers import ClusterAnswer
from assignor_lab.watching.exporter import RecorderHealth
from tests.capture.live.test_recordings import histories, many, records


@attrs.define
class _NewCluster:
    """A cluster whose first group appears after some requests."""

    requests: int

    def topics(self, _names: object) -> ClusterAnswer:
        self.requests -= 1
        return ClusterAnswer({}, {} if self.requests >= 0 else {"__consumer_offsets": {0: (1,), 1: (1,)}})


def partitions(cluster: _NewCluster, told: list[str], follow_s: float | None) -> int:
    wanted = RecordingSettings(Path("past"), None, on_trouble=told.append)
    return recorder._number_of_partitions(cast("Any", cluster), wanted, follow_s)


def test_recorder_waits_for_the_coordinators_topic_while_it_follows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "_WAIT_S", 0.0)
    told: list[str] = []

    assert partitions(_NewCluster(3), told, 60.0) == 2
    assert told == ["topic __consumer_offsets is not there yet, or may not be seen: waiting for it"]


@pytest.mark.parametrize("follow_s", [None, 0.0])
def test_recorder_that_does_not_follow_reports_the_missing_topic(follow_s: float | None) -> None:
    with pytest.raises(NotAuthorizedError, match="READ and DESCRIBE on it are needed"):
        partitions(_NewCluster(3), [], follow_s)


def test_history_is_written_while_following(tmp_path: Path) -> None:
    made = many(tmp_path)
    reading = _LiveReading(read_access("b:9092", None, 30), made, None, ClusterFiles(cast("Any", None), {}), bool)
    for each in records("orders"):
        made.take(0, each)
    made.settle({0: 2})
    pause_s = reading._write_histories(0.0)

    assert histories(tmp_path) == {"orders": [1, 2]}
    assert reading._write_histories(pause_s) == pause_s


def test_health_ages_while_no_broker_is_connected() -> None:
    health = RecorderHealth(1_000)
    assert {each.name: len(each.samples) for each in health.families()} == {
        "assignor_recorder_started_timestamp_seconds": 1,
        "assignor_recorder_last_read_timestamp_seconds": 0,
        "assignor_recorder_connected": 1,
    }
