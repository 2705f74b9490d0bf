"""Calls of broker-side assignors of KIP-1071: a new one for each assignment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs

from assignment_api.group import GroupAssignment, GroupSpec, MemberAssignment, TaskAssignor, TopologyDescriber
from assignment_api.plugins import Found, GroupAssignorPlugin, Registry
from assignment_api.plugins.found import made_by
from assignment_api.plugins.named_code import group_assignor_asked_for
from assignor_lab.groups.streams_group.transfer import (
    GroupReceiver,
    group_answer_document,
    group_answer_of,
    packed_group,
)
from assignor_lab.runtime.assignor_calls import AssignorCalls, InProcessAssignor
from assignor_lab.runtime.invocation import CallOutcome, InvalidAnswerError, check_value

__all__ = ["ASKING", "StreamsGroupState", "invoke_group"]


@attrs.frozen
class StreamsGroupState:
    """The input of a broker-side assignor."""

    group: GroupSpec
    topology: TopologyDescriber


class _GroupAsking(AssignorCalls[StreamsGroupState, GroupAssignment]):
    place = f"{__name__}:ASKING"

    def select(self, registry: Registry, selector: str, *, may_run_code: bool) -> Found[GroupAssignorPlugin]:
        return registry.group_assignor(selector, may_run_code=may_run_code)

    def from_code(self, selector: str) -> Found[GroupAssignorPlugin]:
        return group_assignor_asked_for(selector)

    def created(self, found: Found[GroupAssignorPlugin]) -> TaskAssignor:
        return made_by(found.name, found.plugin.factory, TaskAssignor, "assignment_api.group.TaskAssignor")

    def called(self, assignor: TaskAssignor, shown: StreamsGroupState) -> object:
        return assignor.assign(shown.group, shown.topology)

    def traced(self, assignor: Any, shown: StreamsGroupState) -> Any:
        return assignor.traced(shown.group, shown.topology)

    def checked(self, name: str, answer: object, state: StreamsGroupState, *, is_trusted: bool) -> GroupAssignment:
        return _checked(name, answer, state.group, state.topology)

    def packed(self, state: StreamsGroupState) -> tuple[bytes, ...]:
        return packed_group(state.group, state.topology)

    def receiver(self) -> Callable[..., StreamsGroupState]:
        receiver = GroupReceiver()
        return lambda group, topology: StreamsGroupState(*receiver(group, topology))

    def answer_document(self, state: StreamsGroupState, answer: GroupAssignment) -> Any:
        return group_answer_document(state.group, state.topology, answer)

    def answer_of(self, state: StreamsGroupState, document: object) -> GroupAssignment:
        return group_answer_of(state.group, state.topology, document)


ASKING = _GroupAsking()


def invoke_group(
    assignor: Found[GroupAssignorPlugin], group: GroupSpec, topology: TopologyDescriber, configs: Mapping[str, object]
) -> CallOutcome[GroupAssignment]:
    """Lets ``assignor`` place the tasks of ``topology`` on the members of ``group``, in this process.

    Returns:
        The outcome. It holds every exception of the plugin, ``SystemExit`` included; only ``KeyboardInterrupt`` passes.
    """
    return InProcessAssignor(ASKING, assignor, configs).ask(StreamsGroupState(group, topology))


def _checked(name: str, answer: object, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
    if not isinstance(answer, GroupAssignment):
        raise InvalidAnswerError(f"assignor {name} returned {type(answer).__name__}, expected GroupAssignment")
    if not _are(answer.members, str) or not _are(answer.members.values(), MemberAssignment):
        check_value(name, "members", answer.members, Mapping[str, MemberAssignment])
    sizes = {key: topology.max_num_input_partitions(key) for key in topology.subtopologies()}
    for member, target in answer.members.items():
        if member not in group.members:
            raise InvalidAnswerError(f"assignor {name}: there is no member {member!r:.80} in the group")
        for field in ("active_tasks", "standby_tasks", "warmup_tasks"):
            held = getattr(target, field)
            if not held:
                continue
            place = f"members[{member!r:.80}].{field}"
            # The usual case first: typeguard would check each of up to 50,000 items in turn.
            if not _are(held, str) or not all(type(each) is tuple and _are(each, int) for each in held.values()):
                check_value(name, place, held, Mapping[str, tuple[int, ...]])
            for subtopology, partitions in held.items():
                if any(not 0 <= partition < sizes.get(subtopology, 0) for partition in partitions):
                    raise InvalidAnswerError(
                        f"assignor {name}: {place}: {subtopology!r:.80} {list(partitions)!r:.80} holds a task that the "
                        "topology does not have"
                    )
    return answer


def _are(items: Iterable[object], expected: type) -> bool:
    return set(map(type, items)) <= {expected}
