"""Groups of the streams protocol (KIP-1071): a state is a group with its topology, an answer is a group assignment."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

from assignment_api.group import GroupAssignment
from assignment_api.plugins import Found, MetricPlugin, PluginRow, Registry
from assignment_api.plugins.keys import RACK_TAGS_OF_GROUP
from assignment_api.plugins.selection import EffectiveConfig
from assignment_api.streams.configs import NUM_STANDBY_REPLICAS, RACK_AWARE_ASSIGNMENT_TAGS
from assignor_lab.groups.changes import ChangesOf, InputTrial
from assignor_lab.groups.columns import TableColumn
from assignor_lab.groups.kind import AnswerOptions, ContenderAnswer, FoundAssignor, GroupKind, LoadedContender, Measure
from assignor_lab.groups.metrics.definition import OfView
from assignor_lab.groups.metrics.gaps import Gaps, gap_measures
from assignor_lab.groups.metrics.headline import headline_of
from assignor_lab.groups.ownership.ownership import OwnershipOf
from assignor_lab.groups.runner.measures import measures_of, metrics_of
from assignor_lab.groups.runner.one_call import OneCall
from assignor_lab.groups.streams_group.assignor_calls import ASKING, StreamsGroupState
from assignor_lab.groups.task_limits import limits_of_streams
from assignor_lab.groups.work import OBSERVED
from assignor_lab.model.pictures import Picture
from assignor_lab.runtime.assignor_calls import AssignorCalls, OwnProcesses
from assignor_lab.runtime.invocation import CallOutcome
from assignor_lab.scenarios import Scenario, group_result_row
from assignor_lab.scenarios.results import group_members

__all__ = ["STREAMS_GROUP"]


class _StreamsGroup(GroupKind[StreamsGroupState, GroupAssignment]):
    name = "streams-group"
    headline = headline_of(
        restored={
            "offsets_to_restore": "Records to restore, standbys included",
            "replicas_placed_without_state": "Replicas placed without state",
        },
        load={"process_load_excess": "Worst load of a process, standbys included"},
        failures=("tasks_not_assigned",),
        no_zones="brokers show assignors no racks of partitions",
    )
    columns = (TableColumn("members", "int32"),)
    section = "placements"
    shows_first = True
    config_keys = (NUM_STANDBY_REPLICAS, RACK_AWARE_ASSIGNMENT_TAGS)

    @property
    def asking(self) -> AssignorCalls[Any, Any]:
        return ASKING

    def installed(self, registry: Registry) -> Sequence[FoundAssignor]:
        return registry.group_assignors()

    # --- states -----------------------------------------------------------------------------------

    def state(self, scenario: Scenario, number: int, explicit: Mapping[str, object]) -> StreamsGroupState:
        return StreamsGroupState(scenario.group_spec_with(explicit), scenario.topology)

    def size(self, scenario: Scenario) -> tuple[int, int]:
        tasks = sum(subtopology["tasks"] for subtopology in scenario.document["subtopologies"])
        return tasks, len({member["process_id"] for member in scenario.document["members"]})

    def scene(self, state: StreamsGroupState) -> object:
        members = tuple([(member_id, member.metadata.process_id) for member_id, member in state.group.members.items()])
        return members, state.topology

    # --- calling ----------------------------------------------------------------------------------

    def player(
        self, contender: LoadedContender, isolation: OwnProcesses | None
    ) -> OneCall[StreamsGroupState, GroupAssignment]:
        return OneCall(ASKING, lambda _state: contender.found, isolation)

    def observed(self, scenario: Scenario, number: int) -> CallOutcome[GroupAssignment] | None:
        if scenario.observed is None:
            return None
        state = self.state(scenario, number, {})
        decided = self.ownership.answer(scenario, number, state, scenario.observed)
        return None if decided is None else CallOutcome(decided)

    def tell(
        self, registry: Registry, answer: ContenderAnswer[StreamsGroupState, GroupAssignment]
    ) -> Iterable[PluginRow]:
        if answer.state is None:
            return ()
        outcome, state = answer.outcome, answer.state
        failure = None if outcome.failure is None else outcome.failure.message
        return registry.notify_group_assignment_computed(
            answer.assignor, state.group, state.topology, outcome.answer, failure
        )

    # --- measuring --------------------------------------------------------------------------------

    def metrics(self, registry: Registry) -> Mapping[str, Found[MetricPlugin]]:
        from assignor_lab.groups.streams_group.metrics import GROUP_METRICS

        # Most have the names of those for applications, so they cannot be in the registry under them.
        return metrics_of(registry, self.name, GROUP_METRICS, self.columns)

    @property
    def on_request(self) -> Sequence[MetricPlugin]:
        from assignor_lab.groups.streams_group.gaps import GAP_METRICS

        return GAP_METRICS

    def gaps(self, state: StreamsGroupState, answer: GroupAssignment) -> Gaps | None:
        return _gaps(state, answer)

    def figures(
        self, registry: Registry, names: Sequence[str], config: EffectiveConfig
    ) -> Mapping[str, Measure[StreamsGroupState, GroupAssignment]]:
        from assignor_lab.groups.streams_group.metrics import GROUP_METRICS

        own = {metric.name: _measure(metric) for metric in GROUP_METRICS}
        return measures_of(registry, names, _measure, own | gap_measures(self.on_request, _gaps))

    def row(self, answer: ContenderAnswer[StreamsGroupState, GroupAssignment]) -> Mapping[str, Any]:
        from assignor_lab.groups.streams_group.faults import group_findings
        from assignor_lab.groups.streams_group.placement import state_of

        if answer.state is None:
            return {}
        group, topology = answer.state.group, answer.state.topology
        state = state_of(group, topology)
        row: dict[str, Any] = {
            "clients": len(state.threads),
            "tasks": len(state.topology.stateful),
            "stateful_tasks": sum(state.topology.stateful),
            "members": state.members,
        }
        assignment = answer.outcome.answer
        if assignment is not None:
            row |= {
                "finding_count": len(group_findings(group, topology, assignment)),
                # A broker's assignor cannot request another assignment.
                "followup": False,
                "answer_digest": _digest(assignment),
                "equals_observed": self._equals_observed(answer, assignment),
            }
        return row

    def _equals_observed(
        self, answer: ContenderAnswer[StreamsGroupState, GroupAssignment], assignment: GroupAssignment
    ) -> bool | None:
        """True if an answer is the brokers' decision; ``None`` if that is unknown, or is the answer itself."""
        if answer.scenario is None or answer.assignor == OBSERVED:
            return None
        decided = self.observed(answer.scenario, answer.round)
        return None if decided is None or decided.answer is None else _digest(decided.answer) == _digest(assignment)

    # --- showing ----------------------------------------------------------------------------------

    def document(self, answer: ContenderAnswer[StreamsGroupState, GroupAssignment]) -> Mapping[str, Any]:
        state, assignment = answer.state, answer.outcome.answer
        assert state is not None
        assert assignment is not None
        return {"members": group_members(state.group.members, assignment)}

    def task_limits(self, scenario: Scenario) -> Sequence[str]:
        return limits_of_streams(scenario.content.subtopologies)

    @property
    def ownership(self) -> OwnershipOf[StreamsGroupState, GroupAssignment]:
        from assignor_lab.groups.streams_group.ownership import HOLDING

        return HOLDING

    @property
    def changes(self) -> ChangesOf[StreamsGroupState]:
        from assignor_lab.groups.streams_group.changes import CHANGES

        return CHANGES

    def trials(self, decisions: Sequence[Scenario], config: EffectiveConfig, assignor: str) -> Iterable[InputTrial]:
        from assignor_lab.groups.streams_group.changes import streams_group_trials

        return streams_group_trials(config, assignor)

    def suppositions(self, found: FoundAssignor, config: EffectiveConfig) -> Iterable[str]:
        keys = (RACK_TAGS_OF_GROUP, RACK_AWARE_ASSIGNMENT_TAGS)
        given = next((key for key in keys if key in config and config[key].value), None)
        if given is not None and str(found.plugin.name).startswith("group_sticky"):
            yield f"{found.name} reads no {given}: brokers pass the tags on, and no released assignor reads them"

    def picture(
        self, answers: Sequence[ContenderAnswer[StreamsGroupState, GroupAssignment]], assignor: str | None
    ) -> Picture:
        from assignor_lab.groups.streams_group.snapshots import group_picture

        return group_picture(answers, assignor)

    def line(
        self,
        scenario: Scenario,
        assignor: FoundAssignor,
        answers: Sequence[tuple[StreamsGroupState, GroupAssignment]],
        options: AnswerOptions,
    ) -> dict[str, Any]:
        ((_, assignment),) = answers
        return group_result_row(scenario, assignor.name, assignment)


def _measure(metric: MetricPlugin) -> Measure[StreamsGroupState, GroupAssignment]:
    if isinstance(metric.compute, OfView):
        return OfView(metric.compute.figure, _placement)
    return lambda state, answer: metric.compute(state.group, state.topology, answer)


def _placement(state: StreamsGroupState, answer: GroupAssignment) -> object:
    from assignor_lab.groups.streams_group.placement import placement_of

    return placement_of(state.group, state.topology, answer)


def _gaps(state: StreamsGroupState, answer: GroupAssignment) -> Gaps | None:
    from assignor_lab.groups.streams_group.gaps import gaps_of

    return gaps_of(state.group, state.topology, answer)


def _digest(assignment: GroupAssignment) -> str:
    digest = blake2b(digest_size=8)
    for member_id, target in sorted(assignment.members.items()):
        roles = [
            {key: list(partitions) for key, partitions in tasks.items()}
            for tasks in (target.active_tasks, target.standby_tasks, target.warmup_tasks)
        ]
        if any(roles):
            digest.update(json.dumps([member_id, roles]).encode())
    return digest.hexdigest()


STREAMS_GROUP = _StreamsGroup()
