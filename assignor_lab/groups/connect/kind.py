"""Groups of Kafka Connect over their rebalances: a state is a round, an answer an assignment with its consequences."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

from assignment_api.connect import CONNECT_PROTOCOL, MAX_DELAY_KEY, ConnectProtocol, Jobs
from assignment_api.plugins import Found, FoundConnectAssignor, MetricPlugin, PluginRow, Registry
from assignment_api.plugins.selection import EffectiveConfig
from assignor_lab.groups.changes import ChangesOf, InputTrial
from assignor_lab.groups.connect.assignor_calls import ASKING
from assignor_lab.groups.connect.metrics import CONNECT_METRICS, ConnectDecision, ConnectMetric, described_metric
from assignor_lab.groups.connect.rounds import RebalanceAnswer, RoundSession, RoundState, spoken_protocol
from assignor_lab.groups.kind import AnswerOptions, ContenderAnswer, FoundAssignor, GroupKind, LoadedContender, Measure
from assignor_lab.groups.metrics.gaps import Gaps, gap_measures
from assignor_lab.groups.metrics.headline import headline_of
from assignor_lab.groups.ownership.ownership import OwnershipOf
from assignor_lab.groups.runner.measures import measures_of, metrics_of
from assignor_lab.groups.runner.rows import remarks_column
from assignor_lab.model.pictures import Picture
from assignor_lab.runtime.assignor_calls import AssignorCalls, OwnProcesses
from assignor_lab.runtime.invocation import CallOutcome
from assignor_lab.scenarios import Scenario, connect_result_row
from assignor_lab.scenarios.connect_history import MEMBER_IDS_UNKNOWN
from assignor_lab.scenarios.results import connect_round

__all__ = ["CONNECT", "CONNECT_KEYS", "plugin_rows"]

#: Keys of Kafka Connect that decide an assignment.
CONNECT_KEYS = (CONNECT_PROTOCOL, MAX_DELAY_KEY)


class _Connect(GroupKind[RoundState, RebalanceAnswer]):
    name = "connect"
    # Balance alone would favour an assignor that stops everything before each rebalance.
    headline = headline_of(
        unavailable=("jobs_stopped",),
        unavailable_title="Jobs stopped",
        load={"jobs_above_even_share": "Jobs above an even share"},
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

    def rounds(self, scenario: Scenario) -> int:
        return len(scenario.connect_history.rounds)

    def state(self, scenario: Scenario, number: int, explicit: Mapping[str, object]) -> RoundState:
        return RoundState(scenario.connect_history, number)

    def size(self, scenario: Scenario) -> tuple[int, int]:
        rounds = scenario.connect_history.rounds
        tasks = max((sum(each.configured.task_counts.values()) for each in rounds), default=0)
        return tasks, max((len(each.workers) for each in rounds), default=0)

    def player(self, contender: LoadedContender, isolation: OwnProcesses | None) -> RoundSession:
        return RoundSession(contender, isolation)

    def observed(self, scenario: Scenario, number: int) -> CallOutcome[RebalanceAnswer] | None:
        if scenario.observed is None:
            return None
        decided = self.ownership.answer(scenario, number, self.state(scenario, number, {}), scenario.observed)
        return None if decided is None else CallOutcome(decided)

    def after(self, answer: RebalanceAnswer) -> Mapping[str, Jobs]:
        return answer.decision.after

    def tell(self, registry: Registry, answer: ContenderAnswer[RoundState, RebalanceAnswer]) -> Iterable[PluginRow]:
        return plugin_rows(registry, answer)

    def metrics(self, registry: Registry) -> Mapping[str, Found[MetricPlugin]]:
        return metrics_of(registry, self.name, map(described_metric, CONNECT_METRICS))

    @property
    def on_request(self) -> Sequence[MetricPlugin]:
        from assignor_lab.groups.connect.gaps import GAP_METRICS

        return GAP_METRICS

    def gaps(self, state: RoundState, answer: RebalanceAnswer) -> Gaps | None:
        return _gaps(state, answer)

    def figures(
        self, registry: Registry, names: Sequence[str], config: EffectiveConfig
    ) -> Mapping[str, Measure[RoundState, RebalanceAnswer]]:
        own = {metric.name: _own(metric) for metric in CONNECT_METRICS}
        return measures_of(registry, names, _of_plugin, own | gap_measures(self.on_request, _gaps))

    def row(self, answer: ContenderAnswer[RoundState, RebalanceAnswer]) -> Mapping[str, Any]:
        row: dict[str, Any] = {}
        if answer.state is not None:
            there = answer.state.round
            row |= {"clients": len(there.workers), "tasks": sum(there.configured.task_counts.values())}
            if answer.scenario is not None and answer.scenario.source is not None:
                row["time_ms"] = there.time_ms
        decided = answer.outcome.answer
        if decided is not None:
            row |= {
                "followup": decided.decision.followup,
                "answer_digest": _digest(decided.decision.after),
                "remarks": remarks_column(decided.assignment.remarks),
            }
        return row

    def usual(self, scenario: Scenario) -> str | None:
        """Eager groups have another assignor of Kafka."""
        return "connect_eager" if scenario.connect_history.protocol is ConnectProtocol.EAGER else None

    def not_comparable(
        self, scenario: Scenario, state: RoundState, explicit: Mapping[str, object], answer: RebalanceAnswer
    ) -> str | None:
        return MEMBER_IDS_UNKNOWN if MEMBER_IDS_UNKNOWN in scenario.assumptions else None

    def document(self, answer: ContenderAnswer[RoundState, RebalanceAnswer]) -> Mapping[str, Any]:
        state, decided = answer.state, answer.outcome.answer
        assert state is not None
        assert decided is not None
        return connect_round((worker.member_id for worker in state.round.workers), decided.assignment)

    @property
    def ownership(self) -> OwnershipOf[RoundState, RebalanceAnswer]:
        from assignor_lab.groups.connect.ownership import HOLDING

        return HOLDING

    @property
    def changes(self) -> ChangesOf[RoundState]:
        from assignor_lab.groups.connect.changes import CHANGES

        return CHANGES

    def trials(self, decisions: Sequence[Scenario], config: EffectiveConfig, assignor: str) -> Iterable[InputTrial]:
        from assignor_lab.groups.connect.changes import connect_trials

        return connect_trials(decisions, assignor)

    def picture(self, answers: Sequence[ContenderAnswer[RoundState, RebalanceAnswer]], assignor: str | None) -> Picture:
        from assignor_lab.groups.connect.snapshots import rebalance_picture

        return rebalance_picture(answers, assignor)

    def place_of_round(self, number: int) -> str:
        return f"rounds[{number}]"

    def suppositions(self, found: FoundAssignor, config: EffectiveConfig) -> Iterable[str]:
        assert isinstance(found, FoundConnectAssignor)
        configured = ConnectProtocol.from_config(config[CONNECT_PROTOCOL].value)
        protocol = spoken_protocol(found, configured)
        if protocol is not configured:
            yield f"{found.name} leads eager groups only: answered as if this one spoke {protocol.value}"

    def line(
        self,
        scenario: Scenario,
        assignor: FoundAssignor,
        answers: Sequence[tuple[RoundState, RebalanceAnswer]],
        options: AnswerOptions,
    ) -> dict[str, Any]:
        return connect_result_row(scenario, assignor.name, [decided.assignment for _, decided in answers])

    def remarks(self, answer: RebalanceAnswer) -> Sequence[str]:
        return answer.assignment.remarks


def _own(metric: ConnectMetric[ConnectDecision]) -> Measure[RoundState, RebalanceAnswer]:
    return lambda _state, decided: metric.compute(decided.decision)


def _gaps(_state: RoundState, decided: RebalanceAnswer) -> Gaps | None:
    from assignor_lab.groups.connect.gaps import gaps_of

    return gaps_of(decided.decision)


def _of_plugin(metric: MetricPlugin) -> Measure[RoundState, RebalanceAnswer]:
    return lambda _state, decided: metric.compute(decided.rebalance, decided.assignment)


def plugin_rows(registry: Registry, answer: ContenderAnswer[Any, Any]) -> Iterable[PluginRow]:
    """Passes every call of an answer to the observers among the plugins; a row for each that failed."""
    for rebalance, outcome in answer.calls:
        failure = None if outcome.failure is None else outcome.failure.message
        yield from registry.notify_connect_assignment_computed(answer.assignor, rebalance, outcome.answer, failure)


def _digest(after: Mapping[str, Jobs]) -> str:
    digest = blake2b(digest_size=8)
    for member, jobs in sorted(after.items()):
        line = [member, sorted(jobs.connectors), sorted(map(str, jobs.tasks))]
        digest.update(json.dumps(line).encode())
    return digest.hexdigest()


CONNECT = _Connect()
