"""The ``recorded`` section of an episode as a group history, which no simulation reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from assignment_api.streams import TaskId
from assignor_lab.model.courses import OwnedTime, ProbeWindow, TaskCourse, UnownedTime
from assignor_lab.model.decision import Decision, InstanceShare
from assignor_lab.model.evidence import Evidence, EvidenceKind
from assignor_lab.model.history import RECORDED, GroupHistory, GroupName
from assignor_lab.model.identity import GroupInstance
from assignor_lab.model.moment import Moment

__all__ = ["NO_OWNER", "SEEN", "recorded_history"]

#: In place of a cause: a probe from outside sees none.
SEEN = "seen by a probe"
#: The same if the recording shows each task's owner.
NO_OWNER = "no owner by the recording"

_RECORD = Evidence(EvidenceKind.RECORD)


def recorded_history(
    recorded: Mapping[str, Any], group: str, protocol: str, tasks: Iterable[str], begin_ms: int, until_ms: int
) -> GroupHistory:
    """Of a checked section.

    Args:
        begin_ms: Time of the first event, from which the section counts.
        until_ms: End of the episode.
    """
    decisions = [_decision(each, protocol, begin_ms) for each in recorded.get("generations", ())]
    probes = tuple(_probe(each, begin_ms) for each in recorded.get("probe", ()))
    ordered = sorted(decisions, key=lambda each: each.at.latest_ms)
    end_ms = max([until_ms, *(each.at.latest_ms for each in ordered[-1:])])
    waits = _waits(recorded, probes, begin_ms)
    runs = _runs(ordered, begin_ms, end_ms)
    changes = recorded.get("changes")
    return GroupHistory(
        GroupName(group),
        RECORDED,
        tuple(decisions),
        instances=tuple(GroupInstance(name, ()) for name in sorted({name for each in ordered for name in each.shares})),
        begin_ms=begin_ms,
        until_ms=end_ms,
        courses={
            task: TaskCourse(tuple(runs.get(task, ())), tuple(waits.get(task, ())))
            for task in sorted(tasks, key=lambda task: TaskId.parse(task).sort_key())
        },
        shows_downtime=bool(probes) or "downtime" in recorded,
        shows_restoring=bool(recorded.get("downtime", {}).get("shows_restoring")),
        changes_ms=None if changes is None else tuple(begin_ms + each for each in changes),
        probes=probes,
    )


def _decision(generation: Mapping[str, Any], protocol: str, begin_ms: int) -> Decision:
    assigned = generation["assigned"]
    return Decision(
        Moment.at(begin_ms + generation["assignment_t_ms"]),
        _RECORD,
        protocol,
        generation.get("generation"),
        {
            name: InstanceShare(active=tuple(held["active"]), copies=tuple(held["standby"]))
            for name, held in assigned.items()
        },
        begun_ms=begin_ms + generation["t_ms"],
        reason=generation.get("reason", ""),
        followup=generation.get("followup", "none"),
        member_count=generation.get("members", len(assigned)),
    )


def _probe(window: Mapping[str, Any], begin_ms: int) -> ProbeWindow:
    return ProbeWindow(
        begin_ms + window["t_ms"],
        begin_ms + window["end_ms"],
        window["action"],
        {
            task: tuple((begin_ms + begin, length) for begin, length in seen)
            for task, seen in window["tasks"].items()
        },
        (window.get("restored_bytes") or 0) + (window.get("standby_bytes") or 0),
    )  # fmt: skip


def _waits(
    recorded: Mapping[str, Any], probes: Sequence[ProbeWindow], begin_ms: int
) -> dict[str, list[UnownedTime]]:  # fmt: skip
    """Time without output at a probe; without a probe from an owner's loss to the next owner's run."""
    found: dict[str, list[UnownedTime]] = {}
    for window in probes:
        for task, seen in window.away.items():
            found.setdefault(task, []).extend(UnownedTime(begin, begin + length, SEEN) for begin, length in seen)
    if not probes:
        for task, seen in recorded.get("downtime", {}).get("tasks", {}).items():
            found[task] = [UnownedTime(begin_ms + begin, begin_ms + end, NO_OWNER) for begin, end in seen]
    return found


def _runs(decisions: Sequence[Decision], begin_ms: int, end_ms: int) -> dict[str, list[OwnedTime]]:
    """A decision is valid until the next one."""
    found: dict[str, list[OwnedTime]] = {}
    times = [max(begin_ms, each.at.latest_ms) for each in decisions]
    for decision, (begin, end) in zip(decisions, pairwise([*times, end_ms]), strict=True):
        for task, name in decision.owners.items():
            runs = found.setdefault(task, [])
            if runs and runs[-1].end_ms == begin and runs[-1].instance == name:
                begin_run = runs.pop().begin_ms
                runs.append(OwnedTime(begin_run, end, name))
            else:
                runs.append(OwnedTime(begin, end, name))
    return found
