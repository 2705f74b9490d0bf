"""Groups of the streams protocol (KIP-1071): a state is a group with its topology, an answer is a group assignment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from assignment_api.group import GroupAssignment
from assignment_api.plugins import Found, MetricPlugin, PluginRow, Registry
from assignment_api.plugins.selection import EffectiveConfig
from assignment_api.streams.configs import NUM_STANDBY_REPLICAS
from assignor_lab.groups.kind import Answer, AnswerOptions, Asked, Competitor, FoundAssignor, Kind, Measure, Reply
from assignor_lab.groups.measures import plugin_columns
from assignor_lab.groups.streams_group.asking import ASKING, GroupState
from assignor_lab.runtime.asking import Asking, OwnProcesses, assignor_for
from assignor_lab.scenarios import Scenario, group_result_row

__all__ = ["STREAMS_GROUP"]


class _Player:
    """A broker-side assignor."""

    def __init__(self, competitor: Competitor, isolation: OwnProcesses | None) -> None:
        self._found = competitor.found
        self._isolation = isolation

    def asked(self, state: GroupState, config: EffectiveConfig) -> Asked:
        return Asked(self._found.name, self._found.distribution, config.values_for(self._found.name))

    def answer(self, state: GroupState, asked: Asked) -> Reply[GroupAssignment]:
        return Reply(assignor_for(ASKING, self._found, asked.configs, self._isolation).ask(state))

    def looked_ahead(self, answer: GroupAssignment) -> GroupAssignment:
        return answer


class _StreamsGroup(Kind[GroupState, GroupAssignment]):
    name = "streams-group"
    config_keys = (NUM_STANDBY_REPLICAS,)

    @property
    def asking(self) -> Asking[Any, Any]:
        return ASKING

    def installed(self, registry: Registry) -> Sequence[FoundAssignor]:
        return registry.group_assignors()

    def state(self, scenario: Scenario, number: int, explicit: Mapping[str, Any]) -> GroupState:
        return GroupState(scenario.group_spec_with(explicit), scenario.topology)

    def size(self, scenario: Scenario) -> tuple[int, int]:
        return sum(subtopology["tasks"] for subtopology in scenario.document["subtopologies"]), len(scenario.member_ids)

    def player(self, competitor: Competitor, isolation: OwnProcesses | None) -> _Player:
        return _Player(competitor, isolation)

    def tell(self, registry: Registry, answer: Answer[GroupState, GroupAssignment]) -> Iterable[PluginRow]:
        if answer.state is None:
            return ()
        outcome, state = answer.outcome, answer.state
        failure = None if outcome.failure is None else outcome.failure.message
        return registry.notify_group_assignment_computed(
            answer.assignor, state.group, state.topology, outcome.answer, failure
        )

    def metrics(self, registry: Registry) -> Mapping[str, Found[MetricPlugin]]:
        return {name: registry.metric(name) for name in plugin_columns(registry, self.name)}

    def figures(
        self, registry: Registry, names: Sequence[str], config: EffectiveConfig
    ) -> Mapping[str, Measure[GroupState, GroupAssignment]]:
        return {name: registry.metric(name).plugin.compute for name in names}

    def row(self, answer: Answer[GroupState, GroupAssignment]) -> Mapping[str, Any]:
        if answer.state is None:
            return {}
        group, topology = answer.state.group, answer.state.topology
        tasks = sum(topology.max_num_input_partitions(key) for key in topology.subtopologies())
        return {"tasks": tasks, "clients": len(group.members)}

    def picture(self, answers: Sequence[Answer[GroupState, GroupAssignment]], assignor: str | None) -> dict[str, Any]:
        seen = answers[0]
        return {"scenario": None if seen.scenario is None else seen.scenario.id, "round": seen.round}

    def line(
        self,
        scenario: Scenario,
        assignor: FoundAssignor,
        answers: Sequence[tuple[GroupState, GroupAssignment]],
        options: AnswerOptions,
    ) -> dict[str, Any]:
        ((_, assignment),) = answers
        return group_result_row(scenario, assignor.name, assignment)


#: Groups of the streams protocol.
STREAMS_GROUP = _StreamsGroup()
