"""The cost of a played plan, by step: tasks away, rebalances, restored bytes, causes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from assignor_lab.planning.conduct import GRACE_MS, Conduct
from assignor_lab.simulation.streams.processing import NOBODY, NOT_NOTICED, REBALANCE, RESTORING, REVOKED
from assignor_lab.simulation.streams.simulate import PlayedStreamsEpisode

__all__ = [
    "AWAY_MS", "CAUSES", "GRACE_MS", "PlayedPlan", "StepCost", "cost_of", "now_and_later_of", "play_document",
    "play_from",
]  # fmt: skip

#: A task counts as away after this time without output.
AWAY_MS = 500
#: Absences that begin so long after the last step are later ones. Kafka probes a minute after the last decision, at the
#: earliest; a group of workers may rebalance again after its delay.
_LATER_S = 50.0
#: Cause in the ledger to the cause that a plan reports.
CAUSES: Mapping[str, str] = {
    NOBODY: "empty group",
    NOT_NOTICED: "session timeout",
    REBALANCE: "joining",
    REVOKED: "joining",
    RESTORING: "restoring",
}
#: In place of ``restoring`` for a task without state.
STARTING = "starting"
#: Causes in place of ``session timeout`` if the group went on before a session's end: static members came back, or
#: members left.
RESTART, CLOSING = "process restart", "closing"


@attrs.frozen
class StepCost:
    """The cost of one step, or of all.

    Args:
        task_seconds: Seconds without output, of all tasks together.
        tasks: Tasks that were away.
        rebalances: Generations or target epochs.
        restored_bytes: Bytes that instances restored; ``None``: state of an unknown size was restored.
        spent_on: Cause to task-seconds.
    """

    task_seconds: float
    worst_task_seconds: float
    tasks: int
    rebalances: int
    restored_bytes: float | None
    spent_on: Mapping[str, float]


@attrs.frozen
class PlayedPlan:
    """One play of a plan.

    Args:
        at_seconds: The beginning of each step, from the beginning of the first one.
        duration_seconds: Until the last step was over.
        rest_seconds: Until the group was at rest again; ``None``: it was not within the play.
        absences: Task to its absences: from, to, in seconds from the beginning of the plan.
        failed: The step that was not over in time, or ``None``.
        by_connector: Connector to the task-seconds of its tasks, in a Connect group.
        partitions: Partitions of a consumer group; 0 in another group.
    """

    steps: tuple[StepCost, ...]
    total: StepCost
    at_seconds: tuple[float, ...]
    duration_seconds: float
    rest_seconds: float | None
    absences: Mapping[str, Sequence[tuple[float, float]]]
    failed: str | None
    by_connector: Mapping[str, float] = attrs.field(factory=dict)
    partitions: int = 0


def now_and_later_of(
    play: PlayedPlan, since_s: float = 0.0
) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """Absences that begin with the plan, and those of later rebalances.

    Args:
        since_s: Absences that begin earlier are left out, but for the time that is charged to the next step.
    """
    now: list[tuple[float, float]] = []
    later: list[tuple[float, float]] = []
    for away in play.absences.values():
        for begin, end in away:
            if begin >= play.duration_seconds + _LATER_S:
                later.append((begin, end))
            elif begin >= since_s - GRACE_MS / 1000:
                now.append((begin, end))
    return now, later


def play_document(play: PlayedPlan) -> dict[str, Any]:
    return attrs.asdict(play)


def play_from(document: Mapping[str, Any]) -> PlayedPlan:
    """The play of :func:`play_document`, equal in each figure."""
    shown = {task: [(begin, end) for begin, end in away] for task, away in document["absences"].items()}
    return PlayedPlan(
        **{
            **document,
            "steps": tuple(StepCost(**step) for step in document["steps"]),
            "total": StepCost(**document["total"]),
            "at_seconds": tuple(document["at_seconds"]),
            "absences": shown,
        }
    )


@attrs.frozen
class _Absence:
    task: str
    begin_ms: int
    end_ms: int
    causes: Sequence[tuple[str, int]]


def cost_of(played: PlayedStreamsEpisode, conduct: Conduct) -> PlayedPlan:
    begin = played.world.begin_ms
    marks = [begin + mark.at_ms for mark in conduct.marks]
    first = marks[0]
    absences = [each for each in _absences(played) if each.begin_ms >= first - GRACE_MS]
    by_step: list[list[_Absence]] = [[] for _ in marks]
    for each in absences:
        by_step[max(place for place, mark in enumerate(marks) if mark - GRACE_MS <= each.begin_ms)].append(each)
    steps = []
    for place, mark in enumerate(marks):
        until = marks[place + 1] if place + 1 < len(marks) else None
        steps.append(_cost(played, by_step[place], mark, until))
    shown: dict[str, list[tuple[float, float]]] = {}
    for each in absences:
        shown.setdefault(each.task, []).append(((each.begin_ms - first) / 1000, (each.end_ms - first) / 1000))
    return PlayedPlan(
        tuple(steps),
        _cost(played, absences, first, None),
        tuple((mark - first) / 1000 for mark in marks),
        ((conduct.done_ms or 0) + begin - first) / 1000,
        None if conduct.rest_ms is None else (conduct.rest_ms + begin - first) / 1000,
        shown,
        conduct.failed,
    )


def _absences(played: PlayedStreamsEpisode) -> list[_Absence]:
    """Every time without output that is long enough, by task."""
    found = []
    is_static = any(each.settings.instance_id is not None for each in played.world.instances.values())
    unnoticed = RESTART if is_static else CLOSING
    session_ms = _least_session_ms(played)
    for (task, course), made in zip(played.history.courses.items(), played.episode.tasks, strict=True):
        of_task = CAUSES if made.is_stateful else {**CAUSES, RESTORING: STARTING}
        for waits in course.interruptions:
            begin_ms, end_ms = waits[0].begin_ms, waits[-1].end_ms
            if end_ms - begin_ms < AWAY_MS:
                continue
            causes = [
                (
                    unnoticed if each.cause == NOT_NOTICED and each.length_ms < session_ms else of_task[each.cause],
                    each.length_ms,
                )
                for each in waits
            ]
            found.append(_Absence(task, begin_ms, end_ms, causes))
    return found


def _least_session_ms(played: PlayedStreamsEpisode) -> int:
    """The least time after which a group notices that a member is gone: its last heartbeat was an interval ago."""
    timings = played.episode.timings
    if played.changes is None:
        return timings.session_timeout_ms - timings.heartbeat_interval_ms
    return timings.streams_session_timeout_ms - timings.streams_heartbeat_interval_ms


def _cost(played: PlayedStreamsEpisode, absences: Sequence[_Absence], begin_ms: int, until_ms: int | None) -> StepCost:
    lengths = [each.end_ms - each.begin_ms for each in absences]
    reads = [
        each
        for each in played.world.reads.all
        if not each.follows and each.begun_ms >= begin_ms and (until_ms is None or each.begun_ms < until_ms)
    ]
    changelogs = played.episode.changelogs
    known = all((log := changelogs[each.task]) is None or log.bytes_per_record is not None for each in reads)
    return StepCost(
        sum(lengths) / 1000,
        max(lengths, default=0) / 1000,
        len({each.task for each in absences}),
        sum(
            each.prepared_ms >= begin_ms and (until_ms is None or each.prepared_ms < until_ms)
            for each in played.generations
        ),
        sum(each.size for each in reads) if known else None,
        _spent_on(absences),
    )


def _spent_on(absences: Sequence[_Absence]) -> dict[str, float]:
    spent: dict[str, float] = {}
    for each in absences:
        for cause, length in each.causes:
            spent[cause] = spent.get(cause, 0.0) + length / 1000
    return spent
