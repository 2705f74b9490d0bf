"""The kinds ``consumer``, ``consumer-group`` (KIP-848) and ``share-group`` (KIP-932)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b

from assignment_api.consumer import PartitionAssignment
from assignment_api.plugins import Found, MetricPlugin, PluginRow, Registry
from assignment_api.plugins.selection import EffectiveConfig
from assignor_lab.groups.changes import ChangesOf
from assignor_lab.groups.columns import TableColumn
from assignor_lab.groups.consumer.assignor_calls import (
    CONSUMER_CALLS,
    CONSUMER_GROUP_CALLS,
    SHARE_GROUP_CALLS,
    PartitionCalls,
)
from assignor_lab.groups.consumer.rounds import AppliedAssignment, PartitionSession, PartitionState, applied
from assignor_lab.groups.kind import AnswerOptions, ContenderAnswer, FoundAssignor, GroupKind, LoadedContender, Measure
from assignor_lab.groups.metrics.definition import OfView
from assignor_lab.groups.metrics.gaps import Gaps, gap_measures
from assignor_lab.groups.metrics.headline import headline_of
from assignor_lab.groups.ownership.ownership import OwnershipOf
from assignor_lab.groups.prices import prices_of
from assignor_lab.groups.runner.measures import measures_of, metrics_of
from assignor_lab.groups.work import OBSERVED
from assignor_lab.kafka.wire.connect.errors import InconsistentProtocolsError
from assignor_lab.kafka.wire.connect.negotiation import selected_name
from assignor_lab.model.pictures import Picture
from assignor_lab.runtime.assignor_calls import OwnProcesses
from assignor_lab.runtime.invocation import CallOutcome
from assignor_lab.scenarios import Scenario, partition_members, partition_result_row
from assignor_lab.scenarios.formats.consumer import ran_of, strategies_of

__all__ = ["CONSUMER", "CONSUMER_GROUP", "SHARE_GROUP", "PartitionKind"]


_COOPERATIVE = ("cooperative-sticky", "consumer_cooperative_sticky")


class PartitionKind(GroupKind[PartitionState, AppliedAssignment]):
    """One of the three kinds.

    Args:
        default_assignor: Kafka's default.
        is_client_side: True if a member decides, under a rebalance protocol.
        is_shared: True if a partition may have several members.
    """

    headline = headline_of(
        unavailable={"partitions_revoked": "Partitions that stop"},
        unavailable_title="Partitions that stop",
        cross_zone={
            "partition_cross_zone_dollars_per_month": "Cross-zone dollars a month",
            "partition_racks_crossed": "Partitions read from another rack",
        },
        load={"partitions_above_even_share": "Partitions of the busiest member above an even share"},
        failures=("partitions_not_assigned", "partitions_with_two_owners"),
        no_time="no member reports what it held",
        no_state="consumers have no state to restore",
    )
    columns = (TableColumn("members", "int32"),)
    section = "placements"
    shows_first = True

    def __init__(
        self,
        name: str,
        calls: PartitionCalls,
        default_assignor: str,
        *,
        is_client_side: bool = False,
        is_shared: bool = False,
    ) -> None:
        self.name = name
        self.default_assignor = default_assignor
        self.is_shared = is_shared
        self._calls = calls
        self._is_client_side = is_client_side

    @property
    def asking(self) -> PartitionCalls:
        return self._calls

    def installed(self, registry: Registry) -> Sequence[FoundAssignor]:
        return registry.partition_assignors(self._calls.kind)

    def usual(self, scenario: Scenario) -> str | None:
        """The strategy that all members list, as the coordinator selects it; without lists the recorded one.

        ``None`` if the state has neither.
        """
        offers = strategies_of(scenario.document)
        if not offers:
            recorded = (scenario.source or {}).get("assignor") or (scenario.observed or {}).get("assignor")
            return None if recorded is None else str(recorded)
        try:
            return selected_name(list(offers.values()))
        except InconsistentProtocolsError as error:
            listed = "; ".join(f"{member} lists {', '.join(names) or 'none'}" for member, names in offers.items())
            raise InconsistentProtocolsError(
                f"{scenario.place}: the members have no strategy in common, and Kafka lets none of them join beside "
                f"another: {listed:.300}; give all members one strategy in partition.assignment.strategy"
            ) from error

    # --- states -----------------------------------------------------------------------------------

    def state(self, scenario: Scenario, number: int, explicit: Mapping[str, object]) -> PartitionState:
        ran = ran_of(scenario.document) if self._is_client_side else {}
        return PartitionState(scenario.content, _rates(scenario), self.is_shared, ran)

    def size(self, scenario: Scenario) -> tuple[int, int]:
        group = scenario.content
        return sum(topic.partitions or 0 for topic in group.topics.values()), len(group.members)

    def scene(self, state: PartitionState) -> object:
        group = state.group
        return [(key, member.topics) for key, member in group.members.items()], group.topics

    # --- calling ----------------------------------------------------------------------------------

    def player(self, contender: LoadedContender, isolation: OwnProcesses | None) -> PartitionSession:
        return PartitionSession(self._calls, contender, isolation, is_client_side=self._is_client_side)

    def observed(self, scenario: Scenario, number: int) -> CallOutcome[AppliedAssignment] | None:
        if scenario.observed is None:
            return None
        is_eager = self._is_client_side and scenario.observed.get("assignor") not in _COOPERATIVE
        return applied(PartitionAssignment(scenario.observed.get("members", {})), stops_all=is_eager)

    def after(self, answer: AppliedAssignment) -> PartitionAssignment:
        return answer.assignment

    def tell(
        self, registry: Registry, answer: ContenderAnswer[PartitionState, AppliedAssignment]
    ) -> Iterable[PluginRow]:
        if answer.state is None:
            return ()
        found, failure = answer.outcome.answer, answer.outcome.failure
        return registry.notify_partition_assignment_computed(
            answer.assignor,
            answer.state.group,
            None if found is None else found.assignment,
            None if failure is None else failure.message,
        )

    # --- measuring --------------------------------------------------------------------------------

    def metrics(self, registry: Registry) -> Mapping[str, Found[MetricPlugin]]:
        from assignor_lab.groups.consumer.metrics import METRICS_BY_KIND

        return metrics_of(registry, self.name, METRICS_BY_KIND[self.name], self.columns)

    @property
    def on_request(self) -> Sequence[MetricPlugin]:
        from assignor_lab.groups.consumer.gaps import GAP_METRICS

        return GAP_METRICS[self.name]

    def gaps(self, state: PartitionState, answer: AppliedAssignment) -> Gaps | None:
        from assignor_lab.groups.consumer.gaps import gaps_of

        return gaps_of(state, answer)

    def figures(
        self, registry: Registry, names: Sequence[str], config: EffectiveConfig
    ) -> Mapping[str, Measure[PartitionState, AppliedAssignment]]:
        from assignor_lab.groups.consumer.metrics import CONSUMER_METRICS, priced_consumer_metrics
        from assignor_lab.groups.consumer.placement import placement_of

        priced = priced_consumer_metrics(prices_of(config))
        own: dict[str, Measure[PartitionState, AppliedAssignment]] = {
            each.name: OfView(each.figure, placement_of) for each in (*CONSUMER_METRICS, priced)
        }
        return measures_of(registry, names, _of_plugin, own | gap_measures(self.on_request, self.gaps))

    def row(self, answer: ContenderAnswer[PartitionState, AppliedAssignment]) -> Mapping[str, object]:
        from assignor_lab.groups.consumer.placement import placement_of, state_of

        if answer.state is None:
            return {}
        state = state_of(answer.state)
        row: dict[str, object] = {
            "clients": len(state.members),
            "tasks": state.partitions,
            "stateful_tasks": 0,
            "members": len(state.members),
        }
        found = answer.outcome.answer
        if found is not None:
            placement = placement_of(answer.state, found)
            row |= {
                "finding_count": placement.not_subscribed,
                "followup": placement.any_waits and self._is_client_side,
                "answer_digest": _digest(found.assignment),
                "remarks": list(self.remarks(found)),
                "equals_observed": self._equals_observed(answer, found.assignment),
            }
        return row

    def _equals_observed(
        self, answer: ContenderAnswer[PartitionState, AppliedAssignment], assignment: PartitionAssignment
    ) -> bool | None:
        """True if an answer is the group's own decision; ``None`` if that is unknown, or is the answer itself."""
        if answer.scenario is None or answer.assignor == OBSERVED:
            return None
        decided = self.observed(answer.scenario, answer.round)
        known = None if decided is None else decided.answer
        return None if known is None else _digest(known.assignment) == _digest(assignment)

    def remarks(self, answer: AppliedAssignment) -> Sequence[str]:
        from assignor_lab.groups.consumer.behaviours import remarks_of

        return remarks_of(answer)

    # --- showing ----------------------------------------------------------------------------------

    def document(self, answer: ContenderAnswer[PartitionState, AppliedAssignment]) -> Mapping[str, object]:
        state, found = answer.state, answer.outcome.answer
        assert state is not None
        assert found is not None
        return {"members": partition_members(state.group.members, found.assignment)}

    @property
    def ownership(self) -> OwnershipOf[PartitionState, AppliedAssignment]:
        from assignor_lab.groups.consumer.ownership import PartitionOwnership

        return PartitionOwnership(self.default_assignor)

    @property
    def changes(self) -> ChangesOf[PartitionState]:
        from assignor_lab.groups.consumer.changes import CHANGES

        return CHANGES

    def picture(
        self, answers: Sequence[ContenderAnswer[PartitionState, AppliedAssignment]], assignor: str | None
    ) -> Picture:
        from assignor_lab.groups.consumer.snapshots import partition_picture

        return partition_picture(answers, assignor)

    def line(
        self,
        scenario: Scenario,
        assignor: FoundAssignor,
        answers: Sequence[tuple[PartitionState, AppliedAssignment]],
        options: AnswerOptions,
    ) -> dict[str, object]:
        ((_, answer),) = answers
        return partition_result_row(scenario, assignor.name, answer.assignment)


def _of_plugin(metric: MetricPlugin) -> Measure[PartitionState, AppliedAssignment]:
    return lambda state, answer: metric.compute(state.group, answer.assignment)


def _rates(scenario: Scenario) -> Mapping[str, Mapping[int, float]] | None:
    workload = scenario.document.get("workload", {}).get("partitions")
    if workload is None:
        return None
    return {
        topic: {int(number): each.get("input_bytes_per_s", 0.0) for number, each in partitions.items()}
        for topic, partitions in workload.items()
    }


def _digest(assignment: PartitionAssignment) -> str:
    digest = blake2b(digest_size=8)
    for member, held in sorted(assignment.members.items()):
        partitions = {topic: sorted(set(numbers)) for topic, numbers in sorted(held.items()) if numbers}
        if partitions:
            digest.update(json.dumps([member, partitions]).encode())
    return digest.hexdigest()


CONSUMER = PartitionKind("consumer", CONSUMER_CALLS, "consumer_range", is_client_side=True)
CONSUMER_GROUP = PartitionKind("consumer-group", CONSUMER_GROUP_CALLS, "consumer_group_uniform")
SHARE_GROUP = PartitionKind("share-group", SHARE_GROUP_CALLS, "share_simple", is_shared=True)
