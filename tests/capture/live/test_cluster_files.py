"""Files of a recording about its cluster: there as soon as records are, and kept up to date."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import attrs

from assignor_lab.capture.live.cluster import Cluster
from assignor_lab.capture.live.cluster_files import ClusterFiles
from assignor_lab.capture.live.errors import LiveClusterError
from assignor_lab.capture.live.group_recording import GroupRecording
from assignor_lab.capture.recorded.broker_answers import ClusterAnswer
from tests.capture.flight_recording import records
from tests.capture.live.recorded_lives import CLASSIC


@attrs.define
class _Cluster:
    """A cluster of two brokers, as far as recordings read it."""

    racks: dict[int, str | None] = attrs.field(factory=lambda: {1: "r1", 2: "r2"})
    partitions: int = 4
    is_away: bool = False

    def topics(self) -> ClusterAnswer:
        if self.is_away:
            raise LiveClusterError("no broker answers")
        return ClusterAnswer(self.racks, {"in": {number: (1 + number % 2,) for number in range(self.partitions)}})

    def latest_version(self, _key: int) -> int:
        return 1

    def groups(self) -> list[Any]:
        return []


def recording(folder: Path) -> GroupRecording:
    made = GroupRecording(folder, CLASSIC, 0)
    made.create()
    for each in records(CLASSIC):
        made.take(each)
    made.settle(1_000)
    return made


def files(folder: Path, cluster: _Cluster, told: list[str]) -> ClusterFiles:
    return ClusterFiles(cast("Cluster", cluster), {CLASSIC: recording(folder)}, told.append)


def brokers(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "brokers.json").read_text()))


def test_a_recording_that_is_killed_at_once_has_racks_and_brokers(tmp_path: Path) -> None:
    files(tmp_path, _Cluster(), []).write_if_due(has_news=True)
    assert '"in" = [[1], [2], [1], [2]]' in (tmp_path / "racks.toml").read_text()
    assert brokers(tmp_path)["streams_group_describe"] == 1


def test_brokers_without_racks_leave_the_topics_partitions(tmp_path: Path) -> None:
    files(tmp_path, _Cluster({1: None, 2: None}), []).write_if_due(has_news=True)
    assert not (tmp_path / "racks.toml").exists()
    assert brokers(tmp_path)["topics"] == {"in": 4}


def test_files_follow_the_cluster_and_are_written_when_something_has_changed(tmp_path: Path) -> None:
    cluster = _Cluster()
    kept = files(tmp_path, cluster, [])
    kept.write()
    before = (tmp_path / "brokers.json").stat().st_ino
    kept.write()
    assert (tmp_path / "brokers.json").stat().st_ino == before
    cluster.partitions = 6
    kept.write()
    assert brokers(tmp_path)["topics"] == {"in": 6}


def test_a_cluster_that_does_not_answer_is_told_once_and_ends_no_recording(tmp_path: Path) -> None:
    told: list[str] = []
    cluster = _Cluster(is_away=True)
    kept = files(tmp_path, cluster, told)
    kept.write()
    kept.write()
    assert told == ["racks and topics are not up to date: no broker answers"]
    cluster.is_away = False
    kept.write()
    assert (tmp_path / "racks.toml").exists()
