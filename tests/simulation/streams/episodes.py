"""Small episodes of Streams groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assignment_api.plugins import config_sources, discover
from assignor_lab.groups.streams_episode.playing import play
from assignor_lab.scenarios import Place, scenario_from_document
from assignor_lab.simulation.streams.episode import StreamsEpisode
from assignor_lab.simulation.streams.formats.episodes import read_episode
from assignor_lab.simulation.streams.formats.plays import document_of
from assignor_lab.simulation.streams.simulate import PlayedStreamsEpisode

#: Timings without a machine's additions, so that tests can use exact times.
EXACT = {
    "session_timeout_ms": 10_000, "startup_ms": 1_000, "join_ms": 0, "acknowledge_spread_ms": 0,
    "startup_spread_ms": 0, "close_ms": 0, "request_ms": 0,
    "heartbeat_late_us": 0, "poll_ms": 0, "rejoin_ms": 0, "assign_ms": 0, "output_ms": 0, "first_open_store_ms": 0,
    "open_store_ms": 0, "recycle_ms": 0, "probe_ms": 0, "machine_restore_percent": 0,
    "restore_poll_ms": 0, "standby_ms": 0,
}  # fmt: skip


def task(name: str, *, stateful: bool = True) -> dict[str, Any]:
    return {
        "id": name, "stateful": stateful, "logged": stateful, "stores": ["store"] if stateful else [],
        "partitions": None,
    }  # fmt: skip


def started(name: str, at_ms: int = 0, **settings: Any) -> dict[str, Any]:
    return {"at_ms": at_ms, "type": "start", "client": name, **settings}


def happens(kind: str, name: str, at_ms: int, **details: Any) -> dict[str, Any]:
    return {"at_ms": at_ms, "type": kind, "client": name, **details}


def document(
    events: Sequence[Mapping[str, Any]],
    tasks: Sequence[Mapping[str, Any]] | None = None,
    *,
    records: int = 0,
    until_ms: int = 600_000,
    config: Mapping[str, Any] | None = None,
    timings: Mapping[str, int] | None = None,
    workload: Mapping[str, Any] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """An episode with records of 1,000 bytes; a thread restores a thousand of them per second."""
    tasks = [task(f"0_{number}") for number in range(4)] if tasks is None else tasks
    changelogs = {
        each["id"]: {"records": records, "bytes_per_record": 1_000} for each in tasks if each["logged"]
    }  # fmt: skip
    return {
        "format": 1, "kind": "streams-episode", "id": "small",
        "initial": {
            "format": 1, "kind": "streams", "id": "small", "config": dict(config or {}), "tasks": list(tasks),
            "clients": [], **({} if workload is None else {"workload": dict(workload)}),
        },
        "changelogs": changelogs,
        "events": list(events), "until_ms": until_ms,
        "timings": {**EXACT, "restore_bytes_per_s": 1_000_000, **(timings or {})},
        **more,
    }  # fmt: skip


def episode(*arguments: Any, **more: Any) -> StreamsEpisode:
    return read_episode(scenario_from_document(document(*arguments, **more), Place("small.jsonl", 1)))


def played(*arguments: Any, assignor: str | None = None, seed: int = 0, **more: Any) -> PlayedStreamsEpisode:
    """A simulated episode; ``assignor`` may be ``module:attribute``."""
    sources = config_sources(environ={})
    return play(episode(*arguments, **more), discover(), sources, assignor, seed, may_run_code=True)[1]


def told(*arguments: Any, assignor: str | None = None, seed: int = 0, **more: Any) -> dict[str, Any]:
    name, result = play(episode(*arguments, **more), discover(), config_sources(environ={}), assignor, seed)
    return document_of(result, name)
