"""The full picture of one episode: a timeline of its tasks, and its rebalances, for each contender."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import accumulate

import attrs

from assignor_lab.groups.kind import ContenderAnswer
from assignor_lab.groups.streams_episode.down_times import CAUSES, down_times
from assignor_lab.groups.streams_episode.session import PlayedEpisode
from assignor_lab.model.decision import STREAMS, Decision
from assignor_lab.model.history import PLAYED, GroupHistory
from assignor_lab.model.pictures import ConnectSnapshot, Gantt, GanttChange, GanttRow, GroupRebalance, SnapshotAnswer
from assignor_lab.simulation.streams.actions import ENDS, START, action_name
from assignor_lab.simulation.streams.episode import StreamsEpisode
from assignor_lab.simulation.streams.processing import REBALANCE, RESTORING, REVOKED
from assignor_lab.simulation.streams.timeline import timeline

__all__ = ["episode_picture", "history_picture"]

#: Columns of a timeline, most tasks in it, and most listed rebalances.
TIMELINE_WIDTH = 96
MOST_TASKS = 60
MOST_REBALANCES = 60
#: Most marks of rebalances and of changes in a Gantt picture, and most spans in one of its rows.
MOST_MARKS = 400
MOST_STRETCHES = 60


def episode_picture(answers: Sequence[ContenderAnswer[StreamsEpisode, PlayedEpisode]]) -> ConnectSnapshot:
    scenario = answers[0].scenario
    return ConnectSnapshot(
        scenario="" if scenario is None else scenario.id,
        round=answers[0].round,
        kind="streams-episode",
        assumptions=() if scenario is None else tuple(scenario.assumptions),
        workers=(),
        answers=tuple(_shown(answer) for answer in answers),
        shows=("gantt", "down"),
    )


def _shown(answer: ContenderAnswer[StreamsEpisode, PlayedEpisode]) -> SnapshotAnswer:
    result = answer.outcome.answer
    if result is None:
        return SnapshotAnswer(assignor=answer.assignor, error=answer.problem)
    history = result.played.history
    rows = tuple(timeline(history, TIMELINE_WIDTH, MOST_TASKS))
    return attrs.evolve(history_picture(history, answer.assignor), error=answer.problem, timeline=rows)


def history_picture(history: GroupHistory, assignor: str, causes: Sequence[str] = CAUSES) -> SnapshotAnswer:
    """A history, recorded or played, as an answer of a picture.

    Args:
        causes: Possible causes of waits.
    """
    return SnapshotAnswer(
        assignor=assignor,
        error=None,
        gantt=_gantt(history) if history.decisions else None,
        down=down_times(history, causes) if history.shows_downtime else None,
        rebalances=tuple(_rebalances(history)),
        rebalances_left_out=max(0, len(history.decisions) - MOST_REBALANCES),
    )


def _gantt(history: GroupHistory) -> Gantt:
    """The owners of each task over time, its restores and its spans without an owner; longest downtime first."""
    first, end = history.begin_ms or 0, history.until_ms or 0
    place = {each.name: number for number, each in enumerate(history.instances)}
    shown = set(history.tasks_by_downtime[:MOST_TASKS])
    rows = []
    for task, course in history.courses.items():
        if task in shown:
            runs = [(each.begin_ms - first, each.end_ms - first, place[each.instance]) for each in course.runs]
            waits = [
                (each.begin_ms - first, each.end_ms - first, int(each.cause == RESTORING)) for each in course.waits
            ]
            rows.append(GanttRow(task, _within(runs), _within(waits)))
    changes = [
        GanttChange(each.at.latest_ms - first, action_name(each) or "", each.subject or "")
        for each in history.events
        if action_name(each) in (START, *ENDS) and first <= each.at.latest_ms <= end
    ]
    marks = [each.at.latest_ms - first for each in history.decisions[:MOST_MARKS] if each.at.latest_ms >= first]
    return Gantt(
        until_ms=end - first,
        instances=tuple(place),
        rows=tuple(rows),
        rows_left_out=len(history.courses) - len(rows),
        marks=tuple(marks),
        changes=tuple(changes[:MOST_MARKS]) if history.origin == PLAYED else None,
    )


def _within(stretches: Sequence[tuple[int, int, int]]) -> tuple[tuple[int, ...], ...]:
    kept = [(max(0, begin), to, owner) for begin, to, owner in stretches if to > max(0, begin)]
    longest = sorted(kept, key=lambda each: each[0] - each[1])[:MOST_STRETCHES]
    return tuple(sorted(longest))


def _rebalances(history: GroupHistory) -> list[GroupRebalance]:
    rows: list[GroupRebalance] = []
    before: Mapping[str, str] = {}
    first, shown = history.begin_ms or 0, history.decisions[:MOST_REBALANCES]
    for each, again in zip(shown, _running_again(history, shown), strict=True):
        owner, joined_ms = each.owners, each.since_ms if each.joined_ms is None else each.joined_ms
        moved = sum(owner.get(task) != name for task, name in before.items())
        rows.append(
            GroupRebalance(
                at_ms=joined_ms - first,
                because=(each.reason,),
                leader=each.leader or ("broker" if each.protocol == STREAMS else ""),
                protocol=each.protocol,
                members=each.members,
                assigned=len(owner),
                revoked=moved,
                delay_ms=0,
                running_ms=None if again is None else max(0, again - joined_ms),
            )
        )
        before = owner
    return rows


def _running_again(history: GroupHistory, shown: Sequence[Decision]) -> list[int | None]:
    """Time after each rebalance at which all tasks ran again.

    ``None``: not before the next one, or the end; or causes are unknown. A task of a departed owner that is not yet
    noticed waits for another rebalance.
    """
    if history.origin != PLAYED:
        return [None] * len(shown)
    down = sorted(
        (each.begin_ms, each.end_ms)
        for course in history.courses.values()
        for each in course.waits
        if each.cause in (REBALANCE, REVOKED, RESTORING)
    )
    begins = [begin for begin, _ in down]
    last = list(accumulate((to for _, to in down), max, initial=0))
    following = [*(each.since_ms for each in history.decisions[1 : len(shown) + 1]), history.until_ms or 0]
    limits = following[: len(shown)]
    found = (last[bisect_left(begins, limit)] for limit in limits)
    return [at if at < limit else None for at, limit in zip(found, limits, strict=True)]
