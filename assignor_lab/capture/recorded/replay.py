"""Lets an assignor decide a recorded state again, and compares what members would be sent with what they were."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from assignment_api import ApplicationMetadata, AssignorLabError, ProcessID
from assignment_api.plugins import FoundTaskAssignor, Registry
from assignor_lab.capture.recorded.broker_answers import MemberAssignment
from assignor_lab.capture.recorded.states import RecordedState
from assignor_lab.groups.streams.asking import invoke
from assignor_lab.kafka.leader.fallback import is_internal, replacement_without_lags
from assignor_lab.kafka.leader.member_messages import MemberMessage, member_messages
from assignor_lab.kafka.wire import assignment_document, encode_assignment
from assignor_lab.kafka.wire.assignment_info import order_as_given
from assignor_lab.runtime.invocation import Failure
from assignor_lab.scenarios import Place, scenario_from_document

__all__ = ["MemberDifference", "Replay", "leaders_assignor", "problems", "replay"]

#: What Kafka takes where ``task.assignor.class`` is not set.
_DEFAULT_ASSIGNOR = "high_availability"
#: Characters of a value in a difference's text.
_LONGEST_SHOWN = 300


@attrs.frozen
class MemberDifference:
    """A field of a member's message that is not what Kafka sent.

    Args:
        member: The member.
        field: ``partitions``, a field of the assignment's JSON form, or ``bytes``: the same content in another order.
        recorded: What Kafka sent.
        replayed: What the assignor's answer gives.
    """

    member: str
    field: str
    recorded: object
    replayed: object

    def __str__(self) -> str:
        return f"{self.member}: {self.field} was {_short(self.recorded)}, and is {_short(self.replayed)}"


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"


@attrs.frozen
class Replay:
    """A state decided again.

    Args:
        messages: Member to what it would be sent; empty after a failure.
        differences: What is otherwise than recorded.
        failure: Why the assignor gave no answer, or ``None``.
    """

    messages: Mapping[str, MemberMessage]
    differences: tuple[MemberDifference, ...]
    failure: str | None = None

    @property
    def exact(self) -> bool:
        """Whether every member would be sent what it was sent."""
        return self.failure is None and not self.differences


def leaders_assignor(state: RecordedState, registry: Registry) -> FoundTaskAssignor:
    """The assignor that the leader used, as its log names it.

    Raises:
        UnknownPluginError, PluginLoadError: if it is none that is installed here.
    """
    found = registry.task_assignor(state.decision.assignor or _DEFAULT_ASSIGNOR)
    return replacement_without_lags(found, registry) if state.decision.lags_failed else found


def replay(state: RecordedState, assignor: FoundTaskAssignor, configs: Mapping[str, Any] | None = None) -> Replay:
    """Decides ``state`` with ``assignor`` and compares what comes of it with the recording.

    Args:
        state: A recorded state.
        assignor: Who decides.
        configs: Configuration for the assignor itself.

    Raises:
        ConfigError: if Kafka would refuse the state's configuration.
        IllegalAssignmentStateError: if partitions of a task are unknown.
        LagsNotComputedError: if the lags are unknown.
    """
    application = _application(state)
    assignment = invoke(assignor, application, configs or {}).result
    if isinstance(assignment, Failure):
        return Replay({}, (), assignment.message)
    members = state.seen.answer.members
    owned = {
        member.member_id: member.subscription.owned_partitions for member in members if member.subscription is not None
    }
    infos = [member.subscription.info for member in members if member.subscription is not None]
    messages = member_messages(
        application,
        assignment,
        owned,
        sorted_sets=is_internal(assignor),
        version=min(info.version for info in infos),
        commonly_supported_version=min(info.latest_supported_version for info in infos),
    )
    differences = [
        difference
        for member in members
        if member.assignment is not None
        for difference in _differences(member.member_id, member.assignment, messages[member.member_id])
    ]
    return Replay(messages, tuple(differences))


def problems(state: RecordedState, registry: Registry) -> Iterator[str]:
    """What keeps a state from coming out as recorded, decided by its leader's assignor again; nothing: it does."""
    try:
        replayed = replay(state, leaders_assignor(state, registry))
    except AssignorLabError as error:
        yield f"cannot be decided again: {error}"
        return
    if replayed.failure is not None:
        yield f"cannot be decided again: {replayed.failure}"
    yield from map(str, replayed.differences)


def _application(state: RecordedState) -> ApplicationMetadata:
    """The state as its leader saw it, at its leader's time."""
    seen, decision = state.seen, state.decision
    shown = scenario_from_document(state.document, Place(seen.file, seen.line)).application
    configs = shown.assignment_configs()
    now = shown.current_time_ms()
    if decision.probing_at is not None:
        # The line with the decision was written some milliseconds after the leader looked at its clock.
        now = decision.probing_at.epoch_ms() - configs.probing_rebalance_interval_ms
    return ApplicationMetadata(
        configs, shown.task_infos().values(), shown.streams_client_states().values(), now, _leader(state)
    )


def _leader(state: RecordedState) -> ProcessID | None:
    leaders = [
        member.subscription.info.process_id
        for member in state.seen.answer.members
        if member.client_id == state.decision.leader and member.subscription is not None
    ]
    return leaders[0] if leaders else None


def _differences(member: str, recorded: MemberAssignment, message: MemberMessage) -> Iterator[MemberDifference]:
    if recorded.partitions != message.partitions:
        yield MemberDifference(member, "partitions", recorded.partitions, message.partitions)
    theirs, ours = assignment_document(recorded.info), assignment_document(message.info)
    unequal = [field for field in theirs if theirs[field] != ours[field]]
    for field in unequal:
        yield MemberDifference(member, field, theirs[field], ours[field])
    encoded = encode_assignment(message.info, order_as_given)
    if not unequal and encoded != recorded.user_data:
        yield MemberDifference(member, "bytes", recorded.user_data.hex(), encoded.hex())
