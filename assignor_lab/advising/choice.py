"""Paired differences of configurations, and the choice among them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from statistics import fmean, stdev

import attrs
from scipy import special

from assignment_api import AssignorLabError
from assignor_lab.advising.configurations import Configuration
from assignor_lab.advising.figures import OBJECTIVES, DayCost

__all__ = [
    "LEVEL", "AimError", "Aims", "Change", "RacedContender", "Limit", "change_of", "is_clearly_better", "pareto_front",
    "aims_of",
]  # fmt: skip

#: Confidence of the intervals.
LEVEL = 0.9
#: A smaller share of the present figure is none to act on.
_LEAST_GAIN = 0.05
#: Fewest days whose differences bound another day's.
_FEWEST_DAYS = 3
#: Widest interval, in differences, that says more than its absence.
_WIDEST = 8
_LIMIT = re.compile(r"\A([a-z_]{1,40})\s{0,9}=\s{0,9}([0-9]{1,15}(?:\.[0-9]{1,9})?(?:[eE][+]?[0-9]{1,2})?)\Z", re.ASCII)


class AimError(AssignorLabError):
    """An objective or a constraint is malformed, or its figure is unknown in this group."""


@attrs.define(eq=False)
class RacedContender:
    """A configuration and its played days.

    Args:
        days: The costs of its days so far, from day 0.
        error: The reason why it cannot be played, or ``None``.
    """

    configuration: Configuration
    days: list[DayCost] = attrs.field(factory=list)
    error: str | None = None

    def mean(self, objective: str) -> float:
        """Infinite if the figure is unknown."""
        values = [day.figures[objective] for day in self.days]
        known = [value for value in values if value is not None]
        return fmean(known) if known and len(known) == len(values) else math.inf


@attrs.frozen
class Limit:
    """A constraint.

    Args:
        most: Its largest allowed mean.
    """

    objective: str
    most: float


def aims_of(objectives: Iterable[str], limits: Iterable[str]) -> Aims:
    """Aims from texts: names of figures, and constraints such as ``disk_bytes=2e12``.

    Raises:
        AimError: if a figure is unknown, or a constraint has another form.
    """
    chosen = tuple(dict.fromkeys(objectives)) or (next(iter(OBJECTIVES)),)
    for name in chosen:
        if name not in OBJECTIVES:
            raise AimError(f"--objective {name!r:.80} is none of {', '.join(OBJECTIVES)}")
    return Aims(chosen, tuple(map(_limit, limits)))


def _limit(text: str) -> Limit:
    found = _LIMIT.match(text.strip())
    if found is None or found[1] not in OBJECTIVES:
        raise AimError(f"--at-most {text!r:.80}: write FIGURE=NUMBER; the figures are {', '.join(OBJECTIVES)}")
    return Limit(found[1], float(found[2]))


@attrs.frozen
class Change:
    """The paired change of a figure, from one configuration to another.

    Args:
        low: Lower end of its 90 % interval; ``None``: a single day.
        days: Number of compared days.
    """

    before: float
    after: float
    difference: float
    low: float | None
    high: float | None
    days: int = 0

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Bounds of the difference as shares of ``before``; ``None`` if the days are too few to bound it.

        A figure cannot fall by more than itself: a lower bound below that says that the days are too few.
        """
        low, high = self.share(self.low), self.share(self.high)
        share = self.share(self.difference)
        if low is None or high is None or share is None or self.days < _FEWEST_DAYS:
            return None
        if low < -1 or (share != 0 and high - low > _WIDEST * max(abs(share), _LEAST_GAIN)):
            return None
        return low, high

    def share(self, value: float | None) -> float | None:
        """A share of ``before``; ``None`` if that is 0."""
        return None if value is None or not self.before else value / self.before


def change_of(first: RacedContender, second: RacedContender, objective: str) -> Change | None:
    """The change on the same days; ``None`` if unknown, or without a common day."""
    pairs = [
        (before, after)
        for before, after in (
            (one.figures[objective], other.figures[objective])
            for one, other in zip(first.days, second.days, strict=False)
        )
        if before is not None and after is not None
    ]
    if not pairs:
        return None
    before, after = fmean(pair[0] for pair in pairs), fmean(pair[1] for pair in pairs)
    if len(pairs) == 1:
        return Change(before, after, after - before, None, None, 1)
    # The interval of the ratio of the means, linearised: each day's difference from the common ratio.
    ratio = after / before if before else 1.0
    error = stdev(pair[1] - ratio * pair[0] for pair in pairs) / math.sqrt(len(pairs))
    width = error * float(special.stdtrit(len(pairs) - 1, (1 + LEVEL) / 2))
    difference = after - before
    return Change(before, after, difference, difference - width, difference + width, len(pairs))


def is_clearly_better(one: RacedContender, other: RacedContender, objective: str) -> bool:
    """Less of a figure, beyond noise and by a share that matters."""
    change = change_of(other, one, objective)
    if change is None or change.high is None:
        return False
    return change.high < 0 and -change.difference >= _LEAST_GAIN * change.before


@attrs.frozen
class Aims:
    """Objectives and constraints."""

    objectives: tuple[str, ...] = ("task_seconds",)
    limits: tuple[Limit, ...] = ()

    @property
    def first(self) -> str:
        return self.objectives[0]

    def allows(self, contender: RacedContender) -> bool:
        if contender.error is not None or not contender.days:
            return False
        return all(contender.mean(limit.objective) <= limit.most for limit in self.limits)

    def ranked(self, contenders: Sequence[RacedContender]) -> list[RacedContender]:
        """The allowed contenders, best first, in a stable order.

        With several objectives, layers of the Pareto front come one after the other.
        """
        allowed = [each for each in contenders if self.allows(each)]
        if len(self.objectives) == 1:
            return sorted(allowed, key=lambda each: each.mean(self.first))
        found: list[RacedContender] = []
        while allowed:
            front = pareto_front(allowed, self.objectives)
            found += sorted(front, key=lambda each: each.mean(self.first))
            allowed = [each for each in allowed if each not in front]
        return found


def pareto_front(contenders: Sequence[RacedContender], objectives: Sequence[str]) -> list[RacedContender]:
    """The contenders that no other one equals or beats in all objectives; of equal ones the first."""
    points = [tuple(each.mean(name) for name in objectives) for each in contenders]
    return [each for place, each in enumerate(contenders) if not _is_beaten(place, points)]


def _is_beaten(place: int, points: Sequence[tuple[float, ...]]) -> bool:
    own = points[place]
    return any(
        all(theirs <= ours for theirs, ours in zip(other, own, strict=True)) and (other != own or number < place)
        for number, other in enumerate(points)
        if number != place
    )
