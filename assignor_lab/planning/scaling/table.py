"""The table of replica counts: the plays of each count, its placement, and the lag that follows.

A count is compared with the group that does not scale: the same input, the same lag at the beginning, and the present
placement. Without input rates or the rate of a thread, only shares are known, and no lag.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import ceil, inf
from statistics import median

import attrs

from assignment_api import AssignorLabError
from assignor_lab.documents.wording import plural
from assignor_lab.planning.making import PlanError
from assignor_lab.planning.measured import now_and_later_of
from assignor_lab.planning.predicted import Range, RestlessGroupError, range_of
from assignor_lab.planning.scaling.plays import ScaledGroup, ScalingPlay, Thread, tasks_by_instance
from assignor_lab.planning.scaling.queues import LagCurve, lag_of
from assignor_lab.planning.scaling.rates import Capacity, InputCurve

__all__ = [
    "BEHIND", "NEVER", "NO_GAIN", "PRESENT", "UNKNOWN", "USEFUL", "WASTED", "WORSE", "Forecast", "Placement",
    "ScalingRow", "ScalingTable", "scaling_table",
]  # fmt: skip

#: Verdicts on a count.
PRESENT, USEFUL, WASTED, WORSE, NO_GAIN, NEVER, UNKNOWN, BEHIND = (
    "present", "useful", "wasted", "worse", "no gain", "not in time", "unknown", "falls behind",
)  # fmt: skip
#: Two busiest threads are equally busy within this share of their load.
_EQUAL = 0.005
#: A count has less lag than another one if the sum over time is less by this share.
_LESS = 0.02
#: A lag of less than this share of a second's input is none.
_LITTLE_S = 0.05
#: Intervals times tasks of a long trace, and the plays whose lag is computed then.
_LONG, _FEW = 20_000, 3


@attrs.frozen(eq=False)
class Forecast:
    """The terms of the lag.

    Args:
        lag: Waiting records (or bytes) of each task at the beginning.
        until_s: End of the comparison, after the begin of the scaling.
    """

    curve: InputCurve
    capacity: Capacity
    lag: tuple[float, ...]
    until_s: float


@attrs.frozen
class Placement:
    """The tasks of a group in the end.

    Args:
        tasks: The fewest and the most tasks of an instance with tasks.
        idle: Instances without an active task.
        idle_threads: Threads without one, of all instances.
        busiest: Load of the busiest thread as a share of the group's.
        alone: The task of the busiest thread, if it has one only.
    """

    tasks: tuple[int, int]
    idle: int
    idle_threads: int
    busiest: float
    alone: str | None

    @property
    def speed(self) -> float:
        """The group's throughput, in threads that have equal work."""
        return 1 / self.busiest if self.busiest else inf


@attrs.frozen
class ScalingRow:
    """A count.

    Args:
        now: Task-seconds away of absences that begin with the scaling, as in a plan of one count.
        later: The same for those of later rebalances.
        ready_s: Until every task runs again after the absences of now.
        rest_s: Until the group is at rest; ``None``: in some play it is not.
        throughput: Largest input that the group keeps up with, in the unit of the rates; ``None``: unknown.
        break_even_s: Until the lag is lower than without scaling, and stays so; ``None``: unknown, or not in time.
        worst_lag: The largest lag; ``None``: unknown.
        same_as: A smaller count whose busiest thread is as busy.
        lag_seconds: Sum of the lag over time, in records (or bytes) times seconds; ``None``: unknown.
    """

    count: int
    placement: Placement
    verdict: str
    now: Range | None = None
    later: Range | None = None
    worst_task_s: Range | None = None
    ready_s: Range | None = None
    rest_s: Range | None = None
    rebalances: Range | None = None
    throughput: float | None = None
    break_even_s: Range | None = None
    worst_lag: float | None = None
    same_as: int | None = None
    lag_seconds: float | None = None


@attrs.frozen
class ScalingTable:
    """All counts.

    Args:
        recommended: The count to choose; ``None``: unknown, or the present one.
        useless: The cause if no larger count of the table helps; ``None``: some count helps, or there is none.
        needed: Largest input of all tasks together; ``None``: unknown.
    """

    unit: str
    task: str
    thread: str
    present: ScalingRow
    rows: tuple[ScalingRow, ...]
    recommended: int | None
    useless: str | None
    needed: float | None
    rates_unit: str | None
    is_behind: bool
    tasks: int
    is_weighed: bool
    assumptions: tuple[str, ...] = ()
    not_played: Mapping[int, str] = attrs.field(factory=dict)

    @property
    def is_forecast(self) -> bool:
        return self.present.throughput is not None

    def row(self, count: int) -> ScalingRow:
        return next(each for each in (self.present, *self.rows) if each.count == count)


def scaling_table(
    group: ScaledGroup,
    counts: Sequence[int],
    plays: Callable[[int], Iterator[ScalingPlay]],
    weights: Mapping[str, float] | None,
    forecast: Forecast | None,
    assumptions: Sequence[str] = (),
) -> ScalingTable:
    """The table.

    Args:
        counts: The counts; the present one is a row of its own.
        plays: The plays of a count.
        weights: Task to its share of the input; ``None``: unknown, each task counts the same.

    Raises:
        PlanError: if no count can be played.
        RestlessGroupError: if the group does not come to rest before it scales.
    """
    loads = dict.fromkeys(group.tasks, 1.0) if weights is None else dict(weights)
    failed: dict[int, str] = {}
    lag_without: LagCurve | None = None
    made: dict[int, list[ScalingPlay]] = {}
    for count in counts:
        if count != len(group.names):
            try:
                made[count] = list(plays(count))
            except AssignorLabError as error:
                if len(counts) == 1 or isinstance(error, RestlessGroupError):
                    raise
                failed[count] = str(error)
    if not made:
        raise PlanError(
            next(
                iter(failed.values()),
                f"--to: the group has {plural(len(group.names), group.unit)} already: give others",
            )
        )
    before = next(iter(made.values()))[0].placed(at_end=False)
    if forecast is not None:
        stays = {task: [(0.0, inf, thread)] for task, thread in before.items()}
        lag_without = _lag(stays, forecast)
    placement = _placement(before, loads, len(group.names), group.threads)
    present = ScalingRow(
        len(group.names), placement, PRESENT,
        throughput=_throughput(placement, forecast),
        worst_lag=None if lag_without is None else max(lag_without.lags),
        lag_seconds=None if lag_without is None else lag_without.lag_seconds,
    )  # fmt: skip
    rows = [_row(count, of_count, loads, forecast, lag_without) for count, of_count in made.items()]
    needed = None if forecast is None else max(forecast.curve.totals)
    rows = _judged(present, rows, needed)
    is_weighed = max(loads.values()) > min(loads.values()) * (1 + _EQUAL)
    useless = _useless(group, present, rows, loads, is_weighed=is_weighed)
    is_behind = (
        forecast is not None
        and lag_without is not None
        and (
            sum(forecast.lag) > _LITTLE_S * (needed or 0)
            or lag_without.lags[-1] > _LITTLE_S * (needed or 0) + sum(forecast.lag)
        )
    )
    recommended = _recommended(present, rows, needed, is_behind=is_behind)
    return ScalingTable(
        group.unit, group.task, group.thread, present, tuple(rows), recommended, useless, needed,
        None if forecast is None else forecast.curve.unit, is_behind, len(group.tasks), is_weighed,
        tuple(assumptions), failed,
    )  # fmt: skip


def _lag(owned: Mapping[str, Sequence[tuple[float, float, Thread]]], forecast: Forecast) -> LagCurve:
    return lag_of(owned, forecast.curve, forecast.capacity.per_s, forecast.lag, forecast.until_s)


def _placement(placed: Mapping[str, Thread], loads: Mapping[str, float], count: int, threads: int) -> Placement:
    by_thread: defaultdict[Thread, float] = defaultdict(float)
    for task, thread in placed.items():
        by_thread[thread] += loads.get(task, 0.0)
    tasks = tasks_by_instance(placed)
    total = sum(loads.values())
    if not by_thread or not total:
        return Placement((0, 0), count, threads, 0.0, None)
    busiest = max(by_thread, key=by_thread.__getitem__)
    own = [task for task, thread in placed.items() if thread == busiest]
    return Placement(
        (min(tasks.values()), max(tasks.values())),
        count - len(tasks),
        max(0, threads - len(by_thread)),
        by_thread[busiest] / total,
        own[0] if len(own) == 1 else None,
    )


def _throughput(placement: Placement, forecast: Forecast | None) -> float | None:
    if forecast is None or not placement.busiest:
        return None
    return placement.speed * forecast.capacity.per_s


def _row(
    count: int,
    plays: Sequence[ScalingPlay],
    loads: Mapping[str, float],
    forecast: Forecast | None,
    without: LagCurve | None,
) -> ScalingRow:
    placements = sorted(
        (_placement(play.placed(at_end=True), loads, count, play.threads) for play in plays),
        key=lambda each: each.busiest,
    )
    placement = placements[len(placements) // 2]
    parts = [_parts(play) for play in plays]
    rests = [play.cost.rest_seconds - play.begin_s for play in plays if play.cost.rest_seconds is not None]
    evens: list[float | None] = []
    worst: list[float] = []
    gains: list[float] = []
    sums: list[float] = []
    if forecast is not None and without is not None:
        # The lag of a long trace is computed for some plays only.
        is_long = len(forecast.curve.times_s) * len(forecast.lag) > _LONG
        for play in plays[:_FEW] if is_long else plays:
            scaled = _lag(play.owned, forecast)
            evens.append(_break_even(scaled, without, forecast))
            worst.append(max(scaled.lags))
            sums.append(scaled.lag_seconds)
            gains.append(without.lags[-1] - scaled.lags[-1])
    known = [each for each in evens if each is not None]
    verdict = UNKNOWN
    if forecast is not None:
        little = _LITTLE_S * max(forecast.curve.totals)
        if len(known) * 2 > len(evens):
            verdict = USEFUL
        elif median(gains) < -little:
            verdict = WORSE
        else:
            verdict = NO_GAIN
    return ScalingRow(
        count,
        placement,
        verdict,
        range_of([now for now, _, _ in parts]),
        range_of([later for _, later, _ in parts]),
        range_of(
            [
                play.cost.total.worst_task_seconds if not play.begin_s else play.cost.steps[-1].worst_task_seconds
                for play in plays
            ]
        ),
        range_of([ready for _, _, ready in parts]),
        range_of(rests) if len(rests) == len(plays) else None,
        range_of([float(play.cost.steps[-1].rebalances) for play in plays]),
        _throughput(placement, forecast),
        range_of(known) if verdict == USEFUL else None,
        median(worst) if worst else None,
        lag_seconds=median(sums) if sums else None,
    )


def _parts(play: ScalingPlay) -> tuple[float, float, float]:
    """Task-seconds away now, and later, as for one count; and the seconds until every task runs."""
    now, later = now_and_later_of(play.cost, play.begin_s)
    ready = max([play.cost.duration_seconds, *(end for _, end in now)])
    return sum(end - begin for begin, end in now), sum(end - begin for begin, end in later), ready - play.begin_s


def _break_even(scaled: LagCurve, without: LagCurve, forecast: Forecast) -> float | None:
    """Seconds from which the lag is lower than without scaling, up to the end; ``None``: it is not lower then."""
    little = _LITTLE_S * max(forecast.curve.totals)
    times = sorted({*scaled.times_s, *without.times_s})
    gains = [without.at(time) - scaled.at(time) for time in times]
    if gains[-1] <= little:
        # Both have worked off their lag: the count helps if its lag over time is lower.
        return _worked_off_sooner(times, gains, little) if without.lag_seconds > scaled.lag_seconds + little else None
    place = max((place for place, gain in enumerate(gains) if gain <= 0), default=0)
    return _crossing(times, gains, place)


def _worked_off_sooner(times: Sequence[float], gains: Sequence[float], little: float) -> float | None:
    """The last time at which the lag becomes lower, before both are worked off."""
    lower = [place for place, gain in enumerate(gains) if gain > little]
    if not lower:
        return None
    place = max((place for place in range(lower[-1]) if gains[place] <= 0), default=0)
    return _crossing(times, gains, place)


def _crossing(times: Sequence[float], gains: Sequence[float], place: int) -> float:
    if place + 1 >= len(times):
        return times[-1]
    low, high = gains[place], gains[place + 1]
    if high <= low:
        return times[place]
    return times[place] + (times[place + 1] - times[place]) * max(0.0, -low) / (high - low)


def _judged(present: ScalingRow, rows: Sequence[ScalingRow], needed: float | None) -> list[ScalingRow]:
    """Marks counts whose busiest thread is as busy as that of a smaller count, and that have no less lag."""
    judged: list[ScalingRow] = []
    for row in sorted(rows, key=lambda each: each.count):
        smaller = sorted((present, *judged), key=lambda each: each.count)
        same = next(
            (
                each
                for each in smaller
                if each.count < row.count and each.placement.busiest <= row.placement.busiest * (1 + _EQUAL)
            ),
            None,
        )
        row = attrs.evolve(row, same_as=None if same is None else same.count)
        if same is not None and row.verdict in (USEFUL, NO_GAIN, UNKNOWN) and not _has_less_lag(row, same):
            row = attrs.evolve(row, verdict=WASTED)
        elif row.verdict == UNKNOWN and row.count > present.count:
            row = attrs.evolve(row, verdict=USEFUL)
        elif row.verdict == WORSE and needed is not None and row.throughput is not None and row.throughput < needed:
            row = attrs.evolve(row, verdict=BEHIND if row.count < present.count else WORSE)
        judged.append(row)
    return judged


def _has_less_lag(row: ScalingRow, than: ScalingRow) -> bool:
    """True if threads other than the busiest ones work off clearly more than with another count."""
    if row.verdict != USEFUL or row.lag_seconds is None or than.lag_seconds is None:
        return False
    return row.lag_seconds < than.lag_seconds * (1 - _LESS)


def _useless(
    group: ScaledGroup,
    present: ScalingRow,
    rows: Sequence[ScalingRow],
    loads: Mapping[str, float],
    *,
    is_weighed: bool,
) -> str | None:
    larger = [row for row in rows if row.count > present.count]
    if not larger or any(row.placement.busiest < present.placement.busiest * (1 - _EQUAL) for row in larger):
        return None
    if len(group.tasks) == 1:
        return f"the group has one {group.task}, and only one {group.thread} can run it: {group.remedy}"
    alone = present.placement.alone
    if alone is not None and not is_weighed:
        return (
            f"each {group.thread} has at most one of the {plural(len(group.tasks), group.task)} already: {group.remedy}"
        )
    if alone is not None:
        share = loads[alone] / sum(loads.values())
        return (
            f"{group.task} {alone} has {share:.0%} of the input, and a {group.thread} of its own already: one "
            f"{group.task} cannot be divided"
        )
    threads = round(max(row.count for row in larger) * group.threads / len(group.names))
    least = ceil(len(group.tasks) / threads)
    if not is_weighed and least / len(group.tasks) >= present.placement.busiest * (1 - _EQUAL):
        return (
            f"{plural(len(group.tasks), group.task)} on up to {plural(threads, group.thread)} leave at least {least} "
            f"on one {group.thread}, as now"
        )
    return (
        f"the busiest {group.thread} keeps {present.placement.busiest:.0%} of the work under this assignor with each "
        "count of the table"
    )


def _recommended(
    present: ScalingRow, rows: Sequence[ScalingRow], needed: float | None, *, is_behind: bool
) -> int | None:
    if needed is None or present.throughput is None:
        return None
    keeps_up = [row for row in rows if (row.throughput or 0) >= needed]
    if present.throughput >= needed and not is_behind:
        smaller = [row for row in keeps_up if row.count < present.count]
        return min((row.count for row in smaller), default=present.count)
    even = [row for row in keeps_up if row.break_even_s is not None and row.verdict == USEFUL]
    if even:
        soonest = min(row.break_even_s.median for row in even if row.break_even_s is not None)
        return min(
            row.count for row in even if row.break_even_s is not None and row.break_even_s.median <= 1.25 * soonest + 5
        )
    if present.throughput >= needed:
        return present.count
    if keeps_up:
        return min(row.count for row in keeps_up)
    helps = [row for row in rows if row.verdict == USEFUL]
    if not helps:
        return present.count
    most = max(row.throughput or 0 for row in helps)
    return min(row.count for row in helps if (row.throughput or 0) >= most * (1 - _EQUAL))
