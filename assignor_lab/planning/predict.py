"""The cost of a plan, from a captured state: the entry point of this package."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

import attrs

from assignment_api.plugins import ConfigSources, Registry
from assignor_lab.planning.in_processes import in_processes
from assignor_lab.planning.intervals import calibrated
from assignor_lab.planning.measured import PlayedPlan
from assignor_lab.planning.past_record import PastRecord
from assignor_lab.planning.plans import Plan
from assignor_lab.planning.predicted import Prediction, played_plan, predicted
from assignor_lab.planning.state import PresentState, present_state, under_other_protocol
from assignor_lab.scenarios import Scenario
from assignor_lab.scenarios.settings import Settings

__all__ = ["Runs", "Terms", "predict", "predict_from", "predicted_by"]

#: Calls work with the numbers from 0 to a count, and yields the results in this order.
Runs = Callable[[Callable[[int], PlayedPlan], int], Iterator[PlayedPlan]]


@attrs.frozen
class Terms:
    """The terms of a prediction.

    Args:
        settings: Settings of time and membership in place of those of the state.
        timings: Timings in place of those that the settings give.
        assignor: The assignor; ``None``: the group's own.
        workload: File with the weight of the tasks; ``None``: the state's.
        client: Client library whose strategies lead a consumer group; ``None``: Java's.
    """

    registry: Registry
    sources: ConfigSources
    settings: Settings = attrs.field(factory=dict)
    timings: Mapping[str, int] = attrs.field(factory=dict)
    assignor: str | None = None
    workload: Path | None = None
    client: str | None = None


def predict(scenario: Scenario, plan: Plan, terms: Terms, plays: int = 20, seed: int = 0) -> Prediction:
    """The cost of a plan for the group of a captured state.

    Args:
        plan: The plan; its names are those of the state's instances.
        plays: Number of plays; unknown facts are drawn anew each time.

    Raises:
        NoStateError, EmptyGroupError: if no play can begin with the scenario.
        AssignorLabError: a subclass, if the assignor or the configuration does not allow a play.
    """
    return predict_from(
        present_state(scenario, terms.settings, terms.timings, terms.workload), plan, terms, plays, seed
    )


def predict_from(
    state: PresentState,
    plan: Plan,
    terms: Terms,
    plays: int = 20,
    seed: int = 0,
    processes: int = 1,
    on_play: Callable[[int], None] = lambda _: None,
    runs: Runs | None = None,
    past: PastRecord | None = None,
) -> Prediction:
    """The same for a group that was read already; Ctrl-C ends it with the plays so far.

    Args:
        processes: Processes that share the plays; results do not depend on it.
        on_play: Called after each play with the number of plays so far.
        runs: Runs the plays elsewhere; ``None``: in ``processes`` of this machine. Results do not depend on it.
        past: The group's own past changes, which widen or narrow the intervals.

    Raises:
        KeyboardInterrupt: if it comes before the first play is over.
    """
    if plan.protocol is not None:
        state = under_other_protocol(state, plan.protocol)
    made = predicted_by(partial(_play, state, plan, terms, seed), plan, plays, processes, on_play, runs)
    return calibrated(made, state.episode.protocol, plan, past=past)


def predicted_by(
    work: Callable[[int], PlayedPlan],
    plan: Plan,
    plays: int,
    processes: int = 1,
    on_play: Callable[[int], None] = lambda _: None,
    runs: Runs | None = None,
) -> Prediction:
    """The figures of plays of a plan; arguments and errors are those of :func:`predict_from`.

    Args:
        work: Makes the play of a number.
    """
    played: list[PlayedPlan] = []
    try:
        for each in in_processes(work, plays, processes) if runs is None else runs(work, plays):
            played.append(each)
            on_play(len(played))
    except KeyboardInterrupt:
        if not played:
            raise
    return attrs.evolve(predicted(played, [step.name for step in plan.steps]), is_interrupted=len(played) < plays)


def _play(state: PresentState, plan: Plan, terms: Terms, seed: int, number: int) -> PlayedPlan:
    return played_plan(state, plan, terms.registry, terms.sources, f"{seed}-{number}", terms.assignor)
