"""Plans of consumer groups, and one play of a plan: when partitions are not polled, and for which cause.

A state does not show its leader and the phases of heartbeats, so each play draws them.
"""

from __future__ import annotations

import random
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import attrs

from assignor_lab.groups.variants import Contender, VariantError, configured, timings_of
from assignor_lab.kafka.coordinator.session_timeout import shorter_session
from assignor_lab.model.streams_episodes import EventDetails
from assignor_lab.planning.consumer_state import (
    ConsumerState,
    decider,
    under_members,
    under_protocol,
    under_strategy,
)
from assignor_lab.planning.making import Options, check_options
from assignor_lab.planning.measured import PlayedPlan
from assignor_lab.planning.member_plans import Away, cost_of_absences, member_plan
from assignor_lab.planning.plans import CALM, Action, Plan, Step, draws_of
from assignor_lab.planning.predict import Terms
from assignor_lab.planning.predicted import RestlessGroupError
from assignor_lab.planning.script import consumer_script
from assignor_lab.simulation.consumer.consumers import CLASSIC, CONSUMER, TIMINGS_OF_CONSUMERS, ConsumerTimings
from assignor_lab.simulation.consumer.polling import NotPolled
from assignor_lab.simulation.consumer.simulate import CLOSING, CRASHED, LOOKS_EVERY_MS, ConsumerEvent, ConsumerPlay

__all__ = [
    "ConsumerContender", "consumer_plan", "consumer_returns", "cost_of_consumers", "given_consumer_variant",
    "play_consumer_plan", "played_consumer_plan", "usual_consumer_variants",
]  # fmt: skip

#: A step that is not over by then counts as failed.
_NEVER_READY_MS = 600_000
#: Causes of times without polls.
SESSION, RESTART, REBALANCE = "session timeout", "process restart", "rebalancing"
#: A broker's restart, and the time until its replicas are in sync.
_BROKER_DOWN_MS, _IN_SYNC_MS = 20_000, 15_000
_OTHER_PLANS = ("upgrade-protocol", "broker-roll", "script")
_MIGRATION = "the broker allows the move while members run (group.consumer.migration.policy=bidirectional, its default)"
_LEADERS = "broker 1 is taken for the group's coordinator; partitions change their leaders without a pause"
_STRATEGIES = ("range", "cooperative-sticky")
#: From the quickest to the slowest starts, as shares of the median.
_STARTS = (0.85, 1.15)


def consumer_plan(name: str, subject: str | None, state: ConsumerState, options: Options) -> Plan:
    """The plan of a consumer group: besides those of all groups, a script and the move to the other protocol.

    Raises:
        DocumentFormatError: if the file of a script cannot be read.
        PlanError, UnknownInstanceError: as :func:`assignor_lab.planning.member_plans.member_plan`.
    """
    if name == "script" and subject is not None:
        check_options(name, options)
        return consumer_script(state.names, Path(subject), options)
    if name == "broker-roll":
        check_options(name, options)
        return _broker_roll(options)
    if name != "upgrade-protocol":
        return member_plan(name, subject, state.names, options, "consumer", "a consumer group", _OTHER_PLANS)
    check_options(name, options)
    roll = member_plan("roll", None, state.names, options, "consumer", "a consumer group")
    to = CONSUMER if state.protocol == CLASSIC else CLASSIC
    steps = tuple(
        attrs.evolve(step, actions=tuple(attrs.evolve(each, protocol=to) for each in step.actions))
        for step in roll.steps
    )
    return attrs.evolve(roll, name=name, steps=steps, assumptions=(_MIGRATION,), parameters={"protocol": to})


def _broker_roll(options: Options) -> Plan:
    """Each broker restarts once; the next one follows when its replicas are in sync."""
    down_ms = _BROKER_DOWN_MS if options.broker_down_ms is None else options.broker_down_ms
    restart = Action("event", "", EventDetails(for_ms=down_ms), event="broker_restart")
    steps = [
        Step(f"broker {number}", (attrs.evolve(restart, coordinates=number == 1),), down_ms + _IN_SYNC_MS)
        for number in range(1, options.brokers + 1)
    ]
    return Plan(
        "broker-roll", tuple(steps), assumptions=(_LEADERS,), parameters={"brokers": options.brokers}, unit="broker"
    )


@attrs.frozen(eq=False)
class ConsumerContender:
    """A plan under other settings."""

    name: str
    state: ConsumerState
    plan: Plan
    terms: Terms


def usual_consumer_variants(
    state: ConsumerState, options: Options, plan: Plan, terms: Terms
) -> Iterator[ConsumerContender]:
    """The settings that matter for a plan: strategy, static members, protocol, session timeout, batch."""
    is_classic = state.protocol == CLASSIC
    moves = plan.name == "upgrade-protocol"

    def other(name: str, changed: ConsumerState) -> ConsumerContender:
        return ConsumerContender(name, changed, plan, terms)

    if is_classic:
        for strategy in _STRATEGIES:
            if strategy != state.strategy.removeprefix("consumer_").replace("_", "-"):
                yield other(strategy, under_strategy(state, strategy))
    if any(each.instance_id is None for each in state.episode.consumers.values()):
        yield other("static", under_members(state, are_static=True))
    if moves:
        yield ConsumerContender("all at once", state, attrs.evolve(plan, steps=(_together(plan),)), terms)
        return
    yield other("KIP-848" if is_classic else "classic", under_protocol(state, CONSUMER if is_classic else CLASSIC))
    timings = state.episode.timings
    shorter = shorter_session(timings.session_timeout_ms, timings.heartbeat_interval_ms)
    if is_classic and shorter is not None:
        timings = attrs.evolve(timings, session_timeout_ms=shorter[0], heartbeat_interval_ms=shorter[1])
        changed = attrs.evolve(state.episode, timings=timings)
        yield other(f"session timeout {shorter[0] // 1000} s", attrs.evolve(state, episode=changed))
    if plan.name == "roll" and options.batch == 1 and len(plan.steps) > 2:
        two = consumer_plan(plan.name, None, state, attrs.evolve(options, batch=2))
        yield ConsumerContender("two at once", state, two, terms)


def _together(plan: Plan) -> Step:
    return Step("all consumers", tuple(action for step in plan.steps for action in step.actions))


def given_consumer_variant(contender: Contender, state: ConsumerState, plan: Plan, terms: Terms) -> ConsumerContender:
    """A variant of the command line.

    Raises:
        VariantError: if a key is none of a consumer, or its value is not valid.
    """
    own, timings = timings_of(contender, TIMINGS_OF_CONSUMERS)
    if own:
        raise VariantError(f"variant {contender.name!r:.80}: {next(iter(own))} has no effect on a plan of consumers")
    configured(terms.sources, contender.name, own)
    if contender.protocol not in (None, state.protocol):
        state = under_protocol(state, contender.protocol or CLASSIC)
    state = under_strategy(state, contender.assignor)
    episode = attrs.evolve(state.episode, timings=attrs.evolve(state.episode.timings, **timings))
    return ConsumerContender(contender.name, attrs.evolve(state, episode=episode), plan, terms)


# --- a play -------------------------------------------------------------------------------------------------


def played_consumer_plan(variant: ConsumerContender, seed: str) -> PlayedPlan:
    """The cost of one play of a plan."""
    play, marks, done_ms, rest_ms, failed = play_consumer_plan(variant, seed)
    return cost_of_consumers(play, marks, done_ms, rest_ms, failed)


def play_consumer_plan(
    variant: ConsumerContender, seed: str
) -> tuple[ConsumerPlay, list[int], int, int | None, str | None]:
    """One play of a plan: the begin of each step, the end of the last one, the time of rest, and a failed step.

    Raises:
        RestlessGroupError: if the group does not come to rest before the plan.
    """
    drawn = random.Random(seed)  # noqa: S311 - a simulation, not a secret
    state, plan = variant.state, variant.plan
    episode = attrs.evolve(state.episode, timings=state.episode.timings.drawn(drawn))
    play = ConsumerPlay(episode, decider(variant.terms.registry, state.client), f"{drawn.getrandbits(32)}")
    timings = episode.timings
    rest_ms = 2 * (timings.session_timeout_ms + timings.group_session_timeout_ms) + timings.max_poll_interval_ms
    # A leader finds grown topics in its metadata.
    rest_ms += timings.metadata_max_age_ms
    if not play.rest(rest_ms) and not plan.goes_on:
        raise RestlessGroupError(
            f"{episode.id}: the group does not come to rest before the plan, within {rest_ms / 1000:.0f} s: give the "
            "timeouts that its members have (-c), longer than their heartbeat interval, or a state at rest"
        )
    play.world.group.drift()
    beat_ms = max(timings.heartbeat_interval_ms, timings.group_heartbeat_interval_ms)
    play.world.run_until(play.world.now + beat_ms + drawn.randrange(1, beat_ms + 1))
    marks: list[int] = []
    failed = None
    for step in plan.steps:
        if marks and step.at_ms is not None:
            play.world.run_until(max(play.world.now, marks[0] + step.at_ms))
        marks.append(play.world.now)
        over = [
            _act(play, plan, action, draws_of(plan, drawn, f"{seed} start", action.name)) for action in step.actions
        ]
        if not play.run_until(partial(_all_hold, over), _NEVER_READY_MS + rest_ms):
            failed = step.name
            break
        wait = plan.wait if step.wait is None else step.wait
        if isinstance(wait, int):
            play.world.run_until(play.world.now + wait)
        elif wait == CALM:
            play.rest(rest_ms)
    done_ms = play.world.now
    is_calm = play.rest(rest_ms)
    return play, marks, done_ms, play.world.now if is_calm else None, failed


def _all_hold(conditions: Sequence[Callable[[], bool]]) -> bool:
    return all(each() for each in conditions)


def _act(play: ConsumerPlay, plan: Plan, action: Action, drawn: random.Random) -> Callable[[], bool]:
    """Begin an action; returns the condition under which it is over."""
    name, world = action.name, play.world
    if action.after_ms:
        begun: list[Callable[[], bool]] = []
        later = attrs.evolve(action, after_ms=0)
        world.clock.after(action.after_ms, lambda: begun.append(_act(play, plan, later, drawn)))
        return lambda: bool(begun) and begun[0]()
    if action.type == "event":
        # A recorded past has the event of instances of all kinds.
        kind = "kill" if action.event == "crash" else action.event
        play.do(
            ConsumerEvent(
                0, kind, name, for_ms=action.details.for_ms, partitions=action.partitions,
                coordinates=action.coordinates,
            )
        )  # fmt: skip
        return lambda: True
    start_ms = _start_ms(plan, play.episode.timings, drawn)
    if action.type == "add":
        play.start(name, start_ms=start_ms)
        return lambda: play.is_ready(name)
    if action.type == "kill":
        killed = world.consumers[name]
        play.kill(name)
        if action.back_after_ms is None:
            return lambda: play.is_gone(killed)
        world.clock.after(max(1, action.back_after_ms), lambda: play.start(name, start_ms=start_ms))
        return lambda: play.is_ready(name)
    play.stop(name, leaves=bool(action.leave))
    if action.type == "remove":
        return lambda: name not in world.consumers
    restarted: list[bool] = []

    def again() -> None:
        if name in world.consumers:
            world.clock.after(max(1, plan.down_ms), again)
        else:
            play.start(name, play.settings_of(name, action.protocol or None), start_ms)
            restarted.append(True)

    world.clock.after(plan.down_ms, again)
    return lambda: bool(restarted) and play.is_ready(name)


def consumer_returns(variant: ConsumerContender, seed: str) -> dict[str, int]:
    """Consumer to its least time (ms) from its stop until it is ready, in a play of a plan that shares its draws."""
    drawn = random.Random(seed)  # noqa: S311 - a simulation, not a secret
    timings, plan = variant.state.episode.timings.drawn(drawn), attrs.evolve(variant.plan, shares_draws=True)
    ends_ms = max(plan.down_ms, timings.close_ms)
    return {
        name: _seen_ms(
            ends_ms + _start_ms(plan, timings, draws_of(plan, drawn, f"{seed} start", name)) + timings.request_ms
        )
        for name in variant.state.names
    }


def _seen_ms(ready_ms: int) -> int:
    """The first look at a step that sees it."""
    return -(-ready_ms // LOOKS_EVERY_MS) * LOOKS_EVERY_MS


def _start_ms(plan: Plan, timings: ConsumerTimings, drawn: random.Random) -> int:
    return int(timings.start_ms * drawn.uniform(*_STARTS)) if plan.starts is None else plan.starts.drawn(drawn)


# --- its cost -----------------------------------------------------------------------------------------------


def cost_of_consumers(
    play: ConsumerPlay, marks: Sequence[int], done_ms: int, rest_ms: int | None, failed: str | None
) -> PlayedPlan:
    """The cost of a play of :func:`play_consumer_plan`."""
    world, end_ms = play.world, play.world.now
    wanted = world.subscribed(world.by_key.values())
    absences = (each for each in (*world.ledger.over, *world.ledger.lasting) if each.partition[0] in wanted)
    found = [each for each in absences if (each.end_ms or end_ms) > marks[0]]
    away = [_away(each, play, end_ms) for each in found if each.begin_ms >= marks[0] and each.begin_ms < end_ms]
    away.sort(key=lambda each: (each.begin_ms, each.task))
    made = cost_of_absences(away, marks, done_ms, rest_ms, end_ms, world.begun_ms, failed)
    return attrs.evolve(made, partitions=len(world.tasks()))


def _away(found: NotPolled, play: ConsumerPlay, end_ms: int) -> Away:
    """A crash is noticed when the next rebalance begins; a static member's stop is not noticed at all."""
    begin_ms, until_ms = found.begin_ms, found.end_ms or end_ms
    begun = play.world.begun_ms
    place = bisect_left(begun, begin_ms)
    noticed_ms = min(until_ms, begun[place] if place < len(begun) else until_ms)
    after = play.world.by_key.get(found.after)
    is_static = after is not None and after.settings.instance_id is not None
    if found.cause != CRASHED and not (found.cause == CLOSING and is_static):
        noticed_ms = begin_ms
    waits = {SESSION if found.cause == CRASHED else RESTART: noticed_ms - begin_ms, REBALANCE: until_ms - noticed_ms}
    task = f"{found.partition[0]}-{found.partition[1]}"
    return Away(task, begin_ms, until_ms, {cause: length for cause, length in waits.items() if length > 0})
