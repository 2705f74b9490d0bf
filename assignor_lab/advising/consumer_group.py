"""A consumer group that an advice is for: its settings, its days, and the forms of a change.

Each event is played by itself, from the group at rest: consumers keep no state, so events leave no trace.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from assignor_lab.advising.configurations import (
    BATCH,
    DYNAMIC,
    HEARTBEAT,
    MEMBERS,
    PARTITION_STRATEGY,
    PROTOCOL,
    SESSION,
    STATIC,
    Configuration,
)
from assignor_lab.advising.days import Day, DayEvent
from assignor_lab.advising.figures import DayCost, stateless_cost
from assignor_lab.advising.forms import Forms
from assignor_lab.advising.mix import Mix
from assignor_lab.advising.space import SESSIONS_MS, Dimension, Space
from assignor_lab.kafka.coordinator.session_timeout import heartbeat_of
from assignor_lab.model.streams_episodes import EventDetails
from assignor_lab.planning.consumer_plan import ConsumerContender, consumer_plan, played_consumer_plan
from assignor_lab.planning.consumer_state import (
    ConsumerState,
    consumer_state,
    under_members,
    under_protocol,
    under_strategy,
)
from assignor_lab.planning.instances import new_names
from assignor_lab.planning.making import Options
from assignor_lab.planning.plans import Action, Plan, Step
from assignor_lab.planning.predict import Terms
from assignor_lab.scenarios import Scenario
from assignor_lab.simulation.consumer.consumers import CLASSIC, CONSUMER

__all__ = ["AdvisedConsumerGroup", "advised_consumers", "consumer_space"]

_STRATEGIES = ("range", "roundrobin", "sticky", "cooperative-sticky")
_BEATS_MS = (1_000, 3_000)
#: An added consumer stays for this time; after a stall the group rests for this time.
_SCALED_MS, _AFTER_STALL_MS = 120_000, 60_000
_FILE = "consumer.properties"


@attrs.frozen(eq=False)
class AdvisedConsumerGroup:
    """A consumer group, with the meanings of :class:`~assignor_lab.advising.group.AdvisedGroup`."""

    state: ConsumerState
    terms: Terms
    options: Options

    @property
    def instances(self) -> int:
        return len(self.state.names)

    @property
    def sessions(self) -> Mapping[str, int]:
        return {SESSION: self.state.episode.timings.session_timeout_ms}

    @property
    def restarts_ms(self) -> tuple[int, int] | None:
        timings, starts = self.state.episode.timings, self.options.starts
        away_ms = self.options.down_ms
        if starts is None:
            return away_ms + timings.start_ms, away_ms + timings.start_ms
        return away_ms + starts.low_ms, away_ms + starts.high_ms

    def session_ms(self, configuration: Configuration) -> int:
        return int(configuration.get(SESSION, self.sessions[SESSION]))

    @property
    def judges(self) -> bool:
        return False

    def played(
        self,
        day: Day,
        mix: Mix,
        configuration: Configuration,
        present: Configuration,
        seed: str,
    ) -> DayCost:
        changed = {key: value for key, value in configuration.items() if value != present[key]}
        state, options = self._under(changed)
        seconds, worst = dict.fromkeys(day.weights, 0.0), dict.fromkeys(day.weights, 0.0)
        rebalances = 0.0
        for number, each in enumerate(day.happenings):
            plan = _plan_of(each, mix, state, options)
            cost = played_consumer_plan(ConsumerContender("", state, plan, self.terms), f"{seed}-{number}").total
            seconds[each.kind] += cost.task_seconds
            worst[each.kind] = max(worst[each.kind], cost.worst_task_seconds)
            rebalances += day.weights[each.kind] * cost.rebalances
        return stateless_cost(day, seconds, worst, rebalances)

    def replayed(self, configuration: Configuration, present: Configuration, seed: int) -> DayCost:  # noqa: ARG002
        raise ValueError("a past of a consumer group does not judge")

    def forms(self, changes: Mapping[str, str]) -> Forms:
        properties: dict[str, str | None] = {}
        instances: dict[str, dict[str, str | None]] = {}
        procedure: list[str] = []
        for key, value in changes.items():
            if key == BATCH:
                procedure.append(f"Restart {value} consumers at once in a deployment.")
            elif key == MEMBERS:
                instances = {name: {MEMBERS: name if value == STATIC else None} for name in sorted(self.state.names)}
            elif key == PARTITION_STRATEGY:
                properties[key] = self._java_class(value)
                if value == "cooperative-sticky":
                    procedure.append(
                        "Change the strategy in two rolling restarts: first list both strategies, then remove the old "
                        "one (KIP-429)."
                    )
            else:
                properties[key] = value
                beat_ms = self.state.episode.timings.heartbeat_interval_ms
                if key == SESSION and HEARTBEAT not in changes and heartbeat_of(int(value), beat_ms) != beat_ms:
                    properties[HEARTBEAT] = str(heartbeat_of(int(value), beat_ms))
                if key == PROTOCOL:
                    procedure.append(
                        "The move to another protocol is a rolling restart (assignor plan SOURCE upgrade-protocol has "
                        "its cost)."
                    )
        return Forms(properties, instances, procedure=tuple(procedure), file=_FILE)

    def _java_class(self, strategy: str) -> str:
        found: Any = self.terms.registry.partition_assignor("consumer-assignor", strategy).plugin
        return str(found.java_classes[0]) if found.java_classes else strategy

    def _under(self, changed: Mapping[str, str]) -> tuple[ConsumerState, Options]:
        state = self.state
        if PROTOCOL in changed:
            state = under_protocol(state, changed[PROTOCOL])
        if PARTITION_STRATEGY in changed and state.protocol == CLASSIC:
            state = under_strategy(state, changed[PARTITION_STRATEGY])
        if MEMBERS in changed:
            state = under_members(state, are_static=changed[MEMBERS] == STATIC)
        timings = state.episode.timings
        session_ms = int(changed.get(SESSION, timings.session_timeout_ms))
        beat_ms = heartbeat_of(session_ms, int(changed.get(HEARTBEAT, timings.heartbeat_interval_ms)))
        timings = attrs.evolve(timings, session_timeout_ms=session_ms, heartbeat_interval_ms=beat_ms)
        state = attrs.evolve(state, episode=attrs.evolve(state.episode, timings=timings))
        return state, attrs.evolve(self.options, batch=int(changed.get(BATCH, self.options.batch)))


def _plan_of(happening: DayEvent, mix: Mix, state: ConsumerState, options: Options) -> Plan:
    names = sorted(state.names)
    name = names[happening.place % len(names)]
    if happening.kind == "roll":
        return consumer_plan("roll", None, state, options)
    if happening.kind == "kill":
        usual = Options(back_after_ms=round(1000 * mix.back_after_seconds), start_ms=options.start_ms)
        return consumer_plan("kill", name, state, usual)
    if happening.kind == "scaling":
        (added,) = new_names(names, 1)
        steps = (Step("add", (Action("add", added),), _SCALED_MS), Step("remove", (Action("remove", added),)))
        return Plan("script", steps, unit="consumer")
    stall = Action("event", name, EventDetails(for_ms=happening.for_ms), event="pause")
    return Plan("script", (Step("stall", (stall,), happening.for_ms + _AFTER_STALL_MS),), unit="consumer")


def advised_consumers(scenario: Scenario, terms: Terms, options: Options) -> AdvisedConsumerGroup:
    """The group of a state.

    Raises:
        PlanError: as :func:`assignor_lab.planning.consumer_state.consumer_state`.
    """
    return AdvisedConsumerGroup(consumer_state(scenario, terms, options), terms, options)


def consumer_space(group: AdvisedConsumerGroup, mix: Mix) -> Space:
    """The settings that may change; the broker has those of KIP-848 for all groups."""
    state, timings = group.state, group.state.episode.timings
    is_static = all(each.instance_id is not None for each in state.episode.consumers.values())
    strategy = state.strategy if state.protocol == CLASSIC else "range"
    found = [
        _dimension(PARTITION_STRATEGY, [strategy.removeprefix("consumer_").replace("_", "-"), *_STRATEGIES]),
        _dimension(PROTOCOL, [state.protocol, CLASSIC, CONSUMER]),
        _dimension(MEMBERS, [STATIC if is_static else DYNAMIC, STATIC]),
        _dimension(SESSION, [timings.session_timeout_ms, *SESSIONS_MS]),
        _dimension(HEARTBEAT, [timings.heartbeat_interval_ms, *_BEATS_MS]),
    ]
    if group.instances > 2 and "roll" in mix.per_day:
        found.append(_dimension(BATCH, [group.options.batch, 1, 2, max(2, group.instances // 4)]))
    return Space(tuple(found), {})


def _dimension(key: str, values: Iterable[object]) -> Dimension:
    return Dimension(key, tuple(dict.fromkeys(map(str, values))))
