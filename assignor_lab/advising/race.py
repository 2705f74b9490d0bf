"""The race of configurations: the same days for all, and half of them drop out after each round."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

import attrs

from assignor_lab.advising.choice import AimError, Aims, RacedContender
from assignor_lab.advising.configurations import Configuration
from assignor_lab.advising.figures import DayCost
from assignor_lab.advising.space import Space

__all__ = ["LEAST_DAYS", "Play", "Player", "Race", "raced"]

#: A configuration and the number of a day.
Play = tuple[Configuration, int]
#: Plays days; one cost or reason without a cost for each, in their order.
Player = Callable[[Sequence[Play]], Iterable[DayCost | str]]
#: Rounds of single changes of the winner.
_ROUNDS = 3
#: Least gain of such a change.
_LEAST_STEP = 0.01
#: Share of the objective that a simpler configuration may cost.
_SIMPLER = 0.02
#: Fewer days give an interrupted race or judgement no result: one day has no interval.
LEAST_DAYS = 2
#: Neighbours of the winner that are played on all days.
_NEAREST = 4


@attrs.frozen
class Race:
    """A finished race.

    Args:
        contenders: All configurations, the present one first.
        days: Days of the winner and the best of the others.
        is_interrupted: Ctrl-C ended it.
    """

    contenders: tuple[RacedContender, ...]
    winner: RacedContender
    days: int
    is_interrupted: bool = False

    @property
    def present(self) -> RacedContender:
        return self.contenders[0]


class _Track:
    """Plays the days that are missing."""

    def __init__(self, play: Player) -> None:
        self._play = play
        self.contenders: dict[tuple[str, ...], RacedContender] = {}

    def contender(self, configuration: Configuration) -> RacedContender:
        return self.contenders.setdefault(tuple(configuration.values()), RacedContender(configuration))

    def run(self, contenders: Sequence[RacedContender], days: int) -> None:
        missing = [(each, day) for each in contenders if not each.error for day in range(len(each.days), days)]
        plays = [(each.configuration, day) for each, day in missing]
        for (each, _), cost in zip(missing, self._play(plays), strict=True):
            if isinstance(cost, str):
                each.error = each.error or cost
            else:
                each.days.append(cost)


def raced(space: Space, aims: Aims, play: Player, most: int, days: int, seed: int) -> Race:
    """The race.

    Each round doubles the days and keeps the better half; the present configuration stays to the end. Then single
    settings of the winner are changed as long as that is better, and changes without effect are taken back.

    Args:
        most: Number of configurations to begin with.
        days: Number of days of the last round.

    Raises:
        AimError: if no configuration meets the constraints.
        KeyboardInterrupt: if it comes before two days of two configurations are played.
    """
    track = _Track(play)
    present, *others = [track.contender(each) for each in space.configurations(most, seed)]
    try:
        winner = _winner(present, others, space, aims, track, days)
    except KeyboardInterrupt:
        return _so_far(tuple(track.contenders.values()), aims)
    return Race(tuple(track.contenders.values()), winner, days)


def _so_far(contenders: tuple[RacedContender, ...], aims: Aims) -> Race:
    """The best on the largest number of days that the present configuration and two others have."""
    present, *others = contenders
    played = sorted((len(each.days) for each in others if each.error is None), reverse=True)[:2]
    shared = min(len(present.days), *played) if played else 0
    if shared < LEAST_DAYS:
        raise KeyboardInterrupt
    ranked = aims.ranked([each for each in contenders if len(each.days) >= shared])
    return Race(contenders, ranked[0] if ranked else present, shared, is_interrupted=True)


def _winner(
    present: RacedContender, others: Sequence[RacedContender], space: Space, aims: Aims, track: _Track, days: int
) -> RacedContender:
    rest = list(others)
    played = 1
    while True:
        track.run([present, *rest], min(played, days))
        rest = aims.ranked(rest)
        if played >= days or len(rest) <= 1:
            break
        rest = rest[: max(4, math.ceil(len(rest) / 2))]
        played *= 2
    track.run([present, *rest], days)
    allowed = aims.ranked([present, *rest])
    if not allowed:
        raise AimError("no configuration meets the constraints (--at-most): give larger ones")
    winner = allowed[0]
    for _ in range(_ROUNDS):
        near = [track.contender(each) for each in space.neighbours(winner.configuration)]
        track.run(near, max(1, days // 4))
        best = aims.ranked(near)[:_NEAREST]
        track.run(best, days)
        following = aims.ranked([winner, *best])[0]
        if following is winner or following.mean(aims.first) > (1 - _LEAST_STEP) * winner.mean(aims.first):
            break
        winner = following
    return _simplified(winner, present, space, aims, track, days)


def _simplified(
    winner: RacedContender, present: RacedContender, space: Space, aims: Aims, track: _Track, days: int
) -> RacedContender:
    """The winner without changes that together cost less than :data:`_SIMPLER`."""
    most = (1 + _SIMPLER) * winner.mean(aims.first)
    for key in sorted(winner.configuration, reverse=True):
        own = present.configuration[key]
        if winner.configuration[key] == own or key in space.fixed:
            continue
        without = track.contender(space.canonical({**winner.configuration, key: own}))
        track.run([without], days)
        if aims.allows(without) and without.mean(aims.first) <= most:
            winner = without
    return winner
