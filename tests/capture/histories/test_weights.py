"""Weights of tasks in a recording's samples reach its states and its play, in both protocols."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import attrs
import pytest

from assignor_lab.capture.edges.decision_input import DecisionInput
from assignor_lab.capture.edges.moments import DecisionMoment
from assignor_lab.capture.histories.changelogs import seen_changelogs
from assignor_lab.capture.histories.episodes import past_as_episodes
from assignor_lab.capture.histories.past import scenarios_of_past
from assignor_lab.capture.recorded.group_records import StreamsSubtopology
from assignor_lab.capture.recorded.kept_records import Sample
from assignor_lab.capture.recorded.sampled_topics import SampledTopics, subtopology_weights
from assignor_lab.scenarios.anonymous import Pseudonyms, anonymous_document
from assignor_lab.simulation.streams.formats.episodes import read_episode
from tests.capture.captured_logs import CAPTURES

PARTITION = ("in", 0)


@pytest.fixture(params=["classic", "streams"])
def recording(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    for file in (CAPTURES / "flight" / request.param).iterdir():
        content = file.read_bytes()
        packed = file.suffix == ".gz"
        (tmp_path / (file.stem if packed else file.name)).write_bytes(gzip.decompress(content) if packed else content)
    return str(tmp_path)


def test_states_and_their_play_know_records_bytes_and_rates(recording: str) -> None:
    (scenario,) = past_as_episodes([recording])
    weights = scenario.document["initial"]["workload"]["tasks"]
    assert 2_000 < weights["1_0"]["state_bytes"] < 3_000
    # No record came while the samples were taken.
    assert weights["0_0"] == {"input_bytes_per_s": 0.0}
    played = read_episode(scenario)
    assert [None if each is None else each.records for each in played.changelogs] == [None] * 4 + [112, 100, 100, 88]
    assert all(each is None or (each.is_known and each.bytes_per_record) for each in played.changelogs)
    assert not any("nothing is known of" in sentence for sentence in played.assumptions)


def grown(time_ms: int, records: int, size: int) -> DecisionMoment:
    weights = {"0_0": {"state_records": records, "state_bytes": size}}
    document = {
        "kind": "streams-group",
        "subtopologies": [{"id": "0", "tasks": 1, "stateful": True}],
        "workload": {"tasks": weights},
        "source": {},
    }
    return DecisionMoment(time_ms, None, None, "", "none", {}, {}, DecisionInput(document))


@pytest.mark.parametrize("begun", [0, 100])
def test_bytes_of_a_record_are_those_at_the_time_of_the_size(begun: int) -> None:
    moments = [grown(time_ms, begun + time_ms // 100, 8 * (begun + time_ms // 100)) for time_ms in (0, 50_000, 100_000)]
    assert seen_changelogs(moments, 0).by_task["0_0"].bytes_per_record == pytest.approx(8, rel=0.01)


def test_members_of_a_recorded_group_have_their_client_ids(recording: str) -> None:
    for each in scenarios_of_past([recording]):
        for member in each.document.get("members", ()):
            assert "-StreamThread-" in member["client_id"]


def test_pseudonyms_keep_weights(recording: str) -> None:
    names = Pseudonyms(b"0123456789abcdef")
    for each in scenarios_of_past([recording]):
        assert anonymous_document(each.document, names)["workload"] == each.document["workload"]


def sampled(*sizes: tuple[int, int]) -> SampledTopics:
    return SampledTopics([Sample(time_ms, {}, {PARTITION: size}) for time_ms, size in sizes])


@pytest.mark.parametrize(
    ("sizes", "rate"),
    [
        ([(0, 100), (10_000, 5_100)], 500.0),
        ([(0, 100), (10_000, 5_100), (20_000, 50), (30_000, 5_050)], 500.0),
        ([(0, 100)], None),
        ([(0, 100), (500, 900)], None),
        ([(0, 100), (10_000, 50)], None),
    ],
)
def test_a_rate_leaves_out_times_in_which_a_topic_shrank(sizes: Any, rate: float | None) -> None:
    assert sampled(*sizes).rates([PARTITION]).get(PARTITION) == rate


def test_a_weight_with_an_unknown_partition_is_unknown() -> None:
    sub = StreamsSubtopology("0", ("in", "small"), ("log", "other-log"))
    rates = {("in", 0): 1.0, ("in", 1): 2.0, ("small", 0): 4.0}
    sizes = {("log", 0): 10, ("other-log", 0): 20, ("log", 1): 30}
    assert subtopology_weights([sub], {"0": 3}, {}, sizes, rates) == {
        "0_0": {"state_bytes": 30, "input_bytes_per_s": 5.0},
        "0_1": {"input_bytes_per_s": 2.0},
    }
    alone = attrs.evolve(sub, sources=("in", "unseen"))
    assert "input_bytes_per_s" not in str(subtopology_weights([alone], {"0": 1}, {}, sizes, rates))
