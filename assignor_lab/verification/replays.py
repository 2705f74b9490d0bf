"""Plays of recorded pasts with the group's own assignor, compared with the recordings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from assignment_api import AssignorLabError
from assignor_lab.capture.errors import HistoryError
from assignor_lab.capture.histories.episodes import played_histories
from assignor_lab.groups.streams_episode.playing import play
from assignor_lab.model.history import GroupHistory
from assignor_lab.scenarios import Scenario
from assignor_lab.simulation.streams.episode_format import read_episode
from assignor_lab.simulation.streams.results import recorded_totals, totals_of
from assignor_lab.simulation.streams.simulate import PlayedStreamsEpisode
from assignor_lab.simulation.streams.traffic import TrafficTerms
from assignor_lab.verification.verified import ReplayCheck, VerificationTerms

__all__ = ["is_recorded_past", "past_episodes", "replay_check", "replay_checks"]

#: Tasks times events of all plays: larger pasts are not played for their verification alone.
_MOST = 400_000


def past_episodes(decisions: Iterable[Scenario], settings: Mapping[str, Any] | None = None) -> list[Scenario]:
    """The episodes of some decisions' pasts; empty if the decisions form no past."""
    try:
        return [each for each in played_histories(decisions, settings=settings) if is_recorded_past(each)]
    except HistoryError:
        return []


def is_recorded_past(scenario: Scenario) -> bool:
    document = scenario.document
    return "initial" in document and bool((document.get("recorded") or {}).get("generations"))


def replay_checks(episodes: Iterable[Scenario], terms: VerificationTerms) -> dict[str, ReplayCheck]:
    """Leaves out pasts that are too large, cannot be played or have no recording."""
    found: dict[str, ReplayCheck] = {}
    left = _MOST
    for scenario in episodes:
        recorded = scenario.document["recorded"]
        left -= len(scenario.document["initial"]["tasks"]) * len(recorded["generations"])
        if left < 0:
            continue
        try:
            episode = read_episode(scenario)
            _, played = play(episode, terms.registry, terms.config, may_run_code=True, keep_log=False)
        except AssignorLabError:
            continue
        if episode.recorded is not None:
            found[scenario.id] = replay_check(played, episode.recorded)
    return found


def replay_check(played: PlayedStreamsEpisode, recorded: GroupHistory) -> ReplayCheck:
    totals, known = totals_of(played, TrafficTerms()), recorded_totals(recorded)
    downtime_s = totals["unavailable_task_s"]
    is_measured = bool(recorded.probes)
    return ReplayCheck(
        totals["rebalances"],
        known.rebalances,
        totals["unavailable_without_restoring_task_s"] if downtime_s is None else downtime_s,
        None if is_measured else known.unavailable_task_s,
        is_measured or recorded.shows_restoring,
        known.unavailable_task_s if is_measured else None,
    )
