"""The advice: a race on drawn days, and the judgement of its winner on days that the race did not see."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from statistics import fmean

import attrs

from assignment_api import AssignorLabError
from assignor_lab.advising.choice import (
    AimError,
    Aims,
    Change,
    RacedContender,
    change_of,
    is_clearly_better,
    pareto_front,
)
from assignor_lab.advising.configurations import Configuration
from assignor_lab.advising.days import Day, drawn_day
from assignor_lab.advising.figures import OBJECTIVES, DayCost
from assignor_lab.advising.group import AdvisedGroup
from assignor_lab.advising.mix import Mix
from assignor_lab.advising.race import LEAST_DAYS, Play, Player, Race, raced
from assignor_lab.advising.space import Space
from assignor_lab.documents.option_values import number_value, seed_value, whole_value
from assignor_lab.model.bands import band
from assignor_lab.planning.foreign import ANY, foreign_ratios, of_foreign
from assignor_lab.planning.in_processes import in_processes
from assignor_lab.planning.predicted import Range

__all__ = ["Advice", "Effort", "Runs", "advise", "by_kind", "one_play", "player"]

#: Calls a function with the numbers below a count, and yields the results in order.
Runs = Callable[[Callable[[int], DayCost | str], int], Iterable[DayCost | str]]

#: First number of the judgement's days.
_UNSEEN = 1_000_000
#: Upper end of a promise beyond the days: a machine with other work is slower than all of them.
_LATER = 0.1
#: Most configurations in a short table.
_SHOWN = 10


def _configurations(given: object) -> int:
    return whole_value("--configurations", given, 2, 5_000)


def _days(given: object) -> int:
    return whole_value("--days", given, 2, 1_000)


def _hours(given: object) -> float:
    return number_value("--hours", given, 1, 168)


@attrs.frozen
class Effort:
    """The effort of a race.

    Args:
        configurations: Most configurations to begin with.
        days: Days of the last round, and of the judgement.
        hours: Length of a day.

    Raises:
        OptionValueError: for a number outside the limits of its option.
    """

    configurations: int = attrs.field(default=60, converter=_configurations)
    days: int = attrs.field(default=8, converter=_days)
    hours: float = attrs.field(default=24.0, converter=_hours)
    seed: int = attrs.field(default=0, converter=seed_value)


@attrs.frozen(eq=False)
class Advice:
    """The advice.

    If Ctrl-C came before two days were judged, ``present`` and ``winner`` have the days of the race.

    Args:
        present: The present configuration on the judgement's days.
        winner: The winner of the race on the same days.
        front: The Pareto front, by the first objective.
        replayed: ``present`` and ``winner`` on the second part of the past, or ``None``.
        is_interrupted: Ctrl-C ended the race or the judgement.
    """

    group: AdvisedGroup
    mix: Mix
    space: Space
    aims: Aims
    effort: Effort
    race: Race
    present: RacedContender
    winner: RacedContender
    front: tuple[RacedContender, ...]
    replayed: tuple[RacedContender, RacedContender] | None = None
    is_interrupted: bool = False

    @property
    def is_judged(self) -> bool:
        """The figures are those of unseen days."""
        return self.present is not self.race.present

    @property
    def changes(self) -> Mapping[str, str]:
        """Setting to its advised value, for changed settings."""
        if self.winner.configuration == self.present.configuration or not self.is_gain:
            return {}
        own = self.present.configuration
        return {key: value for key, value in self.winner.configuration.items() if value != own[key]}

    @property
    def shown(self) -> list[RacedContender]:
        """Contenders of a short table: the front, or the best by the only objective, and the present one."""
        best = list(self.front)
        if len(self.aims.objectives) == 1:
            finished = [each for each in self.race.contenders if len(each.days) >= self.race.days]
            best = self.aims.ranked(finished)
        best = best[:_SHOWN]
        return best if self.race.present in best else [*best, self.race.present]

    @property
    def is_gain(self) -> bool:
        """The winner is clearly better on unseen days, or the present settings break a constraint."""
        if not self.aims.allows(self.winner) or self.is_worse_in_past:
            return False
        if not self.aims.allows(self.present):
            return True
        return is_clearly_better(self.winner, self.present, self.aims.first)

    @property
    def is_worse_in_past(self) -> bool:
        if self.replayed is None:
            return False
        present, winner = self.replayed
        return winner.error is not None or is_clearly_better(present, winner, self.aims.first)

    def in_past(self, objective: str) -> Change | None:
        """``None`` without a past."""
        return None if self.replayed is None else change_of(*self.replayed, objective)

    def raced(self, objective: str) -> Change | None:
        return change_of(self.race.present, self.race.winner, objective)

    def judged(self, objective: str) -> Change | None:
        return change_of(self.present, self.winner, objective)


def by_kind(contender: RacedContender) -> dict[str, float]:
    """Kind of event to the mean task-seconds of one."""
    kinds = contender.days[0].by_kind if contender.days else {}
    return {kind: fmean(day.by_kind[kind] for day in contender.days) for kind in kinds}


def promise(contender: RacedContender, kind: str) -> Range:
    """Task-seconds of one event: the mean of the days, and a 90 % interval as in a plan of a group without a past."""
    costs = [day.by_kind[kind] for day in contender.days]
    return of_foreign(Range(fmean(costs), *band(costs)), "task_seconds", foreign_ratios(ANY), _LATER)


def advise(group: AdvisedGroup, mix: Mix, space: Space, aims: Aims, effort: Effort, play: Player) -> Advice:
    """The advice for a group; Ctrl-C ends it with the results so far.

    Raises:
        AimError: if an objective or a constraint is unknown in this group, or no configuration meets the constraints.
        AssignorLabError: if the present configuration cannot be played.
        KeyboardInterrupt: if it comes before two days of two configurations are played.
    """
    race = raced(space, aims, play, effort.configurations, effort.days, effort.seed)
    if race.present.error is not None:
        raise AimError(f"the present configuration cannot be played: {race.present.error}")
    _check_known(aims, race.present)
    finished = [each for each in race.contenders if aims.allows(each) and len(each.days) >= race.days]
    front = tuple(sorted(pareto_front(finished, aims.objectives), key=lambda each: each.mean(aims.first)))
    present, winner, replayed = race.present, race.winner, None
    is_interrupted = race.is_interrupted
    if not is_interrupted:
        present, winner, is_interrupted = _judged(race, effort, play)
    if group.judges and winner is not present and not is_interrupted:
        try:
            replayed = (
                _replayed(group, space.present, effort, present),
                _replayed(group, space.present, effort, winner),
            )
        except KeyboardInterrupt:
            is_interrupted = True
    return Advice(group, mix, space, aims, effort, race, present, winner, front, replayed, is_interrupted)


def _judged(race: Race, effort: Effort, play: Player) -> tuple[RacedContender, RacedContender, bool]:
    """The present configuration and the winner on unseen days, and true if Ctrl-C came earlier.

    Without two such days they are those of the race.
    """
    present = RacedContender(race.present.configuration)
    winner = present if race.winner is race.present else RacedContender(race.winner.configuration)
    both = [present] if winner is present else [present, winner]
    judged = [(each, _UNSEEN + day) for day in range(effort.days) for each in both]
    is_interrupted = False
    try:
        costs = play([(each.configuration, day) for each, day in judged])
        for (each, _), cost in zip(judged, costs, strict=True):
            if isinstance(cost, str):
                each.error = cost
            else:
                each.days.append(cost)
    except KeyboardInterrupt:
        is_interrupted = True
        if min(len(each.days) for each in both) < LEAST_DAYS:
            return race.present, race.winner, True
    return present, winner, is_interrupted


def _replayed(group: AdvisedGroup, present: Configuration, effort: Effort, contender: RacedContender) -> RacedContender:
    """The second part of the past, once for each day of the effort."""
    made = RacedContender(contender.configuration)
    try:
        for number in range(effort.days):
            made.days.append(group.replayed(contender.configuration, present, effort.seed + number))
    except AssignorLabError as error:
        made.error = str(error)
    return made


def _check_known(aims: Aims, present: RacedContender) -> None:
    for name in (*aims.objectives, *(limit.objective for limit in aims.limits)):
        if any(day.figures[name] is None for day in present.days):
            raise AimError(
                f"{OBJECTIVES[name].words} ({name}) is unknown in this group: give sizes with --workload, and racks "
                "with --racks"
            )


def player(
    group: AdvisedGroup,
    mix: Mix,
    space: Space,
    effort: Effort,
    processes: int,
    on_play: Callable[[], None] = lambda: None,
    runs: Runs | None = None,
) -> Player:
    """Plays days.

    Args:
        processes: Number of processes of this machine; results do not depend on it.
        on_play: Called after each play.
        runs: Runs the plays elsewhere, with the same results; ``None``: in ``processes``.
    """

    def play(plays: Sequence[Play]) -> Iterator[DayCost | str]:
        work = partial(_numbered, group, mix, space.present, effort, plays)
        for cost in in_processes(work, len(plays), processes) if runs is None else runs(work, len(plays)):
            on_play()
            yield cost

    return play


def _numbered(
    group: AdvisedGroup, mix: Mix, present: Configuration, effort: Effort, plays: Sequence[Play], number: int
) -> DayCost | str:
    configuration, day = plays[number]
    return one_play(group, mix, present, effort, configuration, day)


def one_play(
    group: AdvisedGroup, mix: Mix, present: Configuration, effort: Effort, configuration: Configuration, number: int
) -> DayCost | str:
    """The cost of one day, or the reason why there is none."""
    seed = f"{effort.seed}-{number}"
    day: Day = drawn_day(mix, group.instances, effort.hours, seed)
    try:
        return group.played(day, mix, configuration, present, seed)
    except AssignorLabError as error:
        return str(error)
