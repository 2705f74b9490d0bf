"""Histories of the captured groups, from their logs alone."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from assignment_api.plugins import config_sources
from assignor_lab.capture.histories.group_histories import group_histories
from assignor_lab.capture.histories.history import DecisionHistory, read_histories
from assignor_lab.capture.histories.history_episode import history_episode
from assignor_lab.capture.logs.import_log import import_log
from assignor_lab.model.history import GroupHistory
from assignor_lab.scenarios import Place, Scenario, scenario_from_document
from calibration.episodes import import_episode
from tests.capture.captured_logs import CAPTURES, logs

__all__ = [
    "CAPTURES",
    "decisions_of",
    "done_to",
    "episode_of",
    "group_past_of",
    "past_of",
    "properties_of",
    "timeline_of",
]

_TIMELINES = {"orders-2": "orders-classic-2"}


def properties_of(application: str) -> Path:
    return CAPTURES / application / "application.properties"


@cache
def decisions_of(application: str) -> tuple[Scenario, ...]:
    layers = config_sources(properties_of(application), ()).above
    return tuple(
        scenario_from_document(document, Place("log", number))
        for number, document in enumerate(import_log(logs(application), config_layers=layers), 1)
    )


@cache
def past_of(application: str) -> DecisionHistory:
    (history,) = read_histories(decisions_of(application))
    return history


@cache
def group_past_of(application: str) -> GroupHistory:
    (history,) = group_histories(decisions_of(application))
    return history


@cache
def episode_of(application: str) -> dict[str, Any]:
    return history_episode(past_of(application))


@cache
def timeline_of(application: str) -> dict[str, Any]:
    name = _TIMELINES.get(application, f"{application}-classic")
    return import_episode(CAPTURES / "timelines" / f"{name}.json.gz", CAPTURES / application)


def done_to(episode: dict[str, Any], offset_ms: int = 0) -> list[tuple[str, str, int]]:
    begin = episode["initial"]["source"]["time_ms"]
    return [
        (event["type"], event["client"], begin + event["at_ms"] + offset_ms)
        for event in episode["events"]
        if event["type"] not in ("lose_disk", "metadata_changes")
    ]
