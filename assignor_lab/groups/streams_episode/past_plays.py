"""The plays of a recorded past: their draws, selected by the decisions of the group's own assignor, and their error.

Each draw is played twice with the group's own assignor. Before the second play, its open moments move toward the
recorded decisions (``fitted_draws``). The play whose rebalances after each event are nearer to the recorded ones
counts, and every contender plays its draw.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

import attrs

from assignment_api import AssignorLabError
from assignment_api.plugins import ConfigSources, Registry
from assignor_lab.documents.shapes import Check
from assignor_lab.documents.values import plain_document, value_of
from assignor_lab.groups.streams_episode.fitted_draws import fitted_draw
from assignor_lab.groups.streams_episode.playing import play
from assignor_lab.groups.streams_episode.shown_absence import shown_absence
from assignor_lab.model.history import GroupHistory
from assignor_lab.scenarios import Scenario, scenario_from_document
from assignor_lab.simulation.streams.actions import action_name
from assignor_lab.simulation.streams.comparison import actions_of
from assignor_lab.simulation.streams.draws import drawn_past
from assignor_lab.simulation.streams.episode import PastDraw, StreamsEpisode
from assignor_lab.simulation.streams.formats.episodes import read_episode
from assignor_lab.simulation.streams.results import RecordedTotals, recorded_totals
from assignor_lab.simulation.streams.simulate import PlayedStreamsEpisode

__all__ = ["PLAYS", "OwnPlays", "own_plays", "plays_of", "with_plays"]

#: Task to its times without an owner.
Waits = Mapping[str, Sequence[tuple[int, int]]]
#: Plays of a past by default.
PLAYS = 20
#: Tasks times generations of all plays of one contender: a larger past is played less often.
_MOST = 200_000


@attrs.frozen
class OwnPlays:
    """The plays of the group's own assignor that count, beside the recording.

    Args:
        downtime_s: Task-seconds without an owner of each play, without restoring if the recording cannot show it.
        known_downtime_s: As recorded; ``None``: the recording does not show it.
        recorded_downtime_s: Lowest and highest value under the bounds of inferred times.
        leaves_at: The event after which the plays differ most from the recording; empty without a difference.
    """

    rebalances: tuple[int, ...]
    downtime_s: tuple[float, ...]
    recorded_rebalances: int
    known_downtime_s: float | None
    recorded_downtime_s: tuple[float, ...] | None
    leaves_at: str = ""

    @property
    def error(self) -> float | None:
        """Distance of the median play from the recording, as a share of the recorded time without an owner."""
        if self.recorded_downtime_s is None or not self.recorded_downtime_s[1]:
            return None
        low, high = self.recorded_downtime_s
        found = median(self.downtime_s)
        return max(0.0, low - found, found - high) / ((low + high) / 2)


def plays_of(scenario: Scenario, wanted: int = PLAYS) -> int:
    """The number of plays of a past: fewer of a large one, and at least one."""
    recorded = scenario.document.get("recorded") or {}
    size = len(scenario.content.initial.tasks) * max(1, len(recorded.get("generations", ())))
    return max(1, min(wanted, _MOST // max(1, size)))


def with_plays(
    scenario: Scenario, registry: Registry, sources: ConfigSources, plays: int = PLAYS, seed: int = 0
) -> Scenario:
    """A recorded past with the draws that count, and the figures of the group's own assignor in them.

    One play has each event at its likeliest time. A past without a recorded decision stays as it is, and so does one
    that its own assignor cannot play.
    """
    if scenario.kind != "streams-episode" or "plays" in scenario.document:
        return scenario
    if not (scenario.document.get("recorded") or {}).get("generations"):
        return scenario
    number = plays_of(scenario, plays)
    try:
        episode = read_episode(scenario)
        found = (
            [_nearer_play(episode, PastDraw(f"{seed} {place}"), registry, sources) for place in range(number)]
            if number > 1
            else [_own_play(episode, PastDraw(""), episode, registry, sources)]
        )
    except AssignorLabError:
        return scenario
    inferred_s = (scenario.document.get("recorded") or {}).get("downtime", {}).get("bounds_s")
    own = _summary(found, episode.recorded, inferred_s)
    document = {
        **scenario.document,
        "plays": {
            "draws": [_draw_document(each.draw) for each in found if number > 1],
            "error": own.error,
            "own": plain_document(own),
        },
    }
    return scenario_from_document(document, scenario.place)


def own_plays(scenario: Scenario) -> OwnPlays | None:
    """The own plays of :func:`with_plays`; ``None`` without any."""
    own = scenario.document.get("plays", {}).get("own")
    return None if own is None else _read_plays(own)


_read_plays: Check[OwnPlays] = value_of(OwnPlays, "give a past without `plays`")


@attrs.frozen(eq=False)
class _OwnPlay:
    draw: PastDraw
    played: PlayedStreamsEpisode
    rebalances: int
    downtime_s: float
    #: Action and instance, by number of occurrence: more rebalances than recorded, and more downtime (s).
    by_event: Mapping[tuple[str, str, int], tuple[int, float]]

    @property
    def departure(self) -> int:
        return sum(abs(rebalances) for rebalances, _ in self.by_event.values())


def _nearer_play(episode: StreamsEpisode, draw: PastDraw, registry: Registry, sources: ConfigSources) -> _OwnPlay:
    first = _own_play(episode, draw, drawn_past(episode, draw), registry, sources)
    fitted = fitted_draw(episode, draw, first.played)
    if fitted == draw:
        return first
    second = _own_play(episode, fitted, drawn_past(episode, fitted), registry, sources)
    return second if second.departure <= first.departure else first


def _draw_document(draw: PastDraw) -> dict[str, Any]:
    moved = [[place, by_ms] for place, by_ms in sorted(draw.moved.items())]
    return {"seed": draw.seed, **({"moved": moved} if moved else {})}


def _own_play(
    past: StreamsEpisode, draw: PastDraw, episode: StreamsEpisode, registry: Registry, sources: ConfigSources
) -> _OwnPlay:
    _, played = play(episode, registry, sources, may_run_code=True, keep_log=False)
    history, recorded = played.history, past.recorded
    assert recorded is not None
    actions = actions_of(history)
    times = [each.at.latest_ms for each in actions]
    begins = sorted(each.since_ms for each in recorded.decisions)
    is_measured = bool(recorded.probes)
    waits = _waits(history) if is_measured else shown_absence(played, shows_restoring=recorded.shows_restoring)
    known = _waits(recorded)
    by_event: dict[tuple[str, str, int], tuple[int, float]] = {}
    ends = [*times[1:], episode.start_ms + episode.until_ms]
    for event, ours, begin, end in zip(actions, history.responses(times), times, ends, strict=True):
        action, who = action_name(event) or "", event.subject or ""
        theirs = sum(begin <= each < end for each in begins)
        away = _away_s(waits, begin, end) - _away_s(known, begin, end)
        place = sum(key[:2] == (action, who) for key in by_event)
        by_event[action, who, place] = ours.rebalances - theirs, away
    downtime_s = _away_s(waits, played.first_ms, episode.start_ms + episode.until_ms)
    return _OwnPlay(draw, played, len(history.decisions), downtime_s, by_event)


def _waits(history: GroupHistory) -> Waits:
    return {task: [(wait.begin_ms, wait.end_ms) for wait in course.waits] for task, course in history.courses.items()}


def _away_s(waits: Waits, begin_ms: int, end_ms: int) -> float:
    return sum(max(0, min(end, end_ms) - max(begin, begin_ms)) for of in waits.values() for begin, end in of) / 1000


def _summary(plays: Sequence[_OwnPlay], recorded: GroupHistory | None, inferred_s: Sequence[float] | None) -> OwnPlays:
    known = RecordedTotals(0) if recorded is None else recorded_totals(recorded)
    away_s = known.unavailable_task_s
    bounds = None
    if away_s is not None:
        low, high = inferred_s or (away_s, away_s)
        bounds = min(low, away_s), max(high, away_s)
    return OwnPlays(
        tuple(each.rebalances for each in plays),
        tuple(each.downtime_s for each in plays),
        known.rebalances,
        away_s,
        bounds,
        _leaves_at(plays, by_time=bounds is not None),
    )


def _leaves_at(plays: Sequence[_OwnPlay], *, by_time: bool) -> str:
    events = dict.fromkeys(key for each in plays for key in each.by_event)
    found: tuple[float, str] = (0.0, "")
    for action, who, place in events:
        key = (action, who, place)
        of = [each.by_event[key] for each in plays if key in each.by_event]
        more = median(abs(each[1] if by_time else each[0]) for each in of)
        if more > found[0]:
            rebalances, seconds = median(each[0] for each in of), median(each[1] for each in of)
            words = f"{action.replace('_', ' ')} of {who}" if who else action.replace("_", " ")
            shown = f"{seconds:+.0f} task-seconds" if by_time else f"{rebalances:+.0f} rebalances"
            found = more, f"{words} ({shown} until the next event)"
    return found[1]
