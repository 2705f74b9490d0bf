"""The answer to ``plan SOURCE scale`` with several counts: what is known of the input, and the table."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

import attrs

from assignor_lab.planning.making import PlanError
from assignor_lab.planning.scaling.counts import counts_within
from assignor_lab.planning.scaling.days import ScalingSteps, TraceCost, played_day
from assignor_lab.planning.scaling.load_file import LoadTrace, curve_of
from assignor_lab.planning.scaling.plays import ScaledGroup, ScalingPlay
from assignor_lab.planning.scaling.policies import ScalingPolicy, constant_policy, kedas_default, parse_policy
from assignor_lab.planning.scaling.rates import BYTES, RECORDS, Capacity, InputCurve, constant_input
from assignor_lab.planning.scaling.table import Forecast, ScalingTable, scaling_table

__all__ = [
    "DayPlayer", "InputTerms", "KnownInput", "ScalingAnswer", "day_player", "known_input", "parse_capacity",
    "scaling_answer",
]  # fmt: skip

#: The comparison with the group that does not scale: with a constant input, and at most with a trace.
_HORIZON_S, _LONGEST_S = 6 * 3600.0, 7 * 86_400.0
_CAPACITY = re.compile(r"\A([0-9]{1,12}(?:\.[0-9]{1,6})?)\s?(B|kB|KiB|MB|MiB)?", re.ASCII)
_BYTES: Mapping[str, float] = {"B": 1, "kB": 1e3, "KiB": 1024, "MB": 1e6, "MiB": 1024.0**2}
_RATES = "the input (--load FILE, input_bytes_per_s with --workload, or record with --sample-every)"
_CAPACITY_REMEDY = "the input that one thread processes in a second (--capacity)"
_DAYS = (
    "a scaler sees records as lag until their offsets are committed; the youngest instances leave first; a scaling "
    "that begins before the last one is over begins from a group at rest"
)


@attrs.frozen
class InputTerms:
    """What the command gives about the input.

    Args:
        capacity: Input that one thread processes in a second; ``None``: unknown.
        lag: Waiting records of the whole group; ``None``: those of the state, or none.
        trace: The input over time; ``None``: the state's rates.
    """

    capacity: Capacity | None = None
    lag: float | None = None
    trace: LoadTrace | None = None


@attrs.frozen
class KnownInput:
    """What is known of the input.

    Args:
        weights: Task to its share; ``None``: unknown.
        curve: ``None``: unknown.
        lags: Waiting input of each task, in the order of the tasks.
        remedies: Options that give what is unknown.
    """

    weights: Mapping[str, float] | None
    curve: InputCurve | None
    lags: tuple[float, ...]
    notes: tuple[str, ...]
    remedies: tuple[str, ...]


@attrs.frozen
class ScalingAnswer:
    """The answer.

    Args:
        restless: A sentence on the known loop of a group that never rests.
    """

    source: str
    counts: tuple[int, ...]
    plays: int
    seed: int
    table: ScalingTable
    remedies: tuple[str, ...]
    assumptions: tuple[str, ...]
    days: tuple[TraceCost, ...] = ()
    restless: str | None = None


def parse_capacity(text: str) -> Capacity:
    """``500`` are records in a second, ``2MB`` bytes.

    Raises:
        PlanError: if it is neither, or 0.
    """
    found = _CAPACITY.fullmatch(text.strip())
    if found is None or not float(found[1]):
        raise PlanError(f"--capacity {text!r:.40}: write records per second, such as 500, or bytes, such as 2MB")
    unit = found[2]
    return Capacity(float(found[1]) * _BYTES.get(unit or "B", 1), RECORDS if unit is None else BYTES)


def known_input(group: ScaledGroup, terms: InputTerms) -> KnownInput:
    """What is known of a group's input.

    Raises:
        DocumentFormatError: if the trace does not fit the group.
        PlanError: if the capacity has another unit than the input.
    """
    weights = dict(group.input_bytes_per_s) or None
    notes: list[str] = []
    curve: InputCurve | None = None
    if terms.trace is not None:
        curve, notes = curve_of(terms.trace, group.tasks, group.reads, weights, group.task)
        means = curve.means
        if sum(means):
            weights = dict(zip(curve.tasks, means, strict=True))
    elif weights is not None:
        curve = constant_input(weights, group.tasks, BYTES, "of the state")
        notes.append("the input is taken to stay as the state's samples show it (give a day with --load)")
    remedies = [_RATES] if curve is None else []
    if terms.capacity is None:
        remedies.append(_CAPACITY_REMEDY)
    elif curve is not None and terms.capacity.unit != curve.unit:
        other = "500" if curve.unit == RECORDS else "2MB"
        raise PlanError(
            f"--capacity is in {terms.capacity.unit}, and the input in {curve.unit}: give {curve.unit}, such as {other}"
        )
    lags = _lags(group, terms, weights, curve, notes)
    return KnownInput(weights, curve, lags, tuple(notes), tuple(remedies))


def _lags(
    group: ScaledGroup,
    terms: InputTerms,
    weights: Mapping[str, float] | None,
    curve: InputCurve | None,
    notes: list[str],
) -> tuple[float, ...]:
    if terms.lag is None and group.lags and curve is not None and curve.unit == RECORDS:
        return tuple(group.lags.get(task, 0.0) for task in group.tasks)
    if terms.lag is None:
        if curve is not None:
            unit = "records" if curve.unit == RECORDS else "bytes"
            notes.append(f"no {unit} wait when the scaling begins (give the present lag with --lag)")
        return (0.0,) * len(group.tasks)
    shares = dict.fromkeys(group.tasks, 1.0) if weights is None else weights
    total = sum(shares.values())
    if len(group.tasks) > 1:
        notes.append("--lag is divided among the tasks as their input")
    return tuple(terms.lag * shares.get(task, 0.0) / total for task in group.tasks)


def scaling_answer(
    source: str,
    group: ScaledGroup,
    counts: Sequence[int],
    terms: InputTerms,
    plays: int,
    seed: int,
    runs: Callable[[Callable[[int], ScalingPlay], int], Iterator[ScalingPlay]],
    assumptions: Sequence[str] = (),
    policies: Sequence[str] = (),
) -> ScalingAnswer:
    """The answer.

    Args:
        runs: Calls the play of each number.
        policies: Policies to play over the trace beside KEDA's default and constant counts.

    Raises:
        DocumentFormatError, PlanError: if the counts or the input do not fit the group.
    """
    kept, above = counts_within(tuple(counts), len(group.names), len(group.tasks), group.unit, group.task)
    known = known_input(group, terms)
    forecast = None
    if known.curve is not None and terms.capacity is not None:
        until = _HORIZON_S if known.curve.until_s is None else min(_LONGEST_S, known.curve.until_s)
        forecast = Forecast(known.curve, terms.capacity, known.lags, until)

    def of_count(count: int) -> Iterator[ScalingPlay]:
        return runs(lambda number: group.played([count], f"{seed}-{number}"), plays)

    notes = [*assumptions, *above, *known.notes]
    table = scaling_table(group, kept, of_count, known.weights, forecast, notes)
    if policies and (terms.trace is None or forecast is None):
        raise PlanError("--policy is played over a trace: give --load FILE and --capacity N")
    days: list[TraceCost] = []
    if terms.trace is not None and forecast is not None:
        day = DayPlayer(group, forecast.curve, forecast.capacity.per_s, known.lags, seed)
        chosen = [parse_policy(text, kept) for text in policies]
        fixed = dict.fromkeys([len(group.names), table.recommended or len(group.names)])
        days = [day.cost(each) for each in [*chosen, kedas_default(kept), *map(constant_policy, fixed)]]
        notes.append(_DAYS)
    return ScalingAnswer(source, tuple(counts), plays, seed, table, known.remedies, tuple(notes), tuple(days))


@attrs.frozen(eq=False)
class DayPlayer:
    """Plays policies over the input of a group; each scaling is played once and kept."""

    group: ScaledGroup
    curve: InputCurve
    capacity: float
    lags: tuple[float, ...]
    seed: int
    steps: ScalingSteps = attrs.field(init=False)

    @steps.default
    def _made(self) -> ScalingSteps:
        return ScalingSteps(self.group, lambda counts: self.group.played(counts, f"{self.seed}-0"))

    def throughput(self, count: int) -> float:
        return self.steps.throughput(count, self.curve, self.capacity)

    def cost(self, policy: ScalingPolicy, curve: InputCurve | None = None) -> TraceCost:
        """The cost of the trace, or of another day."""
        group = self.group
        return played_day(
            policy, self.steps, curve or self.curve, self.capacity, self.lags, len(group.names), group.commit_s
        )


def day_player(
    group: ScaledGroup, counts: Sequence[int], terms: InputTerms, seed: int
) -> tuple[DayPlayer, tuple[int, ...], tuple[str, ...]]:
    """The player of a trace, the counts to choose from, and sentences on what is assumed.

    Raises:
        DocumentFormatError, PlanError: if the counts or the input do not fit the group, or no trace is given.
    """
    kept, above = counts_within(tuple(counts), len(group.names), len(group.tasks), group.unit, group.task)
    known = known_input(group, terms)
    if terms.trace is None or terms.capacity is None or known.curve is None:
        raise PlanError("a policy needs the input of a day and the rate of a thread: give --load FILE and --capacity N")
    player = DayPlayer(group, known.curve, terms.capacity.per_s, known.lags, seed)
    return player, kept, (*above, *known.notes, _DAYS)
