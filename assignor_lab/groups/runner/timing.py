"""Timing of an assignor's assign call, for any kind."""

from __future__ import annotations

import gc
import statistics
from collections.abc import Callable, Sequence
from typing import Any

import attrs

from assignment_api import AssignorLabError
from assignment_api.plugins import ConfigSources, Registry
from assignor_lab.groups.entries import entries
from assignor_lab.groups.kind import LoadedContender
from assignor_lab.runtime.assignor_calls import OwnProcesses
from assignor_lab.runtime.invocation import CallFailure, failure_of
from assignor_lab.scenarios import Scenario, ScenarioKindError

__all__ = ["SLOW_NS", "Timed", "Timing", "prepared", "timed_scenario", "timing"]

#: A longer first call, in nanoseconds, is sufficient warm-up.
SLOW_NS = 1_000_000_000


@attrs.frozen
class Timed:
    """One call for a scenario: all its rounds.

    Args:
        stopped_at: Position of its code then, if it had not answered in time: a line for each frame.
    """

    rounds_ns: Sequence[int]
    failure: CallFailure | None = None
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
        stopped_at: As in :class:`Timed`.
    """

    durations_ns: Sequence[int]
    failure: CallFailure | None = None
    stopped_at: Sequence[str] = ()

    @property
    def median_ms(self) -> float | None:
        return statistics.median(self.durations_ns) / 1e6 if self.durations_ns else None

    @property
    def min_ms(self) -> float | None:
        return min(self.durations_ns) / 1e6 if self.durations_ns else None


def timing(call: Callable[[], Timed], *, warmup: int, repeat: int) -> Timing:
    """Calls ``warmup`` times without measuring, then ``repeat`` times; after a call above ``SLOW_NS`` warm-up ends.

    Python's garbage is collected before, and the collector stays on, as for users. For a history, the durations are
    those of its slowest round, by its median over all calls.
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

    One call of a history is all its rounds. Its time is that of the slowest round, by the median over the calls; tasks
    and clients are those of the largest round. In a plugin's own process the time is measured there, without the
    transfer.

    Returns:
        ``id``, ``assignor``, ``tasks``, ``clients``, ``median_ms`` and ``min_ms`` (milliseconds, three decimals).
        After a failure both times are null, and ``error`` has its type, Kafka's type and message. ``stopped_at`` has
        the position of code that did not answer in time, a line for each frame, the innermost last.

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


#: Builds the input, which Kafka may refuse, and returns the call.
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
    """Name of the assignor, number of tasks and clients, and the builder of the call."""
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
            # The named assignor is timed, even if Kafka would call another one in its place.
            player = kind.player(LoadedContender(found.name, found), isolation)
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
