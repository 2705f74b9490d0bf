"""The full picture of one episode: a timeline of its tasks, and its rebalances, for each contender."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate

from assignor_lab.groups.kind import ContenderAnswer
from assignor_lab.groups.streams_episode.down_times import down_times
from assignor_lab.groups.streams_episode.session import PlayedEpisode
from assignor_lab.model.pictures import ConnectSnapshot, Gantt, GanttChange, GanttRow, GroupRebalance, SnapshotAnswer
from assignor_lab.simulation.streams.episode import StreamsEpisode
from assignor_lab.simulation.streams.generations import Generation
from assignor_lab.simulation.streams.processing import REBALANCE, RESTORING, REVOKED
from assignor_lab.simulation.streams.simulate import PlayedStreamsEpisode
from assignor_lab.simulation.streams.timeline import timeline

__all__ = ["episode_picture"]

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
    return SnapshotAnswer(
        assignor=answer.assignor,
        error=answer.problem,
        timeline=tuple(timeline(result.played, TIMELINE_WIDTH, MOST_TASKS)),
        gantt=_gantt(result.played),
        down=down_times(result.played),
        rebalances=tuple(_rebalances(result.played)),
        rebalances_left_out=max(0, len(result.played.generations) - MOST_REBALANCES),
    )


def _gantt(played: PlayedStreamsEpisode) -> Gantt:
    """The owners of each task over time, its restores and its spans without an owner; longest downtime first."""
    first, end = played.first_ms, played.world.begin_ms + played.episode.until_ms
    ledger, names = played.world.ledger, list(played.world.instances)
    place = {name: number for number, name in enumerate(names)}
    away = [sum(to - begin for begin, to, _ in intervals) for intervals in ledger.intervals]
    shown = sorted(sorted(range(len(away)), key=lambda task: -away[task])[:MOST_TASKS])
    rows = []
    for task in shown:
        runs = [
            (begin - first, (end if to is None else to) - first, place[owner]) for begin, to, owner in ledger.runs[task]
        ]
        waits = [(begin - first, to - first, int(cause == RESTORING)) for begin, to, cause in ledger.intervals[task]]
        rows.append(GanttRow(str(played.world.tasks[task]), _within(runs), _within(waits)))
    changes = [
        GanttChange(each.at_ms - first, each.action, each.who)
        for each in played.actions
        if each.action in ("start", "stop", "crash") and first <= each.at_ms <= end
    ]
    return Gantt(
        until_ms=end - first,
        instances=tuple(names),
        rows=tuple(rows),
        rows_left_out=len(away) - len(shown),
        marks=tuple(each.assigned_ms - first for each in played.generations[:MOST_MARKS] if each.assigned_ms >= first),
        changes=tuple(changes[:MOST_MARKS]),
    )


def _within(stretches: Sequence[tuple[int, int, int]]) -> tuple[tuple[int, ...], ...]:
    kept = [(max(0, begin), to, owner) for begin, to, owner in stretches if to > max(0, begin)]
    longest = sorted(kept, key=lambda each: each[0] - each[1])[:MOST_STRETCHES]
    return tuple(sorted(longest))


def _rebalances(played: PlayedStreamsEpisode) -> list[GroupRebalance]:
    rows: list[GroupRebalance] = []
    before: dict[int, str] = {}
    shown = played.generations[:MOST_REBALANCES]
    running = _running_again(played, shown)
    for each, again in zip(shown, running, strict=True):
        owner = {task: name for name, (active, _) in each.assigned.items() for task in active}
        moved = sum(owner.get(task) != name for task, name in before.items())
        rows.append(
            GroupRebalance(
                at_ms=each.joined_ms - played.first_ms,
                because=(each.reason,),
                leader=each.leader or "broker",
                protocol=played.episode.protocol,
                members=each.members,
                assigned=len(owner),
                revoked=moved,
                delay_ms=0,
                running_ms=None if again is None else max(0, again - each.joined_ms),
            )
        )
        before = owner
    return rows


def _running_again(played: PlayedStreamsEpisode, shown: Sequence[Generation]) -> list[int | None]:
    """Time after each rebalance at which all tasks ran again; ``None``: not before the next one, or the end.

    A task of a departed owner that is not yet noticed waits for another rebalance.
    """
    down = sorted(
        (begin, to)
        for intervals in played.world.ledger.intervals
        for begin, to, cause in intervals
        if cause in (REBALANCE, REVOKED, RESTORING)
    )
    begins = [begin for begin, _ in down]
    last = list(accumulate((to for _, to in down), max, initial=0))
    end = played.world.begin_ms + played.episode.until_ms
    following = [*(each.prepared_ms for each in played.generations[1 : len(shown) + 1]), end][: len(shown)]
    found = (last[bisect_left(begins, limit)] for limit in following)
    return [at if at < limit else None for at, limit in zip(found, following, strict=True)]
