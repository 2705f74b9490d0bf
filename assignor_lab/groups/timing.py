"""Timing of an assignor's assign call, whatever its kind."""

from __future__ import annotations

import gc
import statistics
from collections.abc import Callable, Sequence
from typing import Any

import attrs

from assignment_api import AssignorLabError
from assignment_api.plugins import ConfigSources, Registry
from assignor_lab.groups.entries import entries
from assignor_lab.groups.kind import Competitor
from assignor_lab.runtime.asking import OwnProcesses
from assignor_lab.runtime.invocation import Failure, failure_of
from assignor_lab.scenarios import Scenario, ScenarioKindError

__all__ = ["SLOW_NS", "Timed", "Timing", "prepared", "timed_scenario", "timing"]

#: A first call that takes longer, in nanoseconds, is warm-up enough.
SLOW_NS = 1_000_000_000


@attrs.frozen
class Timed:
    """One call for a scenario: all its rounds.

    Args:
        rounds_ns: Duration of each round's assign call, nanoseconds.
        failure: Of the first round that failed.
        stopped_at: Where its code was then, if it had not answered in time: a line for each frame.
    """

    rounds_ns: Sequence[int]
    failure: Failure | None = None
    stopped_at: Sequence[str] = ()

    @property
    def assign_ns(self) -> int:
        """Duration of the slowest round, nanoseconds."""
        return max(self.rounds_ns, default=0)


@attrs.frozen
class Timing:
    """Durations of some calls.

    Args:
        durations_ns: Of each measured call, nanoseconds, in order.
        failure: Of the first call that failed; then there are no durations.
        stopped_at: As in :class:`Timed`.
    """

    durations_ns: Sequence[int]
    failure: Failure | None = None
    stopped_at: Sequence[str] = ()

    @property
    def median_ms(self) -> float | None:
        """Median in milliseconds, or ``None`` after a failure."""
        return statistics.median(self.durations_ns) / 1e6 if self.durations_ns else None

    @property
    def min_ms(self) -> float | None:
        """Shortest in milliseconds, or ``None`` after a failure."""
        return min(self.durations_ns) / 1e6 if self.durations_ns else None


def timing(call: Callable[[], Timed], *, warmup: int, repeat: int) -> Timing:
    """Calls ``warmup`` times in vain and then ``repeat`` times; a first call above ``SLOW_NS`` is the only warm-up.

    Python's garbage is collected before, and the collector stays on, as it is for users. Of a history, the durations
    are those of its slowest round: the one whose median over all calls is largest.
    """
    gc.collect()
    for _ in range(warmup):
        first = call()
        if first.failure is not None:
            return Timing((), first.failure, first.stopped_at)
        if first.assign_ns > SLOW_NS:
            break
    calls: list[Sequence[int]] = []
    for _ in range(repeat):
        made = call()
        if made.failure is not None:
            return Timing((), made.failure, made.stopped_at)
        calls.append(made.rounds_ns)
    return Timing(max(zip(*calls, strict=True), key=statistics.median, default=()))


def timed_scenario(
    selector: str,
    registry: Registry,
    sources: ConfigSources,
    scenario: Scenario,
    *,
    warmup: int,
    repeat: int,
    may_run_code: bool = False,
    isolation: OwnProcesses | None = None,
) -> dict[str, Any]:
    """The benchmark line of an assignor for one scenario: an application, a group, or a history of a Connect group.

    Of a history, one call is all its rounds, and what counts is the slowest round, by its median over the calls; tasks
    and clients are those of the largest round.

    Args:
        selector: Selector of an assignor.
        registry: Where assignors are found.
        sources: Configuration around the scenario's own.
        scenario: The state.
        warmup: Calls before the measured ones.
        repeat: Measured calls, at least one.
        may_run_code: ``module:attribute`` may be imported.
        isolation: Who runs in a process of its own; the time is taken there, and that of the way is not in it.

    Returns:
        ``id``, ``assignor``, ``tasks``, ``clients``, ``median_ms`` and ``min_ms`` (milliseconds, three decimals);
        after a failure both times are null, and ``error`` has its type, Kafka's type and message; ``stopped_at``
        has where the code was that did not answer in time, a line for each frame, the innermost last.

    Raises:
        ScenarioKindError: if the scenario is of another kind.
        UnknownPluginError, AmbiguousPluginError, PluginLoadError, UntrustedCodeError: as the registry does.
    """
    name, size, prepare = prepared(
        selector, registry, sources, scenario, may_run_code=may_run_code, isolation=isolation
    )
    try:
        measured = timing(prepare(), warmup=warmup, repeat=repeat)
    except AssignorLabError as error:
        measured = Timing((), failure_of(error))
    tasks, clients = size
    line: dict[str, Any] = {
        "id": scenario.id,
        "assignor": name,
        "tasks": tasks,
        "clients": clients,
        "median_ms": _rounded(measured.median_ms),
        "min_ms": _rounded(measured.min_ms),
    }
    if measured.failure is not None:
        line["error"] = attrs.asdict(measured.failure, filter=attrs.filters.exclude("traceback"))
    if measured.stopped_at:
        line["stopped_at"] = list(measured.stopped_at)
    return line


#: Builds the input, which Kafka may refuse, and gives the call.
Prepare = Callable[[], Callable[[], Timed]]


def prepared(
    selector: str,
    registry: Registry,
    sources: ConfigSources,
    scenario: Scenario,
    *,
    may_run_code: bool = False,
    isolation: OwnProcesses | None = None,
) -> tuple[str, tuple[int, int], Prepare]:
    """Name of the assignor, number of tasks and clients, and what builds the call.

    Arguments, errors, and what a call is: as for :func:`timed_scenario`.
    """
    timed = {entry.name: entry for entry in entries() if entry.is_assigned}
    if scenario.kind not in timed:
        raise ScenarioKindError(
            f"{scenario.place}: scenario {scenario.id!r} is of kind {scenario.kind!r}: only assignments "
            f"({', '.join(timed)}) can be timed"
        )
    kind = timed[scenario.kind].load()
    config = sources.effective(scenario.config, str(scenario.place))
    found = kind.find(registry, selector, may_run_code=may_run_code)
    explicit = sources.explicit_values()

    def prepare() -> Callable[[], Timed]:
        states = [kind.state(scenario, number, explicit) for number in range(kind.rounds(scenario))]

        def call() -> Timed:
            # It is this assignor that is timed, also where Kafka would have another one stand in for it.
            player = kind.player(Competitor(found.name, found), isolation)
            durations: list[int] = []
            for state in states:
                outcome = player.answer(state, player.asked(state, config)).outcome
                durations.append(outcome.assign_ns)
                if outcome.failure is not None:
                    return Timed(durations, outcome.failure, outcome.stopped_at)
            return Timed(durations)

        return call

    return found.name, kind.size(scenario), prepare


def _rounded(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else round(milliseconds, 3)
