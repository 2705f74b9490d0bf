"""A Connect group that an advice is for: its settings, its days, and the forms of a change.

Each event is played by itself, from the group at rest: workers keep no state, so events leave no trace. A stall cuts a
worker off from the brokers, since its heartbeats stop.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence

import attrs

from assignment_api.connect import ConnectProtocol
from assignor_lab.advising.configurations import (
    BATCH,
    HEARTBEAT,
    MAX_DELAY,
    PROTOCOL_OF_WORKERS,
    SESSION,
    Configuration,
)
from assignor_lab.advising.days import Day, DayEvent
from assignor_lab.advising.figures import DayCost, stateless_cost
from assignor_lab.advising.forms import Forms
from assignor_lab.advising.mix import DEFAULT_MIX, Mix
from assignor_lab.advising.space import SESSIONS_MS, Dimension, Space
from assignor_lab.kafka.coordinator.session_timeout import heartbeat_of
from assignor_lab.model.connect_episodes import ConnectDetails, ConnectEvent
from assignor_lab.planning.connect_machine import shipped_machine
from assignor_lab.planning.connect_state import connect_state
from assignor_lab.planning.instances import new_names
from assignor_lab.planning.making import Options
from assignor_lab.planning.predict import Terms
from assignor_lab.scenarios import Scenario
from assignor_lab.simulation.connect.episode import ConnectEpisode
from assignor_lab.simulation.connect.episode_figures import rebalances
from assignor_lab.simulation.connect.simulate import assignors_from, simulate

__all__ = ["ConnectGroup", "connect_group", "connect_space"]

_DELAYS_MS = (0, 10_000, 60_000, 180_000, 300_000, 600_000)
#: The group rests within this time and the delay, before and after an event.
_REST_MS = 60_000
#: From the return of a worker to the next step of a deployment.
_PACE_MS = 10_000
#: An added worker stays for this time.
_SCALED_MS = 120_000
_FILE = "connect-distributed.properties"


@attrs.frozen(eq=False)
class ConnectGroup:
    """A Connect group, with the meanings of :class:`~assignor_lab.advising.group.AdvisedGroup`.

    Args:
        episode: An episode without events that begins with the group.
        max_delay_ms: ``scheduled.rebalance.max.delay.ms``.
        assumptions: Sentences on unknown facts.
        second: Events of the second part of the past, which judges; ``None``: there is none.
    """

    episode: ConnectEpisode
    terms: Terms
    options: Options
    protocol: str
    max_delay_ms: int
    assumptions: tuple[str, ...] = ()
    second: Day | None = None

    @property
    def instances(self) -> int:
        return len(self._names)

    @property
    def _names(self) -> list[str]:
        return sorted(name for name in self.episode.workers if name != self.episode.departed)

    @property
    def restarts_ms(self) -> tuple[int, int] | None:
        return None

    def session_ms(self, configuration: Configuration) -> int:
        return next((int(configuration.get(key, ms)) for key, ms in self.sessions.items()), 0)

    @property
    def sessions(self) -> Mapping[str, int]:
        return {SESSION: self.episode.timings.session_timeout_ms}

    @property
    def judges(self) -> bool:
        return self.second is not None

    def played(
        self,
        day: Day,
        mix: Mix,
        configuration: Configuration,
        present: Configuration,  # noqa: ARG002
        seed: str,
    ) -> DayCost:
        chosen = {**self._present(), **configuration}
        begin, session_ms = self._under(chosen)
        delay_ms = int(chosen[MAX_DELAY])
        warm_ms = delay_ms + _REST_MS
        batch = int(chosen[BATCH])
        make = assignors_from(self.terms.registry, self.terms.assignor, may_run_code=True)
        seconds, worst = dict.fromkeys(day.weights, 0.0), dict.fromkeys(day.weights, 0.0)
        formed = 0.0
        for number, each in enumerate(day.happenings):
            events, length_ms = self._events(each, mix, batch)
            until_ms = warm_ms + length_ms + session_ms + delay_ms + _REST_MS
            shifted = tuple(attrs.evolve(event, at_ms=warm_ms + event.at_ms) for event in events)
            drawn = random.Random(f"{seed}-{number}")  # noqa: S311 - a simulation, not a secret
            timings = shipped_machine().drawn(drawn).drawn_timings(begin.timings, drawn)
            episode = attrs.evolve(begin, events=shifted, until_ms=until_ms, timings=timings)
            cluster = simulate(episode, make, drawn.getrandbits(32), keep_log=False).cluster
            since, until = cluster.start_ms + warm_ms, cluster.start_ms + until_ms
            history = cluster.history(episode.id, since, until)
            away = history.downtimes_ms.values()
            seconds[each.kind] += sum(away) / 1000
            worst[each.kind] = max(worst[each.kind], max(away, default=0) / 1000)
            formed += day.weights[each.kind] * rebalances(history, since)
        return stateless_cost(day, seconds, worst, formed)

    def replayed(self, configuration: Configuration, present: Configuration, seed: int) -> DayCost:
        if self.second is None:
            raise ValueError("this group has no second part of a past")
        return self.played(self.second, DEFAULT_MIX, configuration, present, f"past {seed}")

    def forms(self, changes: Mapping[str, str]) -> Forms:
        properties: dict[str, str | None] = {}
        procedure: list[str] = []
        for key, value in changes.items():
            if key == BATCH:
                procedure.append(f"Restart {value} workers at once in a deployment.")
                continue
            properties[key] = value
            present_ms = self.episode.timings.heartbeat_interval_ms
            if key == SESSION and heartbeat_of(int(value), present_ms) != present_ms:
                properties[HEARTBEAT] = str(heartbeat_of(int(value), present_ms))
        return Forms(properties, procedure=tuple(procedure), file=_FILE)

    def _present(self) -> dict[str, str]:
        return {
            MAX_DELAY: str(self.max_delay_ms), PROTOCOL_OF_WORKERS: self.protocol, BATCH: str(self.options.batch),
            SESSION: str(self.episode.timings.session_timeout_ms),
        }  # fmt: skip

    def _under(self, chosen: Mapping[str, str]) -> tuple[ConnectEpisode, int]:
        session_ms, timings = int(chosen[SESSION]), self.episode.timings
        beat_ms = heartbeat_of(session_ms, timings.heartbeat_interval_ms)
        timings = attrs.evolve(timings, session_timeout_ms=session_ms, heartbeat_interval_ms=beat_ms)
        protocol, delay_ms = ConnectProtocol(chosen[PROTOCOL_OF_WORKERS]), int(chosen[MAX_DELAY])
        workers = {
            name: (attrs.evolve(settings, protocol=protocol, max_delay_ms=delay_ms), owned)
            for name, (settings, owned) in self.episode.workers.items()
        }
        return attrs.evolve(self.episode, workers=workers, timings=timings), session_ms

    def _events(self, happening: DayEvent, mix: Mix, batch: int) -> tuple[list[ConnectEvent], int]:
        """Events of a happening from its begin, and the time until the last one is over."""
        names = self._names
        name = names[happening.place % len(names)]
        down_ms, start_ms = max(1, self.options.down_ms), self.episode.timings.worker_start_ms
        if happening.kind == "roll":
            every_ms = down_ms + start_ms + _PACE_MS
            rounds = [names[place : place + batch] for place in range(0, len(names), batch)]
            made = [
                ConnectEvent(number * every_ms, "bounce", each, ConnectDetails(down_ms=down_ms))
                for number, together in enumerate(rounds)
                for each in together
            ]
            return made, len(rounds) * every_ms
        if happening.kind == "scaling":
            (added,) = new_names(names, 1)
            started = ConnectEvent(0, "start", added)
            return [started, ConnectEvent(_SCALED_MS, "stop", added)], _SCALED_MS
        if happening.kind == "kill":
            back_ms = round(1000 * mix.back_after_seconds)
            crashed = ConnectEvent(0, "crash", name)
            return [crashed, ConnectEvent(back_ms, "start", name)], back_ms + start_ms
        return [ConnectEvent(0, "partition", name, ConnectDetails(for_ms=happening.for_ms))], happening.for_ms


def connect_group(scenario: Scenario, terms: Terms, options: Options) -> ConnectGroup:
    """The group of the last recorded round of a scenario.

    ``connect.protocol``, the delay and the timeouts of ``terms`` replace the recorded.

    Raises:
        DocumentFormatError: if a part of the round contradicts another.
    """
    state = connect_state(scenario, terms, options)
    return ConnectGroup(state.episode, terms, options, state.protocol.value, state.max_delay_ms, state.assumptions)


def connect_space(group: ConnectGroup, mix: Mix) -> Space:
    """The settings that may change.

    Kafka's workers choose their assignor by ``connect.protocol`` alone, so assignors of plugins do not race. A weaker
    protocol than the present one, without signed requests between workers (KIP-507), races through ``narrowed`` only.

    Args:
        mix: The batch of deployments is a setting only if it has any.
    """
    found = [
        _dimension(MAX_DELAY, [group.max_delay_ms, *_DELAYS_MS]),
        _dimension(PROTOCOL_OF_WORKERS, [group.protocol, ConnectProtocol.SESSIONED.value]),
        _dimension(SESSION, [group.episode.timings.session_timeout_ms, *SESSIONS_MS]),
    ]
    if group.instances > 2 and "roll" in mix.per_day:
        found.append(_dimension(BATCH, [group.options.batch, 1, 2, max(2, group.instances // 4)]))
    return Space(tuple(found), {})


def _dimension(key: str, values: Iterable[object] | Sequence[object]) -> Dimension:
    return Dimension(key, tuple(dict.fromkeys(map(str, values))))
