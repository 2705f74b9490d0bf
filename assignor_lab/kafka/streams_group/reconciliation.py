"""One step of a streams group's member from its present tasks towards its target.

Kafka: ``CurrentAssignmentBuilder`` of the group coordinator (4.3.1: reference ``streams-group-assignor.md``, section 6;
4.4.0: ``streams-group-assignor-4.4.md``, section 7).
"""

from __future__ import annotations

import enum
from collections.abc import Callable

import attrs

from assignor_lab.kafka.streams_group.releases import Release
from assignor_lab.kafka.streams_group.tasks import NO_TASKS, Holders, TasksByRole

__all__ = ["MemberState", "Standing", "reconciled"]


class MemberState(enum.Enum):
    """Reason why a member waits."""

    STABLE = "stable"
    #: For itself: it must revoke tasks.
    UNREVOKED = "unrevoked tasks"
    #: For other members, which must still revoke its new tasks.
    UNRELEASED = "unreleased tasks"


@attrs.frozen
class Standing:
    """Progress of a member."""

    process: str
    epoch: int
    state: MemberState = MemberState.STABLE
    assigned: TasksByRole = NO_TASKS
    pending: TasksByRole = NO_TASKS


def reconciled(
    member: str,
    standing: Standing,
    target: TasksByRole,
    target_epoch: int,
    owned: TasksByRole | None,
    holders: Holders,
    release: Release,
) -> Standing:
    """Progress of a member after one of its heartbeats.

    Args:
        owned: Its reported tasks; ``None``: no report.
    """
    if standing.state is MemberState.STABLE and standing.epoch == target_epoch:
        return standing
    epoch = standing.epoch
    if standing.state is MemberState.UNREVOKED:
        if owned is None or owned & standing.pending:
            return standing
        epoch += 1
    keep = standing.assigned & target
    revoke = standing.assigned - keep
    blocked = _blocked_4_3 if release.own_copy_blocks else _blocked_4_4
    missing = target - keep
    given = TasksByRole(*(
        frozenset(task for task in tasks if not blocked(role, task, member, standing, holders))
        for role, tasks in zip(_ROLES, (missing.active, missing.standby, missing.warmup), strict=True)
    ))  # fmt: skip
    if not release.own_copy_blocks:
        keep, revoke = _changed_in_place(keep, revoke, target, given)
    if revoke and (owned is None or owned & revoke):
        return attrs.evolve(standing, epoch=epoch, state=MemberState.UNREVOKED, assigned=keep, pending=revoke)
    state = MemberState.STABLE if given == missing else MemberState.UNRELEASED
    # A copy that waits for its active role is kept until that is granted.
    kept = TasksByRole(keep.active, keep.standby - given.active, keep.warmup - given.active)
    return Standing(standing.process, target_epoch, state, kept | given)


_ROLES = ("active", "standby", "warmup")
_Blocked = Callable[[str, int, str, Standing, Holders], bool]


def _changed_in_place(
    keep: TasksByRole, revoke: TasksByRole, target: TasksByRole, given: TasksByRole
) -> tuple[TasksByRole, TasksByRole]:
    """Changes of role within a member that need no extra round since 4.4.

    An active task becomes a standby in the step that revokes it. Standby and warm-up are exchanged at once. Both
    require that no other member blocks the new role, which is then in ``given``. A copy that is to become active stays
    a copy until then.
    """
    demoted = revoke.active & given.standby
    exchanged = (revoke.standby & given.warmup, revoke.warmup & given.standby)
    promoted = (revoke.standby & target.active, revoke.warmup & target.active)
    keep = TasksByRole(
        keep.active,
        keep.standby | demoted | exchanged[1] | promoted[0],
        keep.warmup | exchanged[0] | promoted[1],
    )
    revoke = TasksByRole(
        revoke.active, revoke.standby - exchanged[0] - promoted[0], revoke.warmup - exchanged[1] - promoted[1]
    )
    return keep, revoke


def _blocked_4_3(role: str, task: int, _member: str, standing: Standing, holders: Holders) -> bool:
    """True if a member still holds the task, this one included, in the state before this step."""
    process = standing.process
    active = holders.active(task)
    if role == "active":
        return bool(active or holders.standby(process, task) or holders.warmup(process, task))
    # A process that holds the task as active holds its directory.
    here = any(holders.is_of(each, process) for each in active)
    return bool(here or holders.standby(process, task) or holders.warmup(process, task))


def _blocked_4_4(role: str, task: int, member: str, standing: Standing, holders: Holders) -> bool:
    """True if another member still holds the task; tasks that this member must revoke count as another's.

    Kafka: ``CurrentAssignmentBuilder.heldByAnotherMemberOnThisProcess`` and ``runByAnotherMemberOnThisProcess``.
    """
    process, mine = standing.process, standing.assigned
    active, standby, warmup = holders.active(task), holders.standby(process, task), holders.warmup(process, task)
    standby_elsewhere = standby if task not in mine.standby else standby - {member}
    warmup_elsewhere = warmup if task not in mine.warmup else warmup - {member}
    if role == "active":
        return bool(active or standby_elsewhere or warmup_elsewhere)
    here = {each for each in active if holders.is_of(each, process)}
    if role == "standby":
        return bool((here if task not in mine.active else here - {member}) or standby or warmup_elsewhere)
    return bool(here or standby_elsewhere or warmup)
