"""Settings of time and membership: from a history's source to its simulation, with a command's overrides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assignment_api.plugins import config_sources, discover
from assignor_lab.capture.histories.episodes import past_as_episodes, read_as_episodes
from assignor_lab.capture.histories.past import PastSurroundings, scenarios_of_past
from assignor_lab.groups.streams_episode.playing import play
from assignor_lab.scenarios import DocumentFormatError, Place, scenario_from_document, write_lines
from assignor_lab.simulation.streams.formats.episodes import read_episode
from assignor_lab.simulation.streams.results import totals_of
from assignor_lab.simulation.streams.traffic import TrafficTerms
from tests.capture.captured_logs import CAPTURES, logs
from tests.capture.histories.flight_folders import classic_folder, streams_folder
from tests.capture.histories.pasts import properties_of


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(classic_folder(tmp_path_factory.mktemp("settings") / "plain", "plain"))


def around(*overrides: str, file: Path | None = None) -> PastSurroundings:
    return PastSurroundings(config_sources(file, overrides, environ={}, start=Path("/")).above)


def episode(source: str, *overrides: str, file: Path | None = None) -> dict[str, Any]:
    (scenario,) = past_as_episodes([source], around=around(*overrides, file=file))
    return dict(scenario.document)


def test_a_recordings_members_have_the_timeouts_of_the_play(recording: str) -> None:
    document = episode(recording)
    assert document["settings"] == {"rebalance.timeout.ms": 300_000, "session.timeout.ms": 10_000}
    assert document["timings"] == {"max_poll_interval_ms": 300_000, "session_timeout_ms": 10_000}
    assert not any("session.timeout.ms" in sentence for sentence in document["assumptions"])


def test_the_command_line_replaces_the_settings_of_the_source(recording: str) -> None:
    document = episode(recording, "session.timeout.ms=20000", "processing.guarantee=exactly_once_v2")
    assert document["settings"]["session.timeout.ms"] == 20_000
    assert document["timings"]["session_timeout_ms"] == 20_000
    assert document["eos"] is True
    assert document["timings"]["commit_interval_ms"] == 100


def test_settings_stay_in_a_file_of_decisions(recording: str, tmp_path: Path) -> None:
    file = str(tmp_path / "decisions.jsonl")
    read = scenarios_of_past([recording], around("processing.guarantee=exactly_once_v2"))
    write_lines(file, [scenario.document for scenario in read])
    document = episode(file)
    assert document["timings"]["session_timeout_ms"] == 10_000
    assert document["eos"] is True


def test_a_configuration_replaces_the_timings_of_an_episode_that_is_there(recording: str, tmp_path: Path) -> None:
    file = str(tmp_path / "episode.jsonl")
    write_lines(file, [episode(recording)])
    assert episode(file)["timings"]["session_timeout_ms"] == 10_000
    assert episode(file, "session.timeout.ms=20000")["timings"]["session_timeout_ms"] == 20_000


def test_a_logs_settings_are_those_of_the_configuration(tmp_path: Path) -> None:
    logs = [str(log) for log in sorted((CAPTURES / "warm").glob("*.log.gz"))]
    (read, *_) = scenarios_of_past(logs, around(file=properties_of("warm")))
    settings = read.document["settings"]
    assert (settings["session.timeout.ms"], settings["heartbeat.interval.ms"]) == (10_000, 3_000)


def test_a_streams_groups_message_names_a_key_that_works(tmp_path: Path) -> None:
    folder = str(streams_folder(tmp_path / "group", "orders-group-3"))
    told = [each for each in episode(folder)["assumptions"] if "give streams.session.timeout.ms with" in each]
    assert len(told) == 1
    document = episode(folder, "streams.session.timeout.ms=10000")
    assert document["timings"]["streams_session_timeout_ms"] == 10_000
    assert not any("streams.session.timeout.ms" in each for each in document["assumptions"])


def test_where_members_differ_the_most_frequent_timeout_counts_and_that_is_told(recording: str) -> None:
    from assignor_lab.capture.histories.recorded_generations import settings_of

    told: list[str] = []
    assert settings_of([(10_000, 1), (45_000, 1), (10_000, 1)], told)["session.timeout.ms"] == 10_000
    assert told == ["members differ in session.timeout.ms (10000, 45000): the most frequent one counts for all"]


def test_no_other_key_is_a_setting(recording: str) -> None:
    (read, *_) = scenarios_of_past([recording])
    document = {**read.document, "settings": {"sasl.jaas.config": "x"}}
    with pytest.raises(DocumentFormatError, match=r"sasl\.jaas\.config"):
        scenario_from_document(document, Place("file"))


def test_the_streams_protocol_names_the_key_that_works_in_place_of_one_without_effect(tmp_path: Path) -> None:
    source = str(streams_folder(tmp_path / "orders", "orders-group-3"))
    document = episode(source, "session.timeout.ms=10000")
    told = [each for each in document["assumptions"] if each.startswith("session.timeout.ms")]
    assert told == [
        "session.timeout.ms has no effect in the streams protocol: the group's own key is streams.session.timeout.ms "
        "(give it with --config or -c)"
    ]
    assert any(
        each.startswith("streams.session.timeout.ms of the group is unknown") for each in document["assumptions"]
    )
    named = episode(source, "streams.session.timeout.ms=10000")
    assert named["timings"]["streams_session_timeout_ms"] == 10_000
    assert not any("session.timeout.ms" in each for each in named["assumptions"])


def test_an_episode_under_the_streams_protocol_names_that_key_too(tmp_path: Path) -> None:
    file = str(tmp_path / "episode.jsonl")
    write_lines(file, [episode(str(streams_folder(tmp_path / "orders", "orders-group-3")))])
    assert any(
        "no effect in the streams protocol" in each for each in episode(file, "session.timeout.ms=9")["assumptions"]
    )


def test_a_state_in_an_episode_brings_its_own_settings(tmp_path: Path, recording: str) -> None:
    document = episode(recording)
    settings = document.pop("settings")
    initial = {**document["initial"], "settings": settings | {"processing.guarantee": "exactly_once_v2"}}
    bare = {**document, "initial": initial, "timings": {}}
    read = read_episode(scenario_from_document(bare, Place("f", 1)))
    assert (read.timings.session_timeout_ms, read.timings.commit_interval_ms, read.eos) == (10_000, 100, True)
    other = read_episode(
        scenario_from_document({**bare, "eos": False, "timings": {"session_timeout_ms": 9_000}}, Place("f", 1))
    )
    assert (other.timings.session_timeout_ms, other.eos) == (9_000, False)


def test_the_weight_of_tasks_is_in_the_first_state_of_a_play(recording: str) -> None:
    known = [dict(each.document) for each in scenarios_of_past([recording], around())]
    for place, document in enumerate(known):
        document["workload"] = {"tasks": {"0_0": {"state_bytes": place + 1, "input_bytes_per_s": 7}}}
    made = [scenario_from_document(each, Place("f", number)) for number, each in enumerate(known, start=1)]
    (scenario,) = read_as_episodes(made, around=around())
    weights = scenario.document["initial"]["workload"]["tasks"]
    assert weights == {"0_0": {"state_bytes": len(known), "input_bytes_per_s": 7}}
    assert max(read_episode(scenario).input_bytes_per_s) == 7


@pytest.mark.slow
def test_the_groups_own_session_makes_the_play_as_long_as_reality() -> None:
    def downtime(*overrides: str) -> tuple[float, float]:
        sources = config_sources(properties_of("orders-2"), overrides, environ={}, start=Path("/"))
        (scenario,) = past_as_episodes([*map(str, logs("orders-2"))], around=PastSurroundings(sources.above))
        played = play(read_episode(scenario), discover(), sources)[1]
        recorded = scenario.document["recorded"]["downtime"]["tasks"].values()
        lasted = sum(end - begin for intervals in recorded for begin, end in intervals) / 1000
        return float(totals_of(played, TrafficTerms()).unavailable_task_s or 0.0), lasted

    # With Kafka's default of 45 s, three times as long.
    # Both include restoring.
    own, recorded = downtime()
    assert own == pytest.approx(recorded, rel=0.15)
    assert downtime("session.timeout.ms=45000")[0] > 2.5 * own
