"""Applications of Kafka Streams (KIP-924): a state is an application, an answer is a task assignment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import attrs

from assignment_api import ApplicationMetadata, AssignmentError, TaskAssignment
from assignment_api.plugins import Found, FoundTaskAssignor, MetricPlugin, PluginRow, Registry
from assignment_api.plugins.keys import TASK_ASSIGNOR_CLASS
from assignment_api.plugins.selection import EffectiveConfig
from assignment_api.streams.configs import ASSIGNMENT_KEYS
from assignor_lab.groups.changes import ChangesOf, InputTrial
from assignor_lab.groups.kind import (
    AnswerOptions,
    FoundAssignor,
    GroupKind,
    LoadedContender,
    Measure,
    Prober,
    Utility,
)
from assignor_lab.groups.metrics.gaps import Gaps
from assignor_lab.groups.metrics.headline import headline_of
from assignor_lab.groups.ownership.ownership import OwnershipOf
from assignor_lab.groups.runner.measures import measures_of, metrics_of
from assignor_lab.groups.runner.one_call import OneCall
from assignor_lab.groups.runner.rows import remarks_column
from assignor_lab.groups.streams.answers import (
    StreamsAnswer,
    answer_digest,
    equals_observed,
    followup_of,
    observed_outcome,
)
from assignor_lab.groups.streams.assignor_calls import ASKING
from assignor_lab.groups.streams.checking import number_of_findings
from assignor_lab.groups.streams.comparability import racks_unknown, why_not_comparable
from assignor_lab.groups.task_limits import limits_of_classic
from assignor_lab.groups.work import OBSERVED
from assignor_lab.kafka.leader.fallback import is_internal, replacement_without_lags
from assignor_lab.model.pictures import Picture
from assignor_lab.runtime.assignor_calls import AssignorCalls, OwnProcesses
from assignor_lab.runtime.invocation import CallOutcome
from assignor_lab.runtime.isolation.limits import Limits
from assignor_lab.scenarios import Scenario, result_row

__all__ = ["STREAMS"]


class _Streams(GroupKind[ApplicationMetadata, TaskAssignment]):
    name = "streams"
    section = "placements"
    config_keys = tuple(ASSIGNMENT_KEYS)
    class_key = TASK_ASSIGNOR_CLASS
    headline = headline_of(
        restored={
            "bytes_to_restore": "Bytes to restore, standbys included",
            "offsets_to_restore": "Records to restore, standbys included",
            "replicas_placed_without_state": "Replicas placed without state",
        },
        cross_zone={
            "cross_zone_dollars_per_month": "Cross-zone dollars a month",
            "racks_crossed": "Partitions read across racks",
        },
        load={"process_load_excess": "Worst load of a process, standbys included"},
        failures=("tasks_not_assigned",),
    )

    @property
    def asking(self) -> AssignorCalls[Any, Any]:
        return ASKING

    def installed(self, registry: Registry) -> Sequence[FoundAssignor]:
        return registry.task_assignors()

    def contender(self, registry: Registry, found: FoundAssignor) -> LoadedContender:
        assert isinstance(found, FoundTaskAssignor)
        stand_in = replacement_without_lags(found, registry)
        return LoadedContender(found.name, found, None if stand_in is found else stand_in)

    @property
    def utilities(self) -> Mapping[str, Utility]:
        from assignor_lab.groups.streams.utilities import UTILITIES

        return UTILITIES

    def state(self, scenario: Scenario, number: int, explicit: Mapping[str, object]) -> ApplicationMetadata:
        return scenario.application_with(explicit)

    def size(self, scenario: Scenario) -> tuple[int, int]:
        return len(scenario.tasks), len(scenario.clients)

    def scene(self, state: ApplicationMetadata) -> object:
        clients = state.streams_client_states().values()
        return (tuple([(client.process_id, client.consumers) for client in clients]), tuple(state.all_tasks()))

    def settings(self, state: ApplicationMetadata) -> object:
        return state.assignment_configs()

    def not_comparable(
        self, scenario: Scenario, state: ApplicationMetadata, explicit: Mapping[str, object], answer: TaskAssignment
    ) -> str | None:
        return why_not_comparable(scenario, state, explicit, answer)

    def player(
        self, contender: LoadedContender, isolation: OwnProcesses | None
    ) -> OneCall[ApplicationMetadata, TaskAssignment]:
        return OneCall(ASKING, partial(_asked_about, contender), isolation)

    def observed(self, scenario: Scenario, number: int) -> CallOutcome[TaskAssignment] | None:
        return observed_outcome(scenario)

    def tell(self, registry: Registry, answer: StreamsAnswer) -> Iterable[PluginRow]:
        if answer.state is None:
            return ()
        outcome = answer.outcome
        return registry.notify_assignment_computed(
            answer.assignor,
            answer.state,
            outcome.answer,
            None if outcome.answer is None else outcome.validation or AssignmentError.NONE,
            None if outcome.failure is None else outcome.failure.message,
        )

    def metrics(self, registry: Registry) -> Mapping[str, Found[MetricPlugin]]:
        # The lab's own ones come from the registry like all others.
        return metrics_of(registry, self.name)

    @property
    def on_request(self) -> Sequence[MetricPlugin]:
        from assignor_lab.groups.streams.gaps import GAP_METRICS
        from assignor_lab.groups.streams.metrics.weights import SPIKE_METRICS

        return (*GAP_METRICS, *SPIKE_METRICS)

    def gaps(self, state: ApplicationMetadata, answer: TaskAssignment) -> Gaps | None:
        from assignor_lab.groups.streams.gaps import gaps_of

        return gaps_of(state, answer)

    def figures(
        self, registry: Registry, names: Sequence[str], config: EffectiveConfig
    ) -> Mapping[str, Measure[ApplicationMetadata, TaskAssignment]]:
        from assignor_lab.groups.metrics.gaps import gap_measures
        from assignor_lab.groups.prices import prices_of
        from assignor_lab.groups.streams.gaps import GAP_METRICS, gaps_of
        from assignor_lab.groups.streams.metrics.cost import COST_METRICS, priced_metrics
        from assignor_lab.groups.streams.metrics.weights import SPIKE_METRICS

        # The lab's own ones in dollars are those at the prices of this run.
        prices = {metric.name: metric for metric in priced_metrics(prices_of(config))}
        priced = {metric: prices.get(metric.name, metric) for metric in COST_METRICS}
        own = gap_measures(GAP_METRICS, gaps_of) | {metric.name: metric.compute for metric in SPIKE_METRICS}
        return measures_of(registry, names, lambda metric: priced.get(metric, metric).compute, own)

    def row(self, answer: StreamsAnswer) -> Mapping[str, Any]:
        state, outcome = answer.state, answer.outcome
        row: dict[str, Any] = {"validation": (outcome.validation or AssignmentError.NONE).name}
        if state is not None:
            row |= {
                "clients": len(state.streams_client_states()),
                "tasks": len(state.all_tasks()),
                "stateful_tasks": len(state.stateful_tasks()),
                "racks_unknown": answer.scenario is not None and racks_unknown(answer.scenario, state),
            }
        assignment = outcome.answer
        if state is not None and assignment is not None:
            row |= {
                # Kafka's own decision has to pass Kafka's check only.
                "finding_count": 0 if answer.assignor == OBSERVED else number_of_findings(state, assignment),
                "followup": followup_of(answer),
                "answer_digest": answer_digest(state, assignment),
                "equals_observed": equals_observed(answer),
                "remarks": remarks_column(assignment.remarks),
            }
        return row

    def document(self, answer: StreamsAnswer) -> Mapping[str, Any]:
        scenario, assignment = answer.scenario, answer.outcome.answer
        assert scenario is not None
        assert assignment is not None
        line = result_row(scenario, answer.assignor, assignment, with_followups=True)
        return {key: line[key] for key in ("assignment", "followup", "followups")}

    def prober(self, limits: Limits) -> Prober[ApplicationMetadata, TaskAssignment]:
        from assignor_lab.groups.streams.probing import Prober as StreamsProber

        prober = StreamsProber(limits)

        def columns(answer: StreamsAnswer) -> Mapping[str, Any]:
            chosen, state = answer.asked, answer.state
            if chosen is None or state is None:
                return {}
            found = prober.probe(chosen.name, chosen.distribution, state, chosen.configs, answer.outcome, chosen.origin)
            return {} if found is None else attrs.asdict(found)

        return columns

    def task_limits(self, scenario: Scenario) -> Sequence[str]:
        return limits_of_classic(scenario.tasks)

    @property
    def ownership(self) -> OwnershipOf[ApplicationMetadata, TaskAssignment]:
        from assignor_lab.groups.streams.ownership import HOLDING

        return HOLDING

    @property
    def changes(self) -> ChangesOf[ApplicationMetadata]:
        from assignor_lab.groups.streams.changes import CHANGES

        return CHANGES

    def trials(self, decisions: Sequence[Scenario], config: EffectiveConfig, assignor: str) -> Iterable[InputTrial]:
        from assignor_lab.groups.streams.changes import streams_trials

        return streams_trials(decisions, config, assignor)

    def picture(self, answers: Sequence[StreamsAnswer], assignor: str | None) -> Picture:
        from assignor_lab.groups.streams.snapshots import detail_of

        return detail_of(answers, assignor)

    def line(
        self,
        scenario: Scenario,
        assignor: FoundAssignor,
        answers: Sequence[tuple[ApplicationMetadata, TaskAssignment]],
        options: AnswerOptions,
    ) -> dict[str, Any]:
        from assignor_lab.groups.streams.utilities import threads_of

        ((state, assignment),) = answers
        assert isinstance(assignor, FoundTaskAssignor)
        threads = threads_of(state, assignment, sorted_sets=is_internal(assignor)) if options.threads else None
        return result_row(scenario, assignor.name, assignment, threads=threads, with_followups=options.followups)

    def remarks(self, answer: TaskAssignment) -> Sequence[str]:
        return answer.remarks


def _asked_about(contender: LoadedContender, state: ApplicationMetadata) -> FoundAssignor:
    """The assignor that really answers: Kafka's leader replaces some assignors if it knows no lags.

    Kafka: ``StreamsPartitionAssignor``.
    """
    stand_in: FoundAssignor | None = contender.stand_in
    if stand_in is None or all(client.has_lags() for client in state.streams_client_states().values()):
        return contender.found
    return stand_in


STREAMS = _Streams()
