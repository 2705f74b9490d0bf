"""Random members of streams groups on their way to their targets, and the lab's step for each.

A document holds one member before its heartbeat, its target, its report, and other holders of tasks. Each task has at
most one active holder, and one holder in each process: the coordinator never assigns more. A member that gives an
active task back may have its standby already (Kafka 4.4).
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

from assignor_lab.kafka.streams_group.reconciliation import MemberState, Standing, reconciled
from assignor_lab.kafka.streams_group.releases import KAFKA_4_3, KAFKA_4_4
from assignor_lab.kafka.streams_group.tasks import Holders, TasksByRole

__all__ = ["RECONCILIATIONS", "RECONCILIATION_KIND", "draw_reconciliation", "reconciliation_row"]

RECONCILIATION_KIND = "streams-reconciliation"
#: The step's name in each release.
RECONCILIATIONS = ("reconciliation", "reconciliation_4_4")
_RELEASES = dict(zip(RECONCILIATIONS, (KAFKA_4_3, KAFKA_4_4), strict=True))
#: Kafka's names.
_STATES = {
    "STABLE": MemberState.STABLE,
    "UNREVOKED_TASKS": MemberState.UNREVOKED,
    "UNRELEASED_TASKS": MemberState.UNRELEASED,
}
_NAMES = {state: name for name, state in _STATES.items()}
_ROLES = ("active", "standby", "warmup")
_COPIES = ("standby", "standby", "warmup")
_SUBTOPOLOGIES = ("0", "1", "10", "a")

#: Role to sub-topology to partitions.
_Held = dict[str, dict[str, list[int]]]


# --- documents ------------------------------------------------------------------------------------


def draw_reconciliation(chance: Random, document_id: str) -> dict[str, Any]:
    """A document of kind ``streams-reconciliation``."""
    tasks = [
        (subtopology, number)
        for subtopology in chance.sample(_SUBTOPOLOGIES, chance.randint(1, 3))
        for number in range(chance.randint(1, 4))
    ]
    state = chance.choice(tuple(_STATES))
    epoch = chance.randint(0, 9)
    member: dict[str, Any] = {"id": "m", "process_id": "p", "state": state, "epoch": epoch}
    member.update(assigned=_nothing(), pending=_nothing())
    others = [
        {"id": f"other-{number}", "process_id": chance.choice("ppqr"), "held": _nothing()}
        for number in range(chance.randint(0, 5))
    ]
    target, owned = _nothing(), _nothing()
    keeps, owns = chance.choice((0.1, 0.4, 0.8)), chance.choice((0.0, 0.6, 1.0))
    for task in tasks:
        held = _deal(chance, task, member, others)
        if held and chance.random() < keeps:
            _add(target, held[0], task)
        elif chance.random() < 0.6:
            _add(target, chance.choice(("active", *_ROLES)), task)
        for role in held:
            if chance.random() < owns:
                _add(owned, role, task)
        if chance.random() < 0.03:
            _add(owned, chance.choice(_ROLES), task)
    return {
        "kind": RECONCILIATION_KIND,
        "id": document_id,
        "member": member,
        "others": others,
        "target_epoch": epoch + chance.choice((0, 1, 1, 2, 5)),
        "target": target,
        "owned": owned if chance.random() < 0.7 else None,
    }


def _deal(chance: Random, task: tuple[str, int], member: dict[str, Any], others: list[dict[str, Any]]) -> list[str]:
    """Gives a task to its holders; returns the member's roles."""
    gives_back = member["state"] == "UNREVOKED_TASKS"
    # The requested member is as frequent as two others.
    everybody = [member, member, *others]
    runs = chance.choice(everybody) if chance.random() < 0.7 else None
    roles: list[str] = []
    for process in dict.fromkeys(each["process_id"] for each in everybody):
        if runs is not None and runs["process_id"] == process:
            has_standby = chance.random() < 0.15 and (runs is not member or gives_back)
            holder, held = runs, ["active", "standby"] if has_standby else ["active"]
        else:
            holder = chance.choice([each for each in everybody if each["process_id"] == process])
            held = [chance.choice(_COPIES)] if chance.random() < 0.5 else []
        for role in held:
            _add(_part(chance, holder, must_give_back=held[0] == role and len(held) > 1), role, task)
        if holder is member:
            roles = held
    return roles


def _part(chance: Random, holder: dict[str, Any], *, must_give_back: bool) -> _Held:
    """Key of a holder's document for a task; a member's tasks to give back are separate."""
    if "held" in holder:
        held: _Held = holder["held"]
    else:
        gives_back = must_give_back or (holder["state"] == "UNREVOKED_TASKS" and chance.random() < 0.4)
        held = holder["pending" if gives_back else "assigned"]
    return held


def _nothing() -> _Held:
    return {role: {} for role in _ROLES}


def _add(held: _Held, role: str, task: tuple[str, int]) -> None:
    partitions = held[role].setdefault(task[0], [])
    if task[1] not in partitions:
        partitions.append(task[1])


# --- the lab's answer -----------------------------------------------------------------------------


def reconciliation_row(document: Mapping[str, Any], requested: str) -> dict[str, Any]:
    """The lab's step; a crash becomes an error in its row."""
    row = {"kind": document["kind"], "id": document["id"], "assignor": requested}
    try:
        return {**row, "member": _reconciled(document, requested), "error": None}
    except Exception as error:  # noqa: BLE001 - a crash of ours is a difference to keep, not the run's end
        failure = {"type": type(error).__name__, "java_type": None, "message": str(error)}
        return {**row, "member": None, "error": failure}


def _reconciled(document: Mapping[str, Any], requested: str) -> dict[str, Any]:
    member, owned = document["member"], document["owned"]
    numbers = _Numbers()
    standing = Standing(
        member["process_id"],
        member["epoch"],
        _STATES[member["state"]],
        numbers.tasks(member["assigned"]),
        numbers.tasks(member["pending"]),
    )
    holders = Holders()
    holders.add(member["id"], standing.process, standing.assigned | standing.pending)
    for other in document["others"]:
        holders.add(other["id"], other["process_id"], numbers.tasks(other["held"]))
    after = reconciled(
        member["id"],
        standing,
        numbers.tasks(document["target"]),
        document["target_epoch"],
        None if owned is None else numbers.tasks(owned),
        holders,
        _RELEASES[requested],
    )
    return {
        "state": _NAMES[after.state],
        "epoch": after.epoch,
        "assigned": numbers.held(after.assigned),
        "pending": numbers.held(after.pending),
    }


class _Numbers:
    """The lab's numbers of tasks."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, int], int] = {}

    def tasks(self, held: Mapping[str, Mapping[str, list[int]]]) -> TasksByRole:
        """Tasks of a document by their numbers; new tasks get one."""
        return TasksByRole(*(
            frozenset(
                self._numbers.setdefault((subtopology, partition), len(self._numbers))
                for subtopology, partitions in held[role].items()
                for partition in partitions
            )
            for role in _ROLES
        ))  # fmt: skip

    def held(self, tasks: TasksByRole) -> _Held:
        """Tasks as in a document."""
        held = _nothing()
        for task, number in sorted(self._numbers.items()):
            for role, numbers in zip(_ROLES, (tasks.active, tasks.standby, tasks.warmup), strict=True):
                if number in numbers:
                    _add(held, role, task)
        return held
