"""Files of a recording about its cluster: written with the first records, and kept up to date."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

import attrs

from assignor_lab.capture.histories.episodes import past_as_episodes
from assignor_lab.capture.live.cluster import ConnectedCluster
from assignor_lab.capture.live.cluster_files import ClusterFiles
from assignor_lab.capture.live.errors import LiveClusterError
from assignor_lab.capture.live.group_recording import SAMPLES, GroupRecording
from assignor_lab.capture.live.sampling import Sampler
from assignor_lab.capture.recorded.broker_answers import ClusterAnswer, TopicPartition
from assignor_lab.simulation.streams.formats.episodes import read_episode
from tests.capture.flight_recording import records
from tests.capture.live.recorded_lives import CLASSIC, STREAMS


@attrs.define
class _Cluster:
    racks: dict[int, str | None] = attrs.field(factory=lambda: {1: "r1", 2: "r2"})
    partitions: int = 4
    is_away: bool = False
    hides_topics: bool = False
    config: dict[str, str] = attrs.field(factory=dict)

    def topics(self) -> ClusterAnswer:
        if self.is_away:
            raise LiveClusterError("no broker answers")
        if self.hides_topics:
            return ClusterAnswer(self.racks, {})
        return ClusterAnswer(self.racks, {"in": {number: (1 + number % 2,) for number in range(self.partitions)}})

    def latest_version(self, _key: int) -> int:
        return 1

    def release(self) -> None:
        return None

    def groups(self) -> list[Any]:
        return []

    def group_configs(self, groups: list[str]) -> dict[str, dict[str, str]]:
        return dict.fromkeys(groups, self.config)

    def end_offsets(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        return dict.fromkeys(partitions, 7)

    def log_sizes(self, _partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        return {}


def recording(folder: Path, group: str = CLASSIC) -> GroupRecording:
    made = GroupRecording(folder, group, 0)
    made.create()
    for each in records(group):
        made.take(each)
    made.settle(1_000)
    return made


def files(folder: Path, cluster: _Cluster, told: list[str]) -> ClusterFiles:
    return ClusterFiles(cast("ConnectedCluster", cluster), {CLASSIC: recording(folder)}, told.append)


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


def test_the_times_of_a_streams_groups_configuration_reach_its_play(tmp_path: Path) -> None:
    cluster = _Cluster(config={"streams.session.timeout.ms": "12000", "streams.num.standby.replicas": "2"})
    kept = ClusterFiles(cast("ConnectedCluster", cluster), {STREAMS: recording(tmp_path, STREAMS)})
    kept.write()
    assert brokers(tmp_path)["settings"] == {"streams.session.timeout.ms": 12_000}
    # Brokers that are out of reach for a moment change nothing.
    cluster.config = {}
    kept.write()
    assert brokers(tmp_path)["settings"] == {"streams.session.timeout.ms": 12_000}
    (scenario,) = past_as_episodes([str(tmp_path)])
    assert read_episode(scenario).timings.streams_session_timeout_ms == 12_000


def test_a_classic_group_has_no_configuration_at_its_brokers(tmp_path: Path) -> None:
    files(tmp_path, _Cluster(config={"streams.session.timeout.ms": "12000"}), []).write()
    assert "settings" not in brokers(tmp_path)


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


def test_topics_that_may_not_be_described_are_reported_once_and_then_sampled(tmp_path: Path) -> None:
    told: list[str] = []
    cluster = _Cluster(hides_topics=True)
    sampler = Sampler(cast("ConnectedCluster", cluster), {CLASSIC: recording(tmp_path)}, 0.0, told.append)
    sampler.sample_if_due()
    sampler.sample_if_due()
    (trouble,) = told
    assert trouble.startswith(f"no sample: no topic of group {CLASSIC} is visible: DESCRIBE on the topics is needed")
    assert not (tmp_path / SAMPLES).exists()
    cluster.hides_topics = False
    sampler.sample_if_due()
    (sample,) = (tmp_path / SAMPLES).read_text().splitlines()
    assert json.loads(sample)["ends"]["in"] == {"0": 7, "1": 7, "2": 7, "3": 7}
    assert len(told) == 1


def test_a_group_whose_folder_is_not_there_yet_ends_no_recording(tmp_path: Path) -> None:
    """It appeared with records that are no decision, and is written a second later."""
    told: list[str] = []
    young = GroupRecording(tmp_path / "young", STREAMS, 0)
    for each in records(STREAMS):
        young.take(each)
    groups = {STREAMS: young}
    sampler = Sampler(cast("ConnectedCluster", _Cluster()), groups, 0.0, told.append)
    kept = ClusterFiles(cast("ConnectedCluster", _Cluster()), groups, told.append)
    sampler.sample_if_due()
    kept.write()
    assert (told, young.folder.exists()) == ([], False)
    young.create()
    young.settle(1_000)
    sampler.sample_if_due(has_news=True)
    kept.write()
    assert (young.folder / "brokers.json").exists()
