"""Episodes of Streams groups: a state is an episode, an answer is its outcome with one contender."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

from assignment_api.plugins import Found, FoundTaskAssignor, MetricPlugin, Registry, UnknownPluginError
from assignment_api.plugins.selection import EffectiveConfig
from assignment_api.streams.configs import ASSIGNMENT_KEYS
from assignor_lab.groups.columns import TableColumn
from assignor_lab.groups.kind import ContenderAnswer, FoundAssignor, GroupKind, LoadedContender, Measure
from assignor_lab.groups.metrics.headline import headline_of
from assignor_lab.groups.ownership.recorded_outcome import RecordedOutcome
from assignor_lab.groups.prices import prices_of
from assignor_lab.groups.runner.measures import own_metrics
from assignor_lab.groups.streams.assignor_calls import ASKING
from assignor_lab.groups.streams.comparability import why_play_not_comparable
from assignor_lab.groups.streams_episode.metrics import (
    DOLLARS,
    EPISODE_METRICS,
    EpisodeMetric,
    described_metric,
    dollars,
    median_of_plays,
    text_of_plays,
)
from assignor_lab.groups.streams_episode.session import EpisodeSession, PlayedEpisode
from assignor_lab.kafka.leader.fallback import replacement_without_lags
from assignor_lab.model.pictures import Picture
from assignor_lab.runtime.assignor_calls import AssignorCalls, OwnProcesses
from assignor_lab.scenarios import Scenario
from assignor_lab.simulation.streams.episode import StreamsEpisode
from assignor_lab.simulation.streams.formats.episodes import read_episode, started_instances
from assignor_lab.simulation.streams.formats.plays import document_of
from assignor_lab.simulation.streams.timings import TIMING_KEYS

__all__ = ["STREAMS_EPISODE"]

#: Kafka's own assignor of each protocol.
USUAL = {"classic": "high_availability", "streams": "group_sticky"}


class _StreamsEpisodes(GroupKind[StreamsEpisode, PlayedEpisode]):
    name = "streams-episode"
    plays = True
    headline = headline_of(
        unavailable={
            "unavailable_task_seconds": "Task-seconds unavailable",
            "unavailable_without_restoring_task_seconds": "Task-seconds unavailable, restoring left out",
        },
        restored={
            "restored_bytes_before_processing": "Bytes restored before processing",
            "restored_bytes": "Bytes restored, standbys included",
        },
        cross_zone={DOLLARS: "Cross-zone dollars", "cross_zone_bytes": "Cross-zone bytes"},
        load={"active_tasks_above_even_share": "Active tasks above an even share"},
        failures=("tasks_not_owned",),
        no_state="bytes of the state are unknown",
        size_remedy="give the sizes with --workload, or record with --sample-every",
        no_zones="racks of clients or partitions, or bytes of the state, are unknown",
    )
    columns = (TableColumn("members", "int32"), TableColumn("figures_of_plays", "string"))
    config_keys = tuple(ASSIGNMENT_KEYS)
    timing_keys = TIMING_KEYS
    shows_first = True

    # --- finding ----------------------------------------------------------------------------------

    @property
    def asking(self) -> AssignorCalls[Any, Any]:
        return ASKING

    def installed(self, registry: Registry) -> Sequence[FoundAssignor]:
        return registry.task_assignors()

    def find(self, registry: Registry, selector: str, *, may_run_code: bool = False) -> FoundAssignor:
        try:
            return registry.task_assignor(selector, may_run_code=may_run_code)
        except UnknownPluginError:
            # Assignors of brokers play the same world under the streams protocol.
            if "group-assignor" in registry.assignor_kinds(selector):
                return registry.group_assignor(selector)
            raise

    def others(self, registry: Registry) -> Sequence[FoundAssignor]:
        return registry.group_assignors()

    def usual(self, scenario: Scenario) -> str | None:
        named = scenario.document.get("assignor")
        if named is not None:
            return str(named)
        return USUAL.get(scenario.document.get("protocol", "classic"))

    def contender(self, registry: Registry, found: FoundAssignor) -> LoadedContender:
        stand_in = replacement_without_lags(found, registry) if isinstance(found, FoundTaskAssignor) else None
        return LoadedContender(found.name, found, stand_in=stand_in)

    def protocol(self, found: FoundAssignor) -> str:
        return "classic" if isinstance(found, FoundTaskAssignor) else "streams"

    # --- states -----------------------------------------------------------------------------------

    def state(self, scenario: Scenario, number: int, explicit: Mapping[str, object]) -> StreamsEpisode:
        return read_episode(scenario)

    def size(self, scenario: Scenario) -> tuple[int, int]:
        initial = scenario.content.initial
        return len(initial.tasks), len(initial.clients) + len(started_instances(scenario))

    def player(self, contender: LoadedContender, isolation: OwnProcesses | None) -> EpisodeSession:
        return EpisodeSession(contender, isolation)

    def not_comparable(
        self, scenario: Scenario, state: StreamsEpisode, explicit: Mapping[str, object], answer: PlayedEpisode
    ) -> str | None:
        return why_play_not_comparable(scenario.assumptions, answer.played, explicit)

    # --- measuring --------------------------------------------------------------------------------

    def metrics(self, registry: Registry) -> Mapping[str, Found[MetricPlugin]]:
        return own_metrics(map(described_metric, EPISODE_METRICS))

    def figures(
        self, registry: Registry, names: Sequence[str], config: EffectiveConfig
    ) -> Mapping[str, Measure[StreamsEpisode, PlayedEpisode]]:
        own = {metric.name: _own(metric) for metric in EPISODE_METRICS}
        costs = dollars(prices_of(config).cross_zone_dollars_per_gib)
        own[DOLLARS] = lambda _episode, answer: median_of_plays(costs, answer)
        return {name: own[name] for name in names}

    def row(self, answer: ContenderAnswer[StreamsEpisode, PlayedEpisode]) -> Mapping[str, Any]:
        if answer.state is None:
            return {}
        row: dict[str, Any] = {"tasks": len(answer.state.tasks), "assumptions": list(answer.state.assumptions) or None}
        result = answer.outcome.answer
        if result is not None:
            world = result.played.world
            row["clients"] = len(world.instances)
            row["members"] = sum(max(1, instance.settings.threads) for instance in world.instances.values())
            row["answer_digest"] = _digest(result)
            row |= {"followup": False, "figures_of_plays": _figures_of_plays(answer.state, result)}
        return row

    def document(self, answer: ContenderAnswer[StreamsEpisode, PlayedEpisode]) -> Mapping[str, Any]:
        result = answer.outcome.answer
        assert result is not None
        return document_of(result.played, answer.assignor)

    def picture(
        self, answers: Sequence[ContenderAnswer[StreamsEpisode, PlayedEpisode]], assignor: str | None
    ) -> Picture:
        from assignor_lab.groups.streams_episode.snapshots import episode_picture

        return episode_picture(answers)

    def recorded_outcome(self, answers: Sequence[ContenderAnswer[StreamsEpisode, PlayedEpisode]]) -> RecordedOutcome:
        from assignor_lab.groups.streams_episode.recorded import recorded_outcome

        return recorded_outcome(answers)


def _own(metric: EpisodeMetric) -> Measure[StreamsEpisode, PlayedEpisode]:
    return lambda _episode, answer: median_of_plays(metric.compute, answer)


def _figures_of_plays(state: StreamsEpisode, result: PlayedEpisode) -> str | None:
    """The figures of each play of a past, by metric, as text; ``None`` of a single play without an error."""
    if not state.plays.draws:
        return None
    return text_of_plays(state.plays.error, result)


def _digest(result: PlayedEpisode) -> str:
    digest = blake2b(digest_size=8)
    for each in result.plays:
        for generation in each.played.generations:
            digest.update(json.dumps(sorted(generation.assigned.items())).encode())
    return digest.hexdigest()


STREAMS_EPISODE = _StreamsEpisodes()
