"""The same episode under both protocols: their costs are those of recorded groups."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from assignment_api.plugins import config_sources, discover
from assignor_lab.cli.app import build_app
from assignor_lab.groups.streams_episode.playing import play, under_protocol
from assignor_lab.simulation.streams.formats.plays import document_of
from tests.simulation.streams.episodes import document, episode, happens, started

#: A second of records for each task and instance, and a probing rebalance within the episode.
CONFIG = {"num.standby.replicas": 1, "probing.rebalance.interval.ms": 60_000}


def under(protocol: str, *events: dict[str, Any], records: int = 20_000, **config: Any) -> dict[str, Any]:
    world = episode(
        list(events), records=records, config={**CONFIG, **config}, until_ms=900_000,
        timings={"acknowledge_ms": 100, "leave_ms": 200},
    )  # fmt: skip
    name, result = play(world, discover(), config_sources(environ={}), protocol=protocol)
    return document_of(result, name)


def away_after(told: dict[str, Any], at_ms: int) -> list[int]:
    """Total time away of each affected task, over the intervals that begin at or after a moment."""
    sums = [
        sum(end - begin for begin, end, _ in task["intervals"] if begin >= at_ms) for task in told["tasks"].values()
    ]
    return [each for each in sums if each]


def test_a_restart_costs_the_session_timeout_classic_and_seconds_under_the_streams_protocol() -> None:
    events = [started("a"), started("b", 1), happens("stop", "b", 300_000), started("b", 301_000)]
    classic, streams = under("classic", *events), under("streams", *events)
    assert max(away_after(classic, 300_000)) == pytest.approx(10_000, abs=500)
    assert 0 < max(away_after(streams, 300_000)) < 8_000


def test_a_scale_out_costs_a_rebalance_classic_and_a_whole_restoration_under_the_streams_protocol() -> None:
    events = [started("a"), started("b", 1), started("c", 300_000)]
    tasks = 20_000  # milliseconds for one of them alone
    classic = under("classic", *events, **{"num.standby.replicas": 0})
    streams = under("streams", *events, **{"num.standby.replicas": 0})
    assert classic["generations"][-1]["assigned"]["c"]["active"]
    assert max(away_after(classic, 300_000), default=0) < 4_000
    assert max(away_after(streams, 300_000)) >= tasks


def test_world_and_events_stay_and_settings_that_mean_the_same_are_carried_over() -> None:
    classic = episode([started("a")], timings={"heartbeat_interval_ms": 2_000})
    streams = under_protocol(classic, "streams")
    assert (streams.events, streams.changelogs) == (classic.events, classic.changelogs)
    assert streams.timings.streams_session_timeout_ms == classic.timings.session_timeout_ms == 10_000
    assert streams.timings.streams_heartbeat_interval_ms == 2_000
    assert "streams_session_timeout_ms 10000" in streams.assumptions[-1]
    assert under_protocol(classic, "classic") is classic


def test_settings_that_the_episode_names_for_the_other_protocol_stay() -> None:
    named = episode([started("a")], timings={"streams_session_timeout_ms": 60_000})
    assert under_protocol(named, "streams").timings.streams_session_timeout_ms == 60_000


def test_simulate_plays_a_classic_episode_under_the_streams_protocol(tmp_path: Path) -> None:
    file = tmp_path / "episode.jsonl"
    file.write_text(json.dumps(document([started("a")], assignor="sticky@4.3")))
    # The brokers decide there: the client's release is not theirs.
    for words, release in (([], "4.4"), (["--release", "4.3"], "4.3")):
        result = CliRunner().invoke(build_app(), ["simulate", str(file), "--protocol", "streams", *words])
        assert result.exit_code == 0
        assert "small: group_sticky, " in result.stdout
        assert "under the streams protocol" in result.stderr
        assert f"group_sticky: as Kafka {release} decides" in result.stderr


def test_coming_refiner_moves_tasks_when_their_state_is_warm() -> None:
    events = [started("a"), started("b", 1), started("c", 300_000)]
    world = episode(
        events, records=20_000, until_ms=900_000, protocol="streams", assignor="group_sticky_4_4",
        config={"max.warmup.replicas": 1, "acceptable.recovery.lag": 100}, timings={"acknowledge_ms": 100},
    )  # fmt: skip
    name, result = play(world, discover(), config_sources(environ={}), coming_refiner=True)
    told = document_of(result, name)
    # One more epoch for the one task that had to warm up, not one for each heartbeat.
    assert [each["reason"] for each in told["generations"]] == ["a joined; b joined", "c joined", "state is warm"]
    assert told["generations"][-1]["assigned"]["c"]["active"]
    # Its new owner learns of the revocation with its next heartbeat.
    assert max(away_after(told, 300_000), default=0) < world.timings.streams_heartbeat_interval_ms + 200
    assert told["totals"]["warmups"] == len(told["generations"][-1]["assigned"]["c"]["active"])
