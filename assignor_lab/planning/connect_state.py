"""The present Connect group of a captured state, as plays begin with it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import attrs

from assignment_api.connect import CONNECT_PROTOCOL, MAX_DELAY_KEY, ConfiguredJobs, ConnectProtocol, Jobs
from assignor_lab.documents.wording import plural
from assignor_lab.groups.connect.ownership import HOLDING
from assignor_lab.groups.connect.rounds import RoundState
from assignor_lab.planning.making import Options
from assignor_lab.planning.predict import Terms
from assignor_lab.scenarios import Scenario, scenario_from_document
from assignor_lab.simulation.connect.episode import ConnectEpisode
from assignor_lab.simulation.connect.formats.episodes import read_episode
from assignor_lab.simulation.connect.timings import ConnectTimings
from assignor_lab.simulation.connect.worker_settings import WorkerSettings

__all__ = [
    "DEPARTED", "TIMINGS_OF_WORKERS", "ConnectState", "connect_state", "is_connect_state",
    "under_connect_configuration",
]  # fmt: skip

#: Name of the worker that is gone, and whose jobs wait.
DEPARTED = "departed"
_SESSION, _HEARTBEAT = "session.timeout.ms", "heartbeat.interval.ms"
#: Workers' settings to timings of the simulation.
TIMINGS_OF_WORKERS: Mapping[str, str] = {
    _SESSION: "session_timeout_ms", _HEARTBEAT: "heartbeat_interval_ms", "rebalance.timeout.ms": "rebalance_timeout_ms",
}  # fmt: skip


def is_connect_state(scenario: Scenario) -> bool:
    return "rounds" in scenario.document and "events" not in scenario.document


@attrs.frozen(eq=False)
class ConnectState:
    """A Connect group.

    Args:
        episode: An episode without events that begins with the group.
        waiting: Jobs of no worker.
        assumptions: Sentences on unknown facts.
    """

    episode: ConnectEpisode
    protocol: ConnectProtocol
    max_delay_ms: int
    waiting: Jobs
    assumptions: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name in self.episode.workers if name != DEPARTED)


def connect_state(scenario: Scenario, terms: Terms, options: Options) -> ConnectState:
    """The group after the last recorded round of a scenario.

    ``connect.protocol``, the delay and the timeouts of ``terms`` replace the recorded.

    Raises:
        DocumentFormatError: if a part of the round contradicts another.
    """
    given = _given(terms)
    recorded = scenario.connect_history
    protocol = given.get(CONNECT_PROTOCOL, recorded.protocol.value)
    max_delay_ms = int(given.get(MAX_DELAY_KEY, recorded.max_delay_ms))
    begin = {key: value for key, value in scenario.document.items() if key != "observed"}
    begin |= {"rounds": [{**begin["rounds"][-1], "new_leader": False, "generation_gap": False}]}
    begin |= {"protocol": protocol, "max_delay_ms": max_delay_ms}
    assumptions = [*scenario.document.get("assumptions", ())]
    timings = {}
    for key, timing in TIMINGS_OF_WORKERS.items():
        if key in terms.settings:
            timings[timing] = int(terms.settings[key])
    if _SESSION not in terms.settings:
        assumptions.append("session.timeout.ms is taken as 10000, Kafka's default (give it with --config or -c)")
    if options.start_ms is None:
        assumptions.append("a worker is taken to join 3 s after its start (give --start-seconds)")
    else:
        timings["worker_start_ms"] = options.start_ms
    assumptions.append("tasks are taken to start as fast as recorded ones; slow starts favour a longer delay")
    document = {
        "format": 1, "kind": "connect-episode", "id": scenario.id, "initial": begin, "events": [], "until_ms": 0,
        "timings": timings,
    }  # fmt: skip
    episode = read_episode(scenario_from_document(document, scenario.place))
    if scenario.observed is not None:
        episode = _as_decided(episode, scenario)
    spoken = ConnectProtocol(protocol)
    waiting = _waiting(episode) if spoken.is_incremental else Jobs()
    if len(waiting) and len(episode.workers) > 0:
        assumptions.append(
            f"{plural(len(waiting), 'job')} of no worker: they count as lost, and wait for their worker as long as the "
            "leader allows. The leader's memory is unknown: the rest of its delay is drawn"
        )
        first = next(iter(episode.workers.values()))[0]
        settings = attrs.evolve(first, static=WorkerSettings().static, url="", labels={})
        workers = {**episode.workers, DEPARTED: (settings, waiting)}
        episode = attrs.evolve(episode, workers=workers, departed=DEPARTED)
    return ConnectState(episode, spoken, max_delay_ms, waiting, tuple(dict.fromkeys(assumptions)))


def under_connect_configuration(
    state: ConnectState,
    *,
    protocol: str | None = None,
    max_delay_ms: int | None = None,
    timings: Mapping[str, int] = MappingProxyType({}),
) -> ConnectState:
    """The same group with another protocol, another delay or other timings of all workers."""
    spoken = state.protocol if protocol is None else ConnectProtocol(protocol)
    delay = state.max_delay_ms if max_delay_ms is None else max_delay_ms
    workers = {
        name: (attrs.evolve(settings, protocol=spoken, max_delay_ms=delay), owned)
        for name, (settings, owned) in state.episode.workers.items()
    }
    episode = attrs.evolve(
        state.episode, workers=workers, timings=ConnectTimings.from_mapping(timings, state.episode.timings)
    )
    return attrs.evolve(state, episode=episode, protocol=spoken, max_delay_ms=delay)


def _given(terms: Terms) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for layer in terms.sources.above:
        found |= {
            key: held.value for key, held in layer.entries.items() if key in (CONNECT_PROTOCOL, MAX_DELAY_KEY)
        }  # fmt: skip
    return found


def _as_decided(episode: ConnectEpisode, scenario: Scenario) -> ConnectEpisode:
    """The workers' jobs after the last recorded answer."""
    number = len(scenario.connect_history.rounds) - 1
    decided = HOLDING.answer(scenario, number, RoundState(scenario.connect_history, number), scenario.observed or {})
    if decided is None:
        return episode
    after = decided.decision.after
    workers = {name: (settings, after.get(name, owned)) for name, (settings, owned) in episode.workers.items()}
    return attrs.evolve(episode, workers=workers)


def _waiting(episode: ConnectEpisode) -> Jobs:
    waiting = ConfiguredJobs(episode.connectors).jobs()
    for _, owned in episode.workers.values():
        waiting = waiting.minus(owned)
    return waiting
