"""Plays of recorded pasts with the group's own assignor, compared with the recordings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import median
from typing import Any

from assignor_lab.capture.errors import HistoryError
from assignor_lab.capture.histories.episodes import played_histories
from assignor_lab.groups.streams_episode.past_plays import PLAYS, OwnPlays, own_plays, with_plays
from assignor_lab.model.bands import band
from assignor_lab.model.run_summary import PlayBand
from assignor_lab.scenarios import Scenario
from assignor_lab.scenarios.settings import Settings
from assignor_lab.verification.verified import (
    MOST_TASKS,
    ReplayCheck,
    Verification,
    VerificationTerms,
    verify,
    with_replays,
)

__all__ = ["is_recorded_past", "past_episodes", "replay_check", "verify_past"]

#: Tasks times events of all plays: larger pasts are not played for their verification alone.
_MOST = 400_000


def past_episodes(decisions: Iterable[Scenario], settings: Settings | None = None) -> list[Scenario]:
    """The episodes of some decisions' pasts; empty if the decisions form no past."""
    try:
        return [each for each in played_histories(decisions, settings=settings) if is_recorded_past(each)]
    except HistoryError:
        return []


def is_recorded_past(scenario: Scenario) -> bool:
    document = scenario.document
    return "initial" in document and bool((document.get("recorded") or {}).get("generations"))


def verify_past(
    decisions: Iterable[Scenario],
    terms: VerificationTerms,
    episodes: Iterable[Scenario],
    plays: int = PLAYS,
    seed: int = 0,
    *,
    most_tasks: int | None = MOST_TASKS,
    recorded: Mapping[str, int] | None = None,
) -> Verification:
    """The verification of decisions, then plays of the pasts of the groups whose decisions are reproduced.

    Args:
        episodes: The pasts of the decisions, and pasts that hold no input of a decision.
        plays: Most plays of a past that has none yet.
    """
    found = verify(decisions, terms, most_tasks=most_tasks, recorded=recorded)
    refused = {each.group for each in found.refused}
    return with_replays(
        found, _replay_checks((each for each in episodes if each.id not in refused), terms, plays, seed)
    )


def _replay_checks(
    episodes: Iterable[Scenario], terms: VerificationTerms, plays: int, seed: int
) -> dict[str, ReplayCheck]:
    """Leaves out pasts that are too large, cannot be played or have no recording."""
    found: dict[str, ReplayCheck] = {}
    left = _MOST
    for scenario in episodes:
        recorded = scenario.document["recorded"]
        left -= len(scenario.document["initial"]["tasks"]) * len(recorded["generations"])
        if left < 0:
            continue
        own = own_plays(with_plays(scenario, terms.registry, terms.config, plays, seed))
        if own is not None:
            found[scenario.id] = replay_check(own, recorded)
    return found


def replay_check(own: OwnPlays, recorded: Mapping[str, Any]) -> ReplayCheck:
    is_measured = bool(recorded.get("probe"))
    bounds = None if own.recorded_downtime_s is None else (own.recorded_downtime_s[0], own.recorded_downtime_s[1])
    away_s = own.known_downtime_s
    rebalances, downtime = band(own.rebalances), band(own.downtime_s)
    return ReplayCheck(
        round(median(own.rebalances)),
        own.recorded_rebalances,
        median(own.downtime_s),
        None if is_measured else away_s,
        is_measured or bool(recorded.get("downtime", {}).get("shows_restoring")),
        away_s if is_measured else None,
        PlayBand(len(own.rebalances), round(rebalances[0]), round(rebalances[1]), *downtime),
        bounds,
        own.leaves_at,
    )
