"""One call of one broker-side assignor: made, timed, checked. Nothing that a plugin does gets out as an exception."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter_ns
from typing import Any

import attrs
from typeguard import CollectionCheckStrategy, TypeCheckError, check_type

from assignment_api.group import GroupAssignment, GroupSpec, MemberAssignment, TaskAssignor, TopologyDescriber
from assignment_api.plugins import Found, GroupAssignorPlugin, PluginLoadError
from assignor_lab.runtime.invocation import (
    TRUSTED_DISTRIBUTION,
    Failure,
    InputMutatedError,
    InvalidAnswerError,
    failure_of,
    prints_to_stderr,
)

__all__ = ["GroupOutcome", "invoke_group"]


@attrs.frozen
class GroupOutcome:
    """What came of one call.

    Args:
        assignment: The answer, or ``None`` after a failure.
        failure: The failure, or ``None``.
        assign_ns: Duration of the ``assign`` call alone, nanoseconds; 0 where it was not reached.
    """

    assignment: GroupAssignment | None
    failure: Failure | None
    assign_ns: int = 0


def invoke_group(
    assignor: Found[GroupAssignorPlugin], group: GroupSpec, topology: TopologyDescriber, configs: Mapping[str, Any]
) -> GroupOutcome:
    """Lets ``assignor`` place the tasks of ``topology`` on the members of ``group``.

    Returns:
        The outcome. Whatever the plugin raises, ``SystemExit`` included, is in it; only ``KeyboardInterrupt`` passes.
    """
    watched = assignor.distribution != TRUSTED_DISTRIBUTION
    before = repr((group, topology)) if watched else None
    elapsed = 0
    try:
        with prints_to_stderr():
            instance = created(assignor)
            instance.configure(configs)
            start = perf_counter_ns()
            try:
                answer = instance.assign(group, topology)
            finally:
                elapsed = perf_counter_ns() - start
        assignment = _checked(assignor.name, answer, group, topology)
        if watched and repr((group, topology)) != before:
            raise InputMutatedError(f"assignor {assignor.name} changed its input: inputs are immutable by contract")
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a plugin may raise anything, SystemExit included
        return GroupOutcome(None, failure_of(error), elapsed)
    return GroupOutcome(assignment, None, elapsed)


def created(assignor: Found[GroupAssignorPlugin]) -> TaskAssignor:
    """A new assignor object, not yet configured.

    Raises:
        PluginLoadError: if the plugin's factory made something else. What the factory raises passes through.
    """
    made: object = assignor.plugin.factory()
    if not isinstance(made, TaskAssignor):
        raise PluginLoadError(
            f"assignor {assignor.name}: its factory made {type(made).__name__}, expected a subclass of "
            "assignment_api.group.TaskAssignor"
        )
    return made


def _checked(name: str, answer: object, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
    if not isinstance(answer, GroupAssignment):
        raise InvalidAnswerError(f"assignor {name} returned {type(answer).__name__}, expected GroupAssignment")
    _check(name, "members", answer.members, Mapping[str, MemberAssignment])
    sizes = {key: topology.max_num_input_partitions(key) for key in topology.subtopologies()}
    for member, target in answer.members.items():
        if member not in group.members:
            raise InvalidAnswerError(f"assignor {name}: there is no member {member!r:.80} in the group")
        for field in ("active_tasks", "standby_tasks", "warmup_tasks"):
            held = getattr(target, field)
            if not held:
                continue
            place = f"members[{member!r:.80}].{field}"
            _check(name, place, held, Mapping[str, tuple[int, ...]])
            for subtopology, partitions in held.items():
                if any(not 0 <= partition < sizes.get(subtopology, 0) for partition in partitions):
                    raise InvalidAnswerError(
                        f"assignor {name}: {place}: {subtopology!r:.80} {list(partitions)!r:.80} holds a task that the "
                        "topology does not have"
                    )
    return answer


def _check(name: str, place: str, value: object, expected: Any) -> None:
    try:
        check_type(value, expected, collection_check_strategy=CollectionCheckStrategy.ALL_ITEMS)
    except TypeCheckError as error:
        raise InvalidAnswerError(f"assignor {name}: {place}: {error}") from error
