"""The prediction of a plan: many plays from the present state, and their common figures."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from statistics import median

import attrs

from assignment_api import ApplicationMetadata, AssignorLabError, TaskAssignment
from assignment_api.plugins import ConfigSources, Registry
from assignment_api.releases import KafkaRelease
from assignor_lab.groups.streams_episode.playing import deciding
from assignor_lab.model.bands import band
from assignor_lab.planning.conduct import Conduct
from assignor_lab.planning.draws import restart_timings
from assignor_lab.planning.measured import PlayedPlan, StepCost, cost_of, now_and_later_of
from assignor_lab.planning.plans import Plan
from assignor_lab.planning.state import PresentState
from assignor_lab.simulation.streams.draws import drawn_timings
from assignor_lab.simulation.streams.episode import StreamsEpisode
from assignor_lab.simulation.streams.leading import BrokersAssignor, LeaderAnswer, TaskLeader
from assignor_lab.simulation.streams.simulate import PlayedStreamsEpisode, simulate
from assignor_lab.simulation.streams.timings import StreamsTimings

__all__ = [
    "Prediction", "Range", "RestlessGroupError", "StepRange", "now_and_later", "play_plan", "play_timings", "plan_seed",
    "played_plan", "predicted", "range_of",
]  # fmt: skip


@attrs.frozen
class Range:
    """A figure over all plays.

    Args:
        low: The lower end of the 90 % interval.
    """

    median: float
    low: float
    high: float


@attrs.frozen
class StepRange:
    """The figures of a step, or of all steps; as in :class:`~assignor_lab.planning.measured.StepCost`.

    Causes are means over the plays. ``poorly_known`` has the reasons why the figures are uncertain.
    """

    name: str
    at_seconds: float
    task_seconds: Range
    worst_task_seconds: Range
    tasks: Range
    rebalances: Range
    restored_bytes: Range | None
    spent_on: Mapping[str, float]
    poorly_known: tuple[str, ...] = ()


@attrs.frozen
class Prediction:
    """The cost of a plan.

    Args:
        duration_seconds: From the first step until the last one is over.
        rest_seconds: Until the group is at rest again; ``None``: in some play it was not.
        plays: The single plays, in the order of their seeds.
        is_interrupted: True if further plays were cancelled.
        by_connector: Connector to the task-seconds of its tasks, in a Connect group.
        by_partition: Mean interruptions and seconds of a partition, in a consumer group.
    """

    steps: tuple[StepRange, ...]
    total: StepRange
    duration_seconds: Range
    rest_seconds: Range | None
    plays: tuple[PlayedPlan, ...]
    is_interrupted: bool = False
    by_connector: Mapping[str, Range] = attrs.field(factory=dict)
    by_partition: tuple[Range, Range] | None = None


class RestlessGroupError(AssignorLabError):
    """The group of a state does not come to rest, so a plan cannot begin."""


class _Present:
    """A leader that begins with the present decision: the group goes on from it."""

    def __init__(self, assignor: TaskLeader, first: TaskAssignment) -> None:
        self._assignor, self._first = assignor, first
        self._is_first = True

    def assign(self, application: ApplicationMetadata, release: KafkaRelease | None = None) -> LeaderAnswer:
        if self._is_first:
            self._is_first = False
            return LeaderAnswer(self._first, sorted_sets=True)
        return self._assignor.assign(application, release)


def play_plan(
    state: PresentState,
    plan: Plan,
    registry: Registry,
    sources: ConfigSources,
    seed: str,
    assignor: str | None = None,
) -> tuple[PlayedStreamsEpisode, Conduct]:
    """One play of a plan: the whole simulation, and its conductor.

    Args:
        assignor: The assignor; ``None``: the group's own.

    Raises:
        RestlessGroupError: if the group does not come to rest before the plan, or rebalances without an end after it.
    """
    leader, episode, drawn = _beginning(state, plan, registry, sources, seed, assignor)
    conduct = Conduct(plan, episode.timings, plan_seed(seed), is_settled=state.is_settled)
    played = simulate(episode, leader, drawn.getrandbits(32), keep_log=False, conductor=conduct)
    if not conduct.marks:
        raise RestlessGroupError(
            f"{state.episode.place}: the group does not come to rest before the plan: give a state with a decision"
        )
    if conduct.restless is not None and not plan.goes_on:
        raise RestlessGroupError(
            f"{state.episode.place}: the group does not come to rest {conduct.restless}: give the timeouts that its "
            "members have (-c), such as max.poll.interval.ms above heartbeat.interval.ms, or a state at rest"
        )
    return played, conduct


def plan_seed(seed: str) -> str:
    """Seed of the conductor of a play."""
    return f"{seed}-plan"


def play_timings(
    state: PresentState, plan: Plan, registry: Registry, sources: ConfigSources, seed: str, assignor: str | None
) -> StreamsTimings:
    """The drawn timings of a play; arguments as for :func:`play_plan`."""
    return _beginning(state, plan, registry, sources, seed, assignor)[1].timings


def _beginning(
    state: PresentState, plan: Plan, registry: Registry, sources: ConfigSources, seed: str, assignor: str | None
) -> tuple[TaskLeader | BrokersAssignor, StreamsEpisode, random.Random]:
    """Leader and episode of a play, and the source of its further draws."""
    drawn = random.Random(seed)  # noqa: S311 - a simulation, not a secret
    found, episode = deciding(state.episode, registry, sources, assignor, may_run_code=True)
    order = list(range(len(episode.clients)))
    drawn.shuffle(order)
    episode = attrs.evolve(
        episode,
        # New processes draw their ids by it.
        id=f"{episode.id} {seed}",
        clients=tuple(episode.clients[place] for place in order),
        lags=tuple(episode.lags[place] for place in order),
        names=tuple(episode.names[place] for place in order),
        instance_ids=tuple(episode.instance_ids[place] for place in order),
    )
    leader: TaskLeader | BrokersAssignor = found
    if state.assigned is not None and not isinstance(found, BrokersAssignor):
        first = state.assigned
        if state.is_probing:
            interval = int(episode.config.get("probing.rebalance.interval.ms") or 600_000)
            due = episode.start_ms + drawn.randint(1, interval)
            held = list(first.assignments)
            first = TaskAssignment([held[0].with_followup_rebalance(due), *held[1:]])
        leader = _Present(found, first)
    episode = attrs.evolve(episode, timings=drawn_timings(restart_timings(episode.timings, plan, seed), drawn))
    return leader, episode, drawn


def played_plan(
    state: PresentState,
    plan: Plan,
    registry: Registry,
    sources: ConfigSources,
    seed: str,
    assignor: str | None = None,
) -> PlayedPlan:
    """The cost of one play of a plan; arguments and errors as for :func:`play_plan`."""
    played, conduct = play_plan(state, plan, registry, sources, seed, assignor)
    return cost_of(played, conduct)


def predicted(plays: Sequence[PlayedPlan], names: Sequence[str]) -> Prediction:
    """The figures of some plays of a plan."""
    steps = tuple(
        _step(name, median(play.at_seconds[place] for play in with_it), [play.steps[place] for play in with_it])
        for place, name in enumerate(names)
        if (with_it := [play for play in plays if len(play.steps) > place])
    )
    rests = [play.rest_seconds for play in plays if play.rest_seconds is not None]
    return Prediction(
        steps,
        _step("total", 0.0, [play.total for play in plays]),
        range_of([play.duration_seconds for play in plays]),
        range_of(rests) if len(rests) == len(plays) else None,
        tuple(plays),
        by_connector={
            name: range_of([play.by_connector.get(name, 0.0) for play in plays])
            for name in dict.fromkeys(name for play in plays for name in play.by_connector)
        },
        by_partition=_by_partition(plays),
    )


def now_and_later(plays: Sequence[PlayedPlan]) -> tuple[tuple[Range, Range], tuple[Range, Range]] | None:
    """Worst task and sum of the absences that begin now, and of those at later rebalances; ``None`` without plays."""
    if not plays:
        return None
    parts = [now_and_later_of(play) for play in plays]

    def figures(found: Sequence[Sequence[tuple[float, float]]]) -> tuple[Range, Range]:
        lengths = [[end - begin for begin, end in each] for each in found]
        return range_of([max(each, default=0.0) for each in lengths]), range_of([sum(each) for each in lengths])

    return figures([now for now, _ in parts]), figures([later for _, later in parts])


def _by_partition(plays: Sequence[PlayedPlan]) -> tuple[Range, Range] | None:
    if not all(play.partitions for play in plays):
        return None
    return (
        range_of([sum(map(len, play.absences.values())) / play.partitions for play in plays]),
        range_of([play.total.task_seconds / play.partitions for play in plays]),
    )


def _step(name: str, at_seconds: float, costs: Sequence[StepCost]) -> StepRange:
    def over(figure: Callable[[StepCost], float]) -> Range:
        return range_of([figure(cost) for cost in costs])

    sizes = [cost.restored_bytes for cost in costs if cost.restored_bytes is not None]
    return StepRange(
        name,
        at_seconds,
        over(lambda cost: cost.task_seconds),
        over(lambda cost: cost.worst_task_seconds),
        over(lambda cost: cost.tasks),
        over(lambda cost: cost.rebalances),
        range_of(sizes) if len(sizes) == len(costs) else None,
        _means([cost.spent_on for cost in costs]),
    )


def _means(spent: Sequence[Mapping[str, float]]) -> dict[str, float]:
    causes = sorted({cause for each in spent for cause in each})
    return {cause: sum(each.get(cause, 0.0) for each in spent) / len(spent) for cause in causes}


def range_of(values: Sequence[float]) -> Range:
    """Median and 90 % band of a figure over some plays."""
    return Range(median(values), *band(values))
