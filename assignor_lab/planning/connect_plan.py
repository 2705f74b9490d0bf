"""Plans of Connect groups, and one play of a plan: when tasks are away, for which cause, and by connector.

The leader's memory makes the delay (``scheduled.rebalance.max.delay.ms``): jobs of a stopped leader move at once, those
of another worker wait for its return. A state does not show its leader, so each play draws one.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence

import attrs

from assignment_api.connect import CONNECT_PROTOCOL, MAX_DELAY_KEY, ConnectorTaskId, ConnectProtocol
from assignor_lab.groups.variants import Contender, VariantError, configured, timings_of
from assignor_lab.model.courses import TaskCourse
from assignor_lab.model.events import RebalanceBegun
from assignor_lab.model.history import GroupHistory
from assignor_lab.planning.connect_machine import ConnectMachine, Durations, shipped_machine
from assignor_lab.planning.connect_state import TIMINGS_OF_WORKERS, ConnectState, under_connect_configuration
from assignor_lab.planning.making import Options
from assignor_lab.planning.measured import PlayedPlan
from assignor_lab.planning.member_plans import Away, cost_of_absences, member_plan, refuse_options
from assignor_lab.planning.plans import CALM, LOOKS_EVERY_MS, Action, Plan, Step, draws_of
from assignor_lab.planning.predict import Terms
from assignor_lab.planning.predicted import RestlessGroupError
from assignor_lab.simulation.connect.cluster import SimulatedCluster
from assignor_lab.simulation.connect.simulate import assignors_from, formed_cluster
from assignor_lab.simulation.connect.timings import ConnectTimings
from assignor_lab.simulation.connect.worker_settings import WorkerSettings

__all__ = [
    "ConnectContender", "connect_plan", "connect_returns", "cost_of_workers", "given_connect_variant",
    "play_connect_plan", "played_connect_plan", "usual_connect_variants",
]  # fmt: skip

#: The group is at rest before a plan begins and after it, within this time and the delay.
_REST_MS = 120_000
#: The group has noticed within this time that the worker of waiting jobs is gone.
_LEFT_MS = 5_000
#: A step that is not over by then counts as failed.
_NEVER_READY_MS = 600_000


# --- plans --------------------------------------------------------------------------------------------------


def connect_plan(name: str, subject: str | None, state: ConnectState, options: Options) -> Plan:
    """The plan of a Connect group: ``roll``, ``scale`` or ``kill``.

    Raises:
        PlanError, UnknownInstanceError: as :func:`assignor_lab.planning.member_plans.member_plan`.
    """
    refuse_options(options, ["leave"], "Connect worker")
    return member_plan(name, subject, state.names, options, "worker", "a Connect group")


# --- variants -----------------------------------------------------------------------------------------------


@attrs.frozen
class ConnectContender:
    """A plan under other settings.

    Args:
        leader: Place of the first leader in the order of a roll: ``first``, ``last``, or empty: as it comes.
        machine: Durations of the workers; by default the recorded ones.
    """

    name: str
    state: ConnectState
    plan: Plan
    terms: Terms
    leader: str = ""
    machine: ConnectMachine = attrs.field(factory=shipped_machine)


def usual_connect_variants(
    state: ConnectState, options: Options, plan: Plan, terms: Terms, subject: str | None
) -> Iterator[ConnectContender]:
    """The settings that matter for a plan: the delay, the protocol, the batch and the order."""
    if state.protocol.is_incremental:
        for delay in (0, 60_000, 300_000):
            if delay != state.max_delay_ms:
                other = under_connect_configuration(state, max_delay_ms=delay)
                yield ConnectContender(f"delay {delay // 1000} s", other, plan, terms)
    changed = ConnectProtocol.EAGER if state.protocol.is_incremental else ConnectProtocol.SESSIONED
    other = under_connect_configuration(state, protocol=changed.value)
    yield ConnectContender(f"protocol {changed.value}", other, plan, terms)
    if plan.name != "roll" or len(plan.steps) < 2:
        return
    if options.batch == 1 and len(plan.steps) > 2:
        two = connect_plan(plan.name, subject, state, attrs.evolve(options, batch=2))
        yield ConnectContender("two at once", state, two, terms)
    if state.protocol.is_incremental and options.batch == 1:
        for place in ("first", "last"):
            yield ConnectContender(f"leader {place}", state, plan, terms, place)


def given_connect_variant(contender: Contender, state: ConnectState, plan: Plan, terms: Terms) -> ConnectContender:
    """A variant of the command line.

    Raises:
        VariantError: if a key is none of a Connect worker, or its value is not valid.
    """
    own, timings = timings_of(contender, TIMINGS_OF_WORKERS)
    for key in contender.settings:
        if key not in (*TIMINGS_OF_WORKERS, CONNECT_PROTOCOL, MAX_DELAY_KEY):
            raise VariantError(f"variant {contender.name!r:.80}: {key} has no effect on a plan of a Connect group")
    sources = configured(terms.sources, contender.name, own)
    values = sources.effective().values_for("")
    delay = int(values[MAX_DELAY_KEY]) if MAX_DELAY_KEY in own else None
    protocol = str(values[CONNECT_PROTOCOL]) if CONNECT_PROTOCOL in own else None
    changed = under_connect_configuration(state, protocol=protocol, max_delay_ms=delay, timings=timings)
    under = attrs.evolve(terms, sources=sources, assignor=contender.assignor)
    return ConnectContender(contender.name, changed, plan, under)


# --- a play -------------------------------------------------------------------------------------------------


def played_connect_plan(variant: ConnectContender, seed: str) -> PlayedPlan:
    """The cost of one play of a plan."""
    cluster, marks, done_ms, rest_ms, failed = play_connect_plan(variant, seed)
    return cost_of_workers(cluster, marks, done_ms, rest_ms, failed)


def play_connect_plan(
    variant: ConnectContender, seed: str
) -> tuple[SimulatedCluster, list[int], int, int | None, str | None]:
    """One play of a plan: the begin of each step, the end of the last one, the time of rest, and a failed step.

    Raises:
        RestlessGroupError: if the group does not come to rest before the plan.
    """
    drawn = random.Random(seed)  # noqa: S311 - a simulation, not a secret
    terms, state, plan = variant.terms, variant.state, variant.plan
    make = assignors_from(terms.registry, terms.assignor, may_run_code=True)
    durations = variant.machine.drawn(drawn)
    timings = durations.drawn_timings(state.episode.timings, drawn)
    episode = attrs.evolve(state.episode, timings=timings)
    cluster = formed_cluster(episode, make, drawn.getrandbits(32), keep_log=False)
    rest_ms = state.max_delay_ms + _REST_MS
    if len(state.waiting):
        # A part of the delay has passed already.
        cluster.run_until(cluster.now + _LEFT_MS + int(drawn.random() * max(0, state.max_delay_ms - _LEFT_MS)))
    elif not cluster.run_until(cluster.now + rest_ms, until_calm=True) and not plan.goes_on:
        raise RestlessGroupError(
            f"{episode.id}: the group does not come to rest before the plan, within {rest_ms / 1000:.0f} s: give the "
            "timeouts that its workers have (-c), longer than their heartbeat interval, or a state at rest"
        )
    cluster.run_until(cluster.now + drawn.randrange(1, state.episode.timings.heartbeat_interval_ms + 1))
    steps = _ordered(plan.steps, cluster.leader(), variant.leader)
    marks: list[int] = []
    failed, done_ms = None, cluster.now
    for step in steps:
        if marks and step.at_ms is not None:
            cluster.run_until(max(cluster.now, marks[0] + step.at_ms))
        marks.append(cluster.now)
        starts = {
            each.name: _start_ms(plan, durations, timings, draws_of(plan, drawn, f"{seed} start", each.name))
            for each in step.actions
        }
        ready = [_act(cluster, state, plan, action, starts[action.name]) for action in step.actions]
        if not _waited(cluster, ready, _NEVER_READY_MS + rest_ms):
            failed = step.name
            break
        cluster.run_until(cluster.now + durations.drawn_answer(drawn))
        wait = plan.wait if step.wait is None else step.wait
        if isinstance(wait, int):
            cluster.run_until(cluster.now + wait)
        elif wait == CALM:
            cluster.run_until(cluster.now + rest_ms, until_calm=True)
        done_ms = cluster.now
    is_calm = cluster.run_until(cluster.now + 2 * rest_ms, until_calm=True)
    return cluster, marks, done_ms, cluster.now if is_calm else None, failed


def connect_returns(variant: ConnectContender, seed: str) -> dict[str, int]:
    """Worker to its least time (ms) from its stop until it is ready, in a play of a plan that shares its draws."""
    drawn = random.Random(seed)  # noqa: S311 - a simulation, not a secret
    durations = variant.machine.drawn(drawn)
    timings = durations.drawn_timings(variant.state.episode.timings, drawn)
    plan = attrs.evolve(variant.plan, shares_draws=True)
    found = {
        name: plan.down_ms + _start_ms(plan, durations, timings, draws_of(plan, drawn, f"{seed} start", name))
        for name in variant.state.names
    }
    return {name: -(-ready_ms // LOOKS_EVERY_MS) * LOOKS_EVERY_MS for name, ready_ms in found.items()}


def _start_ms(plan: Plan, durations: Durations, timings: ConnectTimings, drawn: random.Random) -> int:
    return durations.drawn_start(timings.worker_start_ms, drawn) if plan.starts is None else plan.starts.drawn(drawn)


def _ordered(steps: Sequence[Step], leader: str | None, place: str) -> list[Step]:
    if not place:
        return list(steps)
    leads = [step for step in steps if any(action.name == leader for action in step.actions)]
    others = [step for step in steps if step not in leads]
    return [*leads, *others] if place == "first" else [*others, *leads]


def _act(
    cluster: SimulatedCluster, state: ConnectState, plan: Plan, action: Action, start_ms: int
) -> Callable[[], bool]:
    """Begin an action; returns the condition under which it is over."""
    settings = _settings(state, action.name)
    if action.type == "event":
        if action.event == "crash":
            cluster.crash(action.name)
        else:
            cluster.stop(action.name)
        return lambda: True
    if action.type == "add":
        cluster.start_worker(action.name, settings, start_ms=start_ms)
        return lambda: _is_ready(cluster, action.name)
    if action.type == "kill":
        cluster.crash(action.name)
        if action.back_after_ms is None:
            return lambda: action.name not in cluster.coordinator.members().values()
        cluster.clock.after(
            max(1, action.back_after_ms), lambda: cluster.start_worker(action.name, settings, start_ms=start_ms)
        )
        return lambda: _is_ready(cluster, action.name)
    cluster.stop(action.name)
    if action.type == "remove":
        return lambda: cluster.worker(action.name) is None
    restarted: list[bool] = []

    def again() -> None:
        if cluster.worker(action.name) is None:
            cluster.start_worker(action.name, settings, start_ms=start_ms)
            restarted.append(True)
        else:
            cluster.clock.after(max(1, plan.down_ms), again)

    cluster.clock.after(plan.down_ms, again)
    return lambda: bool(restarted) and _is_ready(cluster, action.name)


def _settings(state: ConnectState, name: str) -> WorkerSettings:
    known = state.episode.workers.get(name)
    if known is not None:
        return known[0]
    first = next(iter(state.episode.workers.values()))[0]
    return attrs.evolve(first, static=WorkerSettings().static, url="", labels={})


def _is_ready(cluster: SimulatedCluster, name: str) -> bool:
    """True if a started worker has an assignment of the group, perhaps an empty one: REST answers then."""
    worker = cluster.worker(name)
    return worker is not None and worker.membership.has_assignment


def _waited(cluster: SimulatedCluster, conditions: Sequence[Callable[[], bool]], most_ms: int) -> bool:
    end = cluster.now + most_ms
    while not all(each() for each in conditions):
        if cluster.now >= end:
            return False
        cluster.run_until(min(end, cluster.now + LOOKS_EVERY_MS))
    return True


# --- its cost -----------------------------------------------------------------------------------------------


def cost_of_workers(
    cluster: SimulatedCluster, marks: Sequence[int], done_ms: int, rest_ms: int | None, failed: str | None
) -> PlayedPlan:
    """The cost of a play of :func:`play_connect_plan`."""
    # A calm group may still start tasks, and is at rest when they run.
    starting = [run.start_ms for _, run in cluster.runs.open_runs()]
    history = cluster.history("", marks[0], max([cluster.now, *starting]))
    rest_ms = None if rest_ms is None else max([rest_ms, *starting])
    away = sorted(
        _absences(history, cluster.config.view(cluster.config.end).jobs.tasks()),
        key=lambda each: (each[1].begin_ms, each[0].sort_key()),
    )
    connectors = {each.task: task.connector for task, each in away}
    return cost_of_absences(
        [each for _, each in away],
        marks,
        done_ms,
        rest_ms,
        cluster.now,
        [each.at.latest_ms for each in history.events if isinstance(each, RebalanceBegun)],
        failed,
        connectors.__getitem__,
        sorted(cluster.config.view(cluster.config.end).jobs.task_counts),
    )


def _absences(history: GroupHistory, tasks: Iterable[ConnectorTaskId]) -> Iterator[tuple[ConnectorTaskId, Away]]:
    """Every time without a run of a configured task that has run before."""
    for task in tasks:
        course = history.courses.get(str(task), TaskCourse())
        for parts in course.interruptions:
            causes: dict[str, int] = {}
            for each in parts:
                causes[each.cause] = causes.get(each.cause, 0) + each.length_ms
            yield task, Away(str(task), parts[0].begin_ms, parts[-1].end_ms, causes)
