"""Static members of recorded groups are static in their plays, too. Data: tests/data/captures/plain."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from assignment_api.plugins import config_sources, discover
from assignor_lab.capture.histories.episodes import past_as_episodes, read_as_episodes
from assignor_lab.capture.histories.past import PastSurroundings, scenarios_of_past
from assignor_lab.groups.streams_episode.playing import play
from assignor_lab.scenarios import Place, scenario_from_document
from assignor_lab.scenarios.anonymous import Pseudonyms, anonymous_document
from assignor_lab.scenarios.consumers import instance_id_of
from assignor_lab.simulation.streams.formats.episodes import read_episode
from assignor_lab.simulation.streams.simulate import PlayedStreamsEpisode
from tests.capture.captured_logs import logs
from tests.capture.histories.flight_folders import classic_folder
from tests.capture.histories.pasts import episode_of, properties_of

#: One restart of p2 within its session, and no rebalance; then a crash.
_RESTARTED = ["start p1", "start p2", "stop p2", "start p2", "crash p2"]


def around(*overrides: str) -> PastSurroundings:
    return PastSurroundings(config_sources(properties_of("plain"), overrides, environ={}, start=Path("/")).above)


def of_instances(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [event for event in document["events"] if "client" in event]


def events_of(document: dict[str, Any]) -> list[str]:
    return [f"{event['type']} {event['client']}" for event in of_instances(document)]


def of_logs() -> dict[str, Any]:
    (scenario,) = past_as_episodes([*map(str, logs("plain"))], around=around())
    return dict(scenario.document)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(classic_folder(tmp_path_factory.mktemp("static") / "plain", "plain"))


def played(document: dict[str, Any], assignor: str = "sticky", protocol: str | None = None) -> PlayedStreamsEpisode:
    episode = read_episode(scenario_from_document(document, Place("past", 1)))
    sources = config_sources(None, (), environ={}, start=Path("/"))
    return play(episode, discover(), sources, assignor, protocol=protocol)[1]


def rebalances_of(document: dict[str, Any], first_ms: int, last_ms: int) -> int:
    found = played(document)
    times = [each.prepared_ms - found.world.begin_ms for each in found.generations]
    return sum(first_ms <= time <= last_ms for time in times)


def test_logs_show_a_restart_within_the_session() -> None:
    document = of_logs()
    assert events_of(document) == _RESTARTED
    assert {event["instance_id"] for event in document["events"] if event["type"] == "start"} == {"p1", "p2"}


@pytest.mark.slow
def test_a_restart_within_the_session_is_played_without_a_rebalance() -> None:
    document = of_logs()
    stop, back, crash = (event["at_ms"] for event in of_instances(document)[2:])
    assert back - stop < 20_000
    assert rebalances_of(document, stop, crash) == 0
    dynamic = {**document, "events": [{k: v for k, v in e.items() if k != "instance_id"} for e in document["events"]]}
    assert rebalances_of(dynamic, stop, crash) > 0


def test_a_generation_that_was_written_again_shows_the_restart(folder: str) -> None:
    (scenario,) = past_as_episodes([folder], around=around())
    assert events_of(dict(scenario.document))[:4] == _RESTARTED[:4]
    assert rebalances_of(dict(scenario.document), of_instances(scenario.document)[2]["at_ms"], 70_000) == 0


def test_recorded_downtime_has_the_restart_within_the_session() -> None:
    document = of_logs()
    stop, back = (event["at_ms"] for event in of_instances(document)[2:4])
    (began, ended) = document["recorded"]["downtime"]["tasks"]["0_0"][2]
    assert began == stop
    assert back < ended < back + 10_000


def test_members_that_run_when_the_play_begins_are_static(folder: str) -> None:
    later = [each for each in scenarios_of_past([folder], around()) if each.document["source"]["generation"] >= 4]
    (scenario,) = read_as_episodes(later, around=around())
    assert set(read_episode(scenario).instance_ids) == {"p1", "p2"}
    stop = next(event["at_ms"] for event in scenario.document["events"] if event["type"] == "stop")
    assert rebalances_of(dict(scenario.document), stop, stop + 8_000) == 0


def test_pseudonyms_keep_members_static(folder: str) -> None:
    names = Pseudonyms(b"0123456789abcdef")
    hidden = [
        scenario_from_document(anonymous_document(each.document, names), each.place)
        for each in scenarios_of_past([folder], around())
    ]
    (scenario,) = read_as_episodes(hidden, around=around())
    assert [event["type"] for event in of_instances(scenario.document)][:4] == ["start", "start", "stop", "start"]
    assert rebalances_of(dict(scenario.document), of_instances(scenario.document)[2]["at_ms"], 70_000) == 0


@pytest.mark.slow
def test_a_broker_that_refuses_static_members_plays_them_as_dynamic() -> None:
    refused = played(of_logs(), "group_sticky", "streams")
    assert any("static members are played as dynamic" in sentence for sentence in refused.episode.assumptions)
    accepted = played(of_logs(), "group_sticky_4_4", "streams")
    assert not any("static members" in sentence for sentence in accepted.episode.assumptions)


def test_members_of_other_groups_stay_dynamic() -> None:
    assert not any("instance_id" in event for event in episode_of("tagged")["events"])


@pytest.mark.parametrize(
    ("members", "instance"),
    [
        ([("p-1-1", "1"), ("p-1-2", "2")], "p-1"),
        ([("p-1", "1")], "p"),
        ([("b", "2"), ("a", "1")], "a"),
        ([("p-1", "1"), (None, "2")], None),
        ([], None),
    ],
)
def test_the_instance_id_is_without_the_number_of_the_thread(
    members: list[tuple[str | None, str]], instance: str | None
) -> None:
    assert instance_id_of(members) == instance


def test_a_session_longer_than_the_silence_contradicts_no_restart() -> None:
    (scenario,) = past_as_episodes([*map(str, logs("plain"))], around=around("session.timeout.ms=60000"))
    assert [f"{event.type} {event.client}" for event in read_episode(scenario).events if event.client] == _RESTARTED
