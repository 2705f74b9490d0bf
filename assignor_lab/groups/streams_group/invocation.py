"""One call of one broker-side assignor: made, timed, checked. Nothing that a plugin does gets out as an exception."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from assignment_api.group import GroupAssignment, GroupSpec, MemberAssignment, TaskAssignor, TopologyDescriber
from assignment_api.plugins import Found, GroupAssignorPlugin
from assignment_api.plugins.found import made_by
from assignor_lab.runtime.invocation import CallOutcome, InvalidAnswerError, check_value, outcome_of

__all__ = ["invoke_group"]


def invoke_group(
    assignor: Found[GroupAssignorPlugin], group: GroupSpec, topology: TopologyDescriber, configs: Mapping[str, Any]
) -> CallOutcome[GroupAssignment]:
    """Lets ``assignor`` place the tasks of ``topology`` on the members of ``group``.

    Returns:
        The outcome. Whatever the plugin raises, ``SystemExit`` included, is in it; only ``KeyboardInterrupt`` passes.
    """

    def made() -> Callable[[], object]:
        instance = created(assignor)
        instance.configure(configs)
        return partial(instance.assign, group, topology)

    return outcome_of(
        assignor, (group, topology), made, lambda answer: _checked(assignor.name, answer, group, topology)
    )


def created(assignor: Found[GroupAssignorPlugin]) -> TaskAssignor:
    """A new assignor object, not yet configured.

    Raises:
        PluginLoadError: if the plugin's factory made something else. What the factory raises passes through.
    """
    return made_by(assignor.name, assignor.plugin.factory, TaskAssignor, "assignment_api.group.TaskAssignor")


def _checked(name: str, answer: object, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
    if not isinstance(answer, GroupAssignment):
        raise InvalidAnswerError(f"assignor {name} returned {type(answer).__name__}, expected GroupAssignment")
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
            check_value(name, place, held, Mapping[str, tuple[int, ...]])
            for subtopology, partitions in held.items():
                if any(not 0 <= partition < sizes.get(subtopology, 0) for partition in partitions):
                    raise InvalidAnswerError(
                        f"assignor {name}: {place}: {subtopology!r:.80} {list(partitions)!r:.80} holds a task that the "
                        "topology does not have"
                    )
    return answer
