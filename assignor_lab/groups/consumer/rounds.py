"""One state of a consumer group or share group, an answer with its effect, and the session of an assignor."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from assignment_api.consumer import ConsumerGroupState, ConsumerSubscription, PartitionAssignment, PartitionsByTopic
from assignment_api.plugins.selection import EffectiveConfig
from assignment_api.tracing import Traced
from assignor_lab.groups.consumer.assignor_calls import PartitionCalls, PartitionGroup
from assignor_lab.groups.kind import AnsweringAssignor, ContenderReply, LoadedContender
from assignor_lab.groups.runner.one_call import OneCall
from assignor_lab.kafka.wire.consumer.user_data import (
    StickyUserData,
    encode_cooperative_user_data,
    encode_sticky_user_data,
)
from assignor_lab.runtime.assignor_calls import OwnProcesses
from assignor_lab.runtime.invocation import CallFailure, CallOutcome

__all__ = ["AppliedAssignment", "PartitionSession", "PartitionState", "applied"]


#: Eager strategies whose members report former partitions in Java's bytes.
_STICKY = ("consumer_sticky", "aiokafka_sticky", "franz_go_sticky", "sarama_sticky")
#: Generation of the decision before: all members report the same one.
_BEFORE = 1


@attrs.frozen(eq=False)
class PartitionState:
    """The input of an assignor, and facts for the metrics.

    Args:
        input_bytes_per_s: By topic (its name) and partition; ``None`` if the scenario lacks them.
        is_shared: True if a partition may have several members.
        ran: Partitions of members that do not report them: eager ones gave them up before they joined.
    """

    group: PartitionGroup
    input_bytes_per_s: Mapping[str, Mapping[int, float]] | None = None
    is_shared: bool = False
    ran: Mapping[str, PartitionsByTopic] = attrs.field(factory=dict)


@attrs.frozen(eq=False)
class AppliedAssignment:
    """An answer.

    Args:
        stops_all: True if all members stop everything before the rebalance, as under the eager protocol.
        state: Its input, and ``assignor`` its name, for remarks; ``None`` if the answer is recorded.
    """

    assignment: PartitionAssignment
    stops_all: bool
    state: PartitionState | None = None
    assignor: str = ""


class PartitionSession:
    """Lets one assignor answer each state by itself.

    Args:
        is_client_side: True if the assignor's rebalance protocol decides whether members stop everything.
    """

    def __init__(
        self,
        calls: PartitionCalls,
        contender: LoadedContender,
        isolation: OwnProcesses | None,
        *,
        is_client_side: bool,
    ) -> None:
        self._call = OneCall(calls, lambda _group: contender.found, isolation)
        self._name = str(contender.found.plugin.name)
        self._stops_all = is_client_side and "cooperative" not in contender.found.plugin.protocols

    def asked(self, state: PartitionState, config: EffectiveConfig) -> AnsweringAssignor:
        return self._call.asked(self._reported(state), config)

    def answer(self, state: PartitionState, chosen: AnsweringAssignor) -> ContenderReply[AppliedAssignment]:
        outcome = self._call.answer(self._reported(state), chosen).outcome
        result = outcome.result
        if not isinstance(result, CallFailure):
            return ContenderReply(_with_result(outcome, self._applied(state, result)))
        return ContenderReply(_with_result(outcome, result))

    def traced(self, state: PartitionState, chosen: AnsweringAssignor) -> Traced[AppliedAssignment] | None:
        found = self._call.traced(self._reported(state), chosen)
        if found is None:
            return None
        return Traced(self._applied(state, found.answer), found.steps, found.rules)

    def _reported(self, state: PartitionState) -> PartitionGroup:
        """The group as its members would report under this strategy: eager members ran partitions without a report."""
        group = state.group
        if not state.ran or not isinstance(group, ConsumerGroupState):
            return group
        if not self._stops_all:
            reported = _cooperative
        elif self._name in _STICKY:
            reported = _sticky
        else:
            return group
        members = {
            identity: reported(member, state.ran[identity]) if state.ran.get(identity) else member
            for identity, member in group.members.items()
        }
        return attrs.evolve(group, members=members)

    def _applied(self, state: PartitionState, assignment: PartitionAssignment) -> AppliedAssignment:
        return AppliedAssignment(assignment, self._stops_all, state, self._name)

    def looked_ahead(self, answer: AppliedAssignment) -> AppliedAssignment:
        return answer


def _cooperative(member: ConsumerSubscription, ran: PartitionsByTopic) -> ConsumerSubscription:
    user_data = encode_cooperative_user_data(_BEFORE)
    return attrs.evolve(member, owned=ran, generation=_BEFORE, user_data=user_data)


def _sticky(member: ConsumerSubscription, ran: PartitionsByTopic) -> ConsumerSubscription:
    if member.user_data is not None:
        return member
    partitions = tuple((topic, number) for topic, numbers in ran.items() for number in numbers)
    return attrs.evolve(member, user_data=encode_sticky_user_data(StickyUserData(partitions, _BEFORE, 1)))


def _with_result(
    outcome: CallOutcome[PartitionAssignment], result: AppliedAssignment | CallFailure
) -> CallOutcome[AppliedAssignment]:
    return CallOutcome(
        result,
        **outcome.times,
        unread=outcome.unread,
        out_of_memory=outcome.out_of_memory,
        loss=outcome.loss,
        input_mutated=outcome.input_mutated,
        validation=outcome.validation,
    )


def applied(assignment: PartitionAssignment, *, stops_all: bool) -> CallOutcome[AppliedAssignment]:
    """A recorded answer as an outcome."""
    return CallOutcome(AppliedAssignment(assignment, stops_all))
