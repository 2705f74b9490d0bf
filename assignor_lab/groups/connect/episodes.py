"""Episodes of Connect groups: each assignor leads its own simulated group through the same events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from assignment_api.connect import ConnectAssignment, ConnectAssignor, ConnectProtocol, Rebalance
from assignment_api.plugins import Found, FoundConnectAssignor, MetricPlugin, PluginRow, Registry
from assignment_api.plugins.keys import is_setting
from assignment_api.plugins.selection import EffectiveConfig
from assignor_lab.groups.connect.assignor_calls import ASKING, ConnectOutcome
from assignor_lab.groups.connect.kind import CONNECT_KEYS, plugin_rows
from assignor_lab.groups.connect.metrics import EPISODE_METRICS, ConnectMetric, described_metric
from assignor_lab.groups.kind import (
    AnsweringAssignor,
    ContenderAnswer,
    ContenderReply,
    FoundAssignor,
    GroupKind,
    LoadedContender,
    Measure,
)
from assignor_lab.groups.metrics.headline import headline_of
from assignor_lab.groups.runner.measures import own_metrics
from assignor_lab.model.pictures import Picture
from assignor_lab.runtime.assignor_calls import AssignorCalls, OwnProcesses, assignor_for
from assignor_lab.runtime.invocation import CallFailure, CallOutcome, failure_of, summed_times
from assignor_lab.scenarios import Scenario
from assignor_lab.scenarios.results import connect_round
from assignor_lab.simulation.connect.cluster import AssignorFactory
from assignor_lab.simulation.connect.episode import ConnectEpisode
from assignor_lab.simulation.connect.formats.episodes import read_episode
from assignor_lab.simulation.connect.simulate import PlayedConnectEpisode, assignors_from, simulate

__all__ = ["CONNECT_EPISODE"]


class _ConnectEpisodes(GroupKind[ConnectEpisode, PlayedConnectEpisode]):
    name = "connect-episode"
    plays = True
    headline = headline_of(
        unavailable=("unavailable_task_seconds",),
        load={"final_tasks_per_worker_range": "Tasks between the busiest and the idlest worker"},
        no_state="workers keep no state",
        no_zones="workers have no racks",
    )
    config_keys = CONNECT_KEYS
    shows_first = True

    @property
    def asking(self) -> AssignorCalls[Any, Any]:
        return ASKING

    def installed(self, registry: Registry) -> Sequence[FoundAssignor]:
        return registry.connect_assignors()

    def contender(self, registry: Registry, found: FoundAssignor) -> LoadedContender:
        # Kafka's own assignors lead if a contender cannot: eager groups of an episode.
        return LoadedContender(found.name, found, stand_in=assignors_from(registry))

    def state(self, scenario: Scenario, number: int, explicit: Mapping[str, object]) -> ConnectEpisode:
        return read_episode(scenario)

    def size(self, scenario: Scenario) -> tuple[int, int]:
        episode = read_episode(scenario)
        return sum(episode.connectors.values()), len(episode.workers)

    def player(self, contender: LoadedContender, isolation: OwnProcesses | None) -> _ConnectSession:
        return _ConnectSession(contender, isolation)

    def tell(
        self, registry: Registry, answer: ContenderAnswer[ConnectEpisode, PlayedConnectEpisode]
    ) -> Iterable[PluginRow]:
        return plugin_rows(registry, answer)

    def metrics(self, registry: Registry) -> Mapping[str, Found[MetricPlugin]]:
        return own_metrics(map(described_metric, EPISODE_METRICS))

    def figures(
        self, registry: Registry, names: Sequence[str], config: EffectiveConfig
    ) -> Mapping[str, Measure[ConnectEpisode, PlayedConnectEpisode]]:
        own = {metric.name: _own(metric) for metric in EPISODE_METRICS}
        return {name: own[name] for name in names}

    def row(self, answer: ContenderAnswer[ConnectEpisode, PlayedConnectEpisode]) -> Mapping[str, Any]:
        if answer.state is None:
            return {}
        return {"clients": len(answer.state.workers), "tasks": sum(answer.state.connectors.values())}

    def document(self, answer: ContenderAnswer[ConnectEpisode, PlayedConnectEpisode]) -> Mapping[str, Any]:
        # The rebalances that it led itself, in order; Kafka's own assignors led the others.
        led = [(rebalance, outcome.answer) for rebalance, outcome in answer.calls]
        return {
            "rounds": [
                {
                    "time_ms": rebalance.time_ms,
                    "generation": rebalance.generation,
                    **connect_round((worker.member_id for worker in rebalance.workers), assignment),
                }
                for rebalance, assignment in led
                if assignment is not None
            ]
        }

    def picture(
        self, answers: Sequence[ContenderAnswer[ConnectEpisode, PlayedConnectEpisode]], assignor: str | None
    ) -> Picture:
        from assignor_lab.groups.connect.snapshots import episode_picture

        return episode_picture(answers)


def _own(metric: ConnectMetric[PlayedConnectEpisode]) -> Measure[ConnectEpisode, PlayedConnectEpisode]:
    return lambda _episode, played: metric.compute(played)


class _ConnectSession:
    def __init__(self, contender: LoadedContender, isolation: OwnProcesses | None) -> None:
        assert isinstance(contender.found, FoundConnectAssignor)
        self._found = contender.found
        self._builtin: AssignorFactory = contender.stand_in
        self._isolation = isolation

    def asked(self, state: ConnectEpisode, config: EffectiveConfig) -> AnsweringAssignor:
        values = config.values_of(self._found)
        # The workers of an episode have the values of Kafka's keys from the episode.
        configs = {key: value for key, value in values.items() if is_setting(key)}
        return AnsweringAssignor(self._found.name, self._found.distribution, configs)

    def answer(self, state: ConnectEpisode, chosen: AnsweringAssignor) -> ContenderReply[PlayedConnectEpisode]:
        calls: list[tuple[Rebalance, ConnectOutcome]] = []

        def make(protocol: ConnectProtocol) -> ConnectAssignor:
            leads = self._found.plugin.protocols
            if not leads or protocol.value in leads or protocol.is_incremental:
                return _Simulated(self._found, calls, self._isolation)
            return self._builtin(protocol)

        result: PlayedConnectEpisode | CallFailure
        loss = None
        try:
            result = simulate(_led_by(state, self._found, chosen.configs), make)
        except _NoAnswerError as error:
            result, loss = error.failure, error.outcome.loss
        except Exception as error:  # noqa: BLE001 - any failure of the simulation is a row
            result = failure_of(error)
        times = summed_times(outcome for _, outcome in calls)
        return ContenderReply(CallOutcome(result, **times, loss=loss), calls)

    def looked_ahead(self, answer: PlayedConnectEpisode) -> PlayedConnectEpisode:
        return answer


class _NoAnswerError(Exception):
    def __init__(self, failure: CallFailure, outcome: ConnectOutcome) -> None:
        super().__init__(failure.message)
        self.failure = failure
        self.outcome = outcome


class _Simulated(ConnectAssignor):
    def __init__(
        self,
        found: FoundConnectAssignor,
        calls: list[tuple[Rebalance, ConnectOutcome]],
        isolation: OwnProcesses | None,
    ) -> None:
        self._found = found
        self._calls = calls
        self._isolation = isolation
        self._leading = assignor_for(ASKING, found, {}, isolation)

    def configure(self, configs: Mapping[str, object]) -> None:
        self._leading = assignor_for(ASKING, self._found, configs, self._isolation)

    def assign(self, rebalance: Rebalance) -> ConnectAssignment:
        outcome = self._leading.ask(rebalance)
        self._calls.append((rebalance, outcome))
        if isinstance(outcome.result, CallFailure):
            raise _NoAnswerError(outcome.result, outcome)
        return outcome.result


def _led_by(episode: ConnectEpisode, found: FoundConnectAssignor, configs: Mapping[str, object]) -> ConnectEpisode:
    """The episode with the settings of the run; an assignor for eager groups only gets an eager group."""
    eager = found.plugin.protocols == (ConnectProtocol.EAGER.value,)
    workers = {
        name: (
            attrs.evolve(
                settings,
                protocol=ConnectProtocol.EAGER if eager else settings.protocol,
                configs={**settings.configs, **configs},
            ),
            owned,
        )
        for name, (settings, owned) in episode.workers.items()
    }
    if not eager:
        return attrs.evolve(episode, workers=workers)
    events = tuple(
        attrs.evolve(event, details=attrs.evolve(event.details, protocol=ConnectProtocol.EAGER))
        if event.details.protocol is not None
        else event
        for event in episode.events
    )
    return attrs.evolve(episode, workers=workers, events=events)


CONNECT_EPISODE = _ConnectEpisodes()
