"""A group's past in two parts: the first one shows the mix of events, the second one judges the advice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import attrs

from assignment_api import AssignorLabError
from assignor_lab.advising.configurations import CLOSE, MEMBERS, STATIC, AdvisedState, Configuration, under
from assignor_lab.advising.figures import DayCost, disk_bytes_of
from assignor_lab.advising.mix import DEFAULT_MIX, Mix
from assignor_lab.capture.errors import HistoryError
from assignor_lab.capture.histories.history import DecisionHistory, is_complete, read_histories
from assignor_lab.capture.histories.history_episode import history_episode
from assignor_lab.documents.wording import plural
from assignor_lab.groups.streams_episode.playing import play
from assignor_lab.model.streams_episodes import StreamsEvent
from assignor_lab.scenarios import Scenario, scenario_from_document
from assignor_lab.scenarios.settings import Settings
from assignor_lab.simulation.streams.episode import StreamsEpisode
from assignor_lab.simulation.streams.formats.episodes import read_episode
from assignor_lab.simulation.streams.results import totals_of
from assignor_lab.simulation.streams.traffic import TrafficTerms

__all__ = ["Past", "counted_events", "mix_of_events", "past_of", "played_past", "split_past"]

#: A shorter first part, or one with fewer events, shows no frequencies.
_LEAST_MS, _LEAST_EVENTS = 86_400_000, 3
_DAY_MS = 86_400_000
#: A start this soon after a stop of the same instance is a restart, and such restarts are one deployment.
_TOGETHER_MS = 1_800_000
#: Share of instances restarted in a deployment.
_OF_A_ROLL = 0.5
_EVENTS = ("start", "stop", "crash")


@attrs.frozen(eq=False)
class Past:
    """A past.

    Args:
        mix: The mix of the first part; ``None``: it is too short.
        second: The episode of the second part; ``None``: it has no event.
        sentences: Sentences on both parts.
    """

    mix: Mix | None
    second: StreamsEpisode | None
    sentences: tuple[str, ...]


def past_of(scenarios: Sequence[Scenario], settings: Settings, timings: Mapping[str, int]) -> Past | None:
    """The past of one group; ``None`` if its states are no past.

    Args:
        settings: They replace those of the decisions.
        timings: They replace those of the settings.
    """
    decisions = [each for each in scenarios if is_complete(each)]
    if len(decisions) < 4:
        return None
    try:
        (history,) = read_histories(decisions)
    except (HistoryError, ValueError):
        return None
    moments, half = history.moments, len(decisions) // 2
    # An event in a part's first decision may lie before that part: then the next place divides the past.
    for place in sorted(range(2, len(moments) - 1), key=lambda each: abs(each - half)):
        try:
            first, second = (
                _episode(attrs.evolve(history, moments=part), settings, timings)
                for part in (moments[:place], moments[place:])
            )
        except AssignorLabError:
            continue
        return split_past(first, second)
    return None


def split_past(first: StreamsEpisode, second: StreamsEpisode) -> Past:
    notes = []
    mix = mix_of_events(first.events, first.until_ms, max(1, len(first.clients)))
    days = first.until_ms / _DAY_MS
    if mix is None:
        notes.append(
            f"the first part of the past ({days:.2g} days, {plural(_count(first), 'start or end', 'starts and ends')} "
            "of instances) is too short for frequencies of events"
        )
    else:
        notes.append(
            "a past does not show stalls that are shorter than a session: those of the default mix count "
            f"({mix.stalls_per_day:g} a day)"
        )
    is_eventful = _count(second) > 0
    if not is_eventful:
        notes.append("the second part of the past has no event, and judges nothing")
    return Past(mix, second if is_eventful else None, tuple(notes))


def _episode(history: DecisionHistory, settings: Settings, timings: Mapping[str, int]) -> StreamsEpisode:
    return read_episode(scenario_from_document(history_episode(history, timings, settings), history.place))


def _count(episode: StreamsEpisode) -> int:
    return sum(each.type in _EVENTS for each in episode.events)


def mix_of_events(events: Iterable[StreamsEvent], span_ms: int, instances: int) -> Mix | None:
    """The frequencies of events; ``None`` if the time is too short.

    Args:
        events: Starts, stops and crashes by time.
    """
    known = [each for each in events if each.type in _EVENTS]
    if span_ms < _LEAST_MS or len(known) < _LEAST_EVENTS:
        return None
    days = span_ms / _DAY_MS
    rolls, scalings = counted_events(known, instances)
    kills = sum(each.type == "crash" for each in known)
    return Mix(
        rolls_per_week=rolls / days * 7,
        scalings_per_week=scalings / days * 7,
        kills_per_month=kills / days * 30.4375,
        stalls_per_day=DEFAULT_MIX.stalls_per_day,
        stall_seconds=DEFAULT_MIX.stall_seconds,
        back_after_seconds=DEFAULT_MIX.back_after_seconds,
        source=f"the first {days:.3g} days of the past",
    )


def counted_events(events: Sequence[StreamsEvent], instances: int) -> tuple[float, float]:
    """Deployments and scalings. Single restarts cost as a part of a deployment; a start and a stop are one scaling."""
    restarts, scalings = _restarts(events)
    rolls = [each for each in _clusters(restarts) if len({event.client for event in each}) >= instances * _OF_A_ROLL]
    singles = len(restarts) - sum(map(len, rolls))
    return len(rolls) + singles / instances, scalings / 2


def _restarts(events: Sequence[StreamsEvent]) -> tuple[list[StreamsEvent], int]:
    """The stops of restarts, and the number of unmatched starts and stops."""
    stopped: dict[str, StreamsEvent] = {}
    crashed: dict[str, int] = {}
    restarts: list[StreamsEvent] = []
    others = Counter[str]()
    for each in events:
        if each.type == "stop":
            stopped[each.client] = each
        elif each.type == "crash":
            crashed[each.client] = each.at_ms
        elif each.client in stopped and each.at_ms - stopped[each.client].at_ms <= _TOGETHER_MS:
            restarts.append(stopped.pop(each.client))
        elif each.client in crashed:
            del crashed[each.client]
        else:
            others["start"] += 1
    return restarts, others["start"] + len(stopped)


def _clusters(restarts: Sequence[StreamsEvent]) -> Iterator[list[StreamsEvent]]:
    found: list[StreamsEvent] = []
    for each in sorted(restarts, key=lambda event: event.at_ms):
        if found and each.at_ms - found[-1].at_ms > _TOGETHER_MS:
            yield found
            found = []
        found.append(each)
    if found:
        yield found


def played_past(
    past: StreamsEpisode, subject: AdvisedState, configuration: Configuration, present: Configuration, seed: int
) -> DayCost:
    """Plays a part of a past under a configuration; its batches of deployments stay.

    Raises:
        AssignorLabError: a subclass, if the configuration does not allow a play.
    """
    names = tuple(past.name_of(place) for place in range(len(past.clients)))
    began = attrs.evolve(subject.state, episode=attrs.evolve(past, names=names), names=names, assigned=None)
    changed = under(configuration, present, attrs.evolve(subject, state=began))
    own = {key: value for key, value in configuration.items() if value != present[key]}
    events = tuple(_event(each, own) for each in past.events)
    episode = attrs.evolve(changed.state.episode, events=events, until_ms=past.until_ms)
    terms = changed.terms
    _, played = play(episode, terms.registry, terms.sources, terms.assignor, seed, may_run_code=True, keep_log=False)
    totals = totals_of(played, TrafficTerms())
    away = totals.unavailable_task_s
    seconds = totals.unavailable_without_restoring_task_s if away is None else away
    days = past.until_ms / _DAY_MS
    return DayCost(
        {
            "task_seconds": seconds / days,
            "worst_task_seconds": totals.worst_task_s,
            "restored_bytes": None if totals.restored_bytes is None else totals.restored_bytes / days,
            "dollars": None,
            "rebalances": totals.rebalances / days,
            "disk_bytes": disk_bytes_of(changed),
        },
        {},
        {},
    )


def _event(event: StreamsEvent, own: Mapping[str, str]) -> StreamsEvent:
    details = event.details
    if event.type == "start" and MEMBERS in own:
        details = attrs.evolve(details, instance_id=event.client if own[MEMBERS] == STATIC else None)
    if event.type == "stop" and CLOSE in own:
        details = attrs.evolve(details, leave=own[CLOSE] == "LEAVE_GROUP")
    return attrs.evolve(event, details=details)
