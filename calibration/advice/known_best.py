"""Advice on generated groups, compared with the best of all configurations on many other days."""

from __future__ import annotations

import random
from itertools import islice

import attrs

from assignment_api.plugins import Registry
from assignor_lab.advising.advice import Effort, advise, player
from assignor_lab.advising.choice import Aims, RacedContender, change_of
from assignor_lab.advising.configurations import BATCH, CLOSE, MEMBERS, SESSION, STANDBYS, AdvisedState
from assignor_lab.advising.figures import DayCost
from assignor_lab.advising.mix import Mix
from assignor_lab.advising.past import mix_of_events, played_past
from assignor_lab.advising.space import Space, space_of
from assignor_lab.advising.streams_group import AdvisedStreamsGroup
from assignor_lab.model.streams_episodes import EventDetails, StreamsEvent
from assignor_lab.simulation.streams.episode import StreamsEpisode
from calibration.advice.groups import drawn_document, generated_group

__all__ = ["Judged", "JudgedPast", "drawn_mix", "judged_group", "judged_past"]

#: First day of the exhaustive play: the race and its judgement have others.
_OTHER_DAYS = 2_000_000
_DAY_MS = 86_400_000
_FREE = (MEMBERS, CLOSE, SESSION, STANDBYS, BATCH)
_OBJECTIVE = "task_seconds"


@attrs.frozen
class Judged:
    """Advice on a group with a known best configuration; task-seconds a day.

    Args:
        is_best: The advice is the best, or within noise of it.
    """

    seed: int
    present: float
    advised: float
    best: float
    is_best: bool


@attrs.frozen
class JudgedPast:
    """Advice from the first part of a past, on its second part; task-seconds a day.

    Args:
        is_worse: The advice is worse beyond its interval.
    """

    seed: int
    present: float
    advised: float
    is_worse: bool


def drawn_mix(seed: int) -> Mix:
    drawn = random.Random(f"mix {seed}")  # noqa: S311 - a simulation, not a secret
    return Mix(
        rolls_per_week=drawn.choice([1.0, 3.0, 10.0]),
        scalings_per_week=drawn.choice([0.0, 1.0]),
        kills_per_month=drawn.choice([1.0, 8.0]),
        stalls_per_day=drawn.choice([0.5, 4.0]),
        stall_seconds=drawn.choice([4.0, 15.0]),
    )


def _space(subject: AdvisedState, mix: Mix) -> Space:
    whole = space_of(subject, mix, (4, 3))
    own = [each for each in whole.dimensions if each.key in _FREE]
    limited = [attrs.evolve(each, values=tuple(islice(each.values, 3))) for each in own]
    return Space(tuple(limited), {})


def judged_group(registry: Registry, seed: int, days: int, processes: int) -> Judged:
    """The advice for a generated group, judged by all of its configurations.

    Args:
        days: Days of the race, and of the exhaustive play.
    """
    document, start_ms = drawn_document(seed)
    subject = generated_group(registry, document, start_ms=start_ms)
    mix = drawn_mix(seed)
    space = _space(subject, mix)
    effort = Effort(64, days, 24.0, seed)
    play = player(AdvisedStreamsGroup(subject), mix, space, effort, processes)
    advice = advise(AdvisedStreamsGroup(subject), mix, space, Aims(), effort, play)
    everything = [RacedContender(each) for each in space.configurations(10_000, 0)]
    plays = [(each, _OTHER_DAYS + day) for each in everything for day in range(days)]
    costs = play([(each.configuration, day) for each, day in plays])
    for (each, _), cost in zip(plays, costs, strict=True):
        if isinstance(cost, DayCost):
            each.days.append(cost)
    best = min(everything, key=lambda each: each.mean(_OBJECTIVE))
    chosen = {**space.present, **advice.changes}
    (advised,) = (each for each in everything if each.configuration == chosen)
    change = change_of(best, advised, _OBJECTIVE)
    # As in the choice itself, less than 5 % is no difference.
    is_best = change is None or change.low is None or change.low <= 0 or change.difference < 0.05 * change.before
    return Judged(seed, everything[0].mean(_OBJECTIVE), advised.mean(_OBJECTIVE), best.mean(_OBJECTIVE), is_best)


def judged_past(registry: Registry, seed: int, days: int, processes: int) -> JudgedPast:
    """The advice from the first week of a generated past, judged by its second week.

    Args:
        days: Days of the race, and plays of the second week.
    """
    document, start_ms = drawn_document(seed)
    subject = generated_group(registry, document, start_ms=start_ms)
    names = sorted(subject.state.names)
    first, second = (_week(names, drawn_mix(seed), f"{seed}-{part}", start_ms) for part in (1, 2))
    mix = mix_of_events(first, 7 * _DAY_MS, len(names)) or Mix()
    space = _space(subject, mix)
    effort = Effort(64, days, 24.0, seed)
    advice = advise(
        AdvisedStreamsGroup(subject),
        mix,
        space,
        Aims(),
        effort,
        player(AdvisedStreamsGroup(subject), mix, space, effort, processes),
    )
    episode: StreamsEpisode = attrs.evolve(subject.state.episode, events=second, until_ms=7 * _DAY_MS)
    chosen = {**space.present, **advice.changes}
    present, advised = (
        RacedContender(each, [played_past(episode, subject, each, space.present, number) for number in range(days)])
        for each in (space.present, chosen)
    )
    change = change_of(present, advised, _OBJECTIVE)
    is_worse = change is not None and change.low is not None and change.low > 0
    return JudgedPast(seed, present.mean(_OBJECTIVE), advised.mean(_OBJECTIVE), is_worse)


def _week(names: list[str], mix: Mix, seed: str, start_ms: int) -> tuple[StreamsEvent, ...]:
    drawn = random.Random(f"week {seed}")  # noqa: S311 - a simulation, not a secret
    moments = sorted(
        (drawn.uniform(0.0, 7 * _DAY_MS - 7_200_000), kind)
        for kind, per_day in mix.per_day.items()
        if kind != "scaling"
        for _ in range(_poisson(drawn, 7 * per_day))
    )
    made: list[StreamsEvent] = []
    free_ms = 60_000
    for moment, kind in moments:
        at_ms = max(round(moment), free_ms)
        if kind == "roll":
            for name in names:
                made += [
                    StreamsEvent(at_ms, "stop", name),
                    StreamsEvent(at_ms + 2_000, "start", name, EventDetails(startup_ms=start_ms)),
                ]
                at_ms += 120_000
        else:
            name = drawn.choice(names)
            length_ms = round(1000 * mix.stall_seconds * drawn.uniform(0.3, 3))
            if kind == "stall":
                made.append(StreamsEvent(at_ms, "pause", name, EventDetails(for_ms=length_ms)))
            else:
                made += [
                    StreamsEvent(at_ms, "crash", name),
                    StreamsEvent(at_ms + 10_000, "start", name, EventDetails(startup_ms=start_ms)),
                ]
        free_ms = at_ms + 180_000
    return tuple(made)


def _poisson(drawn: random.Random, mean: float) -> int:
    count, passed = 0, drawn.expovariate(1.0)
    while passed < mean:
        count += 1
        passed += drawn.expovariate(1.0)
    return count
