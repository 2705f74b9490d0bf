"""One state of a consumer group or share group, an answer with its effect, and the session of an assignor."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from assignment_api.consumer import PartitionAssignment
from assignment_api.plugins.selection import EffectiveConfig
from assignment_api.tracing import Traced
from assignor_lab.groups.consumer.assignor_calls import PartitionCalls, PartitionGroup
from assignor_lab.groups.kind import AnsweringAssignor, ContenderReply, LoadedContender
from assignor_lab.groups.runner.one_call import OneCall
from assignor_lab.runtime.assignor_calls import OwnProcesses
from assignor_lab.runtime.invocation import CallFailure, CallOutcome

__all__ = ["AppliedAssignment", "PartitionSession", "PartitionState", "applied"]


@attrs.frozen(eq=False)
class PartitionState:
    """The input of an assignor, and facts for the metrics.

    Args:
        input_bytes_per_s: By topic (its name) and partition; ``None`` if the scenario lacks them.
        is_shared: True if a partition may have several members.
    """

    group: PartitionGroup
    input_bytes_per_s: Mapping[str, Mapping[int, float]] | None = None
    is_shared: bool = False


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
        return self._call.asked(state.group, config)

    def answer(self, state: PartitionState, chosen: AnsweringAssignor) -> ContenderReply[AppliedAssignment]:
        outcome = self._call.answer(state.group, chosen).outcome
        result = outcome.result
        if not isinstance(result, CallFailure):
            return ContenderReply(_with_result(outcome, self._applied(state, result)))
        return ContenderReply(_with_result(outcome, result))

    def traced(self, state: PartitionState, chosen: AnsweringAssignor) -> Traced[AppliedAssignment] | None:
        found = self._call.traced(state.group, chosen)
        if found is None:
            return None
        return Traced(self._applied(state, found.answer), found.steps, found.rules)

    def _applied(self, state: PartitionState, assignment: PartitionAssignment) -> AppliedAssignment:
        return AppliedAssignment(assignment, self._stops_all, state, self._name)

    def looked_ahead(self, answer: AppliedAssignment) -> AppliedAssignment:
        return answer


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
