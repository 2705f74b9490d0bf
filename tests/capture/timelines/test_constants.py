"""The constants of the simulation, derived again from the recordings."""

from __future__ import annotations

import json
from pathlib import Path

import attrs
from typer.testing import CliRunner

from assignor_lab.capture.edges.timelines import read_timeline
from assignor_lab.capture.timelines.constants import derive_constants
from assignor_lab.cli.app import build_app
from assignor_lab.simulation.streams.timings import StreamsTimings

CAPTURES = Path(__file__).parents[2] / "data" / "captures"
TIMELINES = sorted(
    (
        *CAPTURES.glob("downtime/?/timeline.json.gz"),
        *CAPTURES.glob("timelines/*-classic*.json.gz"),
        *CAPTURES.glob("timelines/*-group*.json.gz"),
    )
)

#: Kafka's own settings, and values without a recording.
NOT_DERIVED = {
    "streams_heartbeat_interval_ms", "streams_session_timeout_ms", "streams_initial_rebalance_delay_ms",
    "assignment_interval_ms", "task_offset_interval_ms",
    "heartbeat_interval_ms", "session_timeout_ms", "max_poll_interval_ms", "initial_rebalance_delay_ms",
    "commit_interval_ms", "state_cleanup_delay_ms", "startup_spread_ms", "request_ms", "poll_ms", "polls_every_ms",
    "memtable_bytes",
}  # fmt: skip


def test_constants_are_those_that_the_recordings_give() -> None:
    derived = {each.name: each.value for each in derive_constants([read_timeline(path) for path in TIMELINES])}
    assert len(TIMELINES) == 12
    assert derived.keys() == {field.name for field in attrs.fields(StreamsTimings)} - NOT_DERIVED
    assert attrs.evolve(StreamsTimings(), **derived) == StreamsTimings()


def test_the_command_prints_what_an_episode_takes_under_timings() -> None:
    printed = CliRunner().invoke(build_app(), ["derive-constants", *map(str, TIMELINES[:2]), "--json"])
    assert printed.exit_code == 0
    assert StreamsTimings.from_mapping(json.loads(printed.stdout)["timings"]).startup_ms > 1_000
    table = CliRunner().invoke(build_app(), ["derive-constants", *map(str, TIMELINES[:2])])
    assert "rejoin_ms" in table.stdout
