"""Replays a recorded state with an assignor, and compares the members' messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from assignment_api import ApplicationMetadata, AssignorLabError, ProcessID
from assignment_api.plugins import FoundTaskAssignor, Registry
from assignor_lab.capture.recorded.broker_answers import DescribedAssignment
from assignor_lab.capture.recorded.states import RecordedState
from assignor_lab.groups.streams.assignor_calls import invoke
from assignor_lab.kafka.leader.fallback import is_internal, replacement_without_lags
from assignor_lab.kafka.leader.member_messages import MemberMessage, member_messages
from assignor_lab.kafka.wire import assignment_document, encode_assignment
from assignor_lab.kafka.wire.assignment_info import order_as_given
from assignor_lab.runtime.invocation import CallFailure
from assignor_lab.scenarios import Place, scenario_from_document

__all__ = ["MemberDifference", "ReplayedState", "leaders_assignor", "problems", "replay"]

#: Kafka's default without ``task.assignor.class``.
_DEFAULT_ASSIGNOR = "high_availability"
_LONGEST_SHOWN = 300


@attrs.frozen
class MemberDifference:
    """A field of a member's message that differs from Kafka's; ``bytes``: the same content in another order."""

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
class ReplayedState:
    """A replayed state."""

    messages: Mapping[str, MemberMessage]
    differences: tuple[MemberDifference, ...]
    failure: str | None = None

    @property
    def exact(self) -> bool:
        return self.failure is None and not self.differences


def leaders_assignor(state: RecordedState, registry: Registry) -> FoundTaskAssignor:
    """By its logged name."""
    found = registry.task_assignor(state.decision.assignor or _DEFAULT_ASSIGNOR)
    return replacement_without_lags(found, registry) if state.decision.lags_failed else found


def replay(
    state: RecordedState, assignor: FoundTaskAssignor, configs: Mapping[str, Any] | None = None
) -> ReplayedState:
    """The decision again, in the release that the source shows.

    Args:
        configs: Of the assignor; they have priority.
    """
    scenario = scenario_from_document(state.document, Place(state.seen.file, state.seen.line))
    application = _application(state, scenario.application)
    assignment = invoke(assignor, application, {**scenario.config, **(configs or {})}).result
    if isinstance(assignment, CallFailure):
        return ReplayedState({}, (), assignment.message)
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
    return ReplayedState(messages, tuple(differences))


def problems(state: RecordedState, registry: Registry) -> Iterator[str]:
    try:
        replayed = replay(state, leaders_assignor(state, registry))
    except AssignorLabError as error:
        yield f"cannot be decided again: {error}"
        return
    if replayed.failure is not None:
        yield f"cannot be decided again: {replayed.failure}"
    yield from map(str, replayed.differences)


def _application(state: RecordedState, shown: ApplicationMetadata) -> ApplicationMetadata:
    decision = state.decision
    configs = shown.assignment_configs()
    now = shown.current_time_ms()
    if decision.probing_at is not None:
        # The line was written some milliseconds after the leader read its clock.
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


def _differences(member: str, recorded: DescribedAssignment, message: MemberMessage) -> Iterator[MemberDifference]:
    if recorded.partitions != message.partitions:
        yield MemberDifference(member, "partitions", recorded.partitions, message.partitions)
    theirs, ours = assignment_document(recorded.info), assignment_document(message.info)
    unequal = [field for field in theirs if theirs[field] != ours[field]]
    for field in unequal:
        yield MemberDifference(member, field, theirs[field], ours[field])
    encoded = encode_assignment(message.info, order_as_given)
    if not unequal and encoded != recorded.user_data:
        yield MemberDifference(member, "bytes", recorded.user_data.hex(), encoded.hex())
