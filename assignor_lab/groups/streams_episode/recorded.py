"""The real course of a recorded episode: its picture and figures, beside those of its plays."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

import attrs

from assignment_api.streams import TaskId
from assignor_lab.groups.kind import ContenderAnswer
from assignor_lab.groups.ownership.recorded_outcome import ActionRow, RecordedOutcome
from assignor_lab.groups.ownership.timeline import assigned_rows, last_moment
from assignor_lab.groups.streams_episode.down_times import MOST_INTERVALS, begun_ms
from assignor_lab.groups.streams_episode.session import PlayedEpisode
from assignor_lab.groups.work import OBSERVED
from assignor_lab.model.pictures import DownTask, DownTimes, Gantt, GroupRebalance, SnapshotAnswer
from assignor_lab.simulation.streams.episode import StreamsEpisode
from assignor_lab.simulation.streams.recorded_result import (
    recorded_result,
    recorded_tasks,
    recorded_totals,
    shows_downtime,
)
from assignor_lab.simulation.streams.results import document_of

__all__ = ["recorded_outcome"]

#: A probe observes from outside and gives no cause.
SEEN = "a probe saw no output"
#: The recording has the owners of a task, and no cause of its downtime.
NO_OWNER = "no owner by the recording"
#: Most tasks with times, and most listed rebalances, as in a play.
_MOST_TASKS = _MOST_REBALANCES = 60
#: Totals of a recording to their metrics.
_METRICS = {
    "rebalances": "rebalances",
    "unavailable_task_s": "unavailable_task_seconds",
    "worst_task_s": "worst_task_unavailable_seconds",
    "restored_bytes": "restored_bytes",
}


def recorded_outcome(answers: Sequence[ContenderAnswer[StreamsEpisode, PlayedEpisode]]) -> RecordedOutcome:
    plays = [None if each.outcome.answer is None else each.outcome.answer.played for each in answers]
    documents = [None if played is None else document_of(played, "") for played in plays]
    first = next((document for document in documents if document is not None), None)
    episode = next((each.state for each in answers if each.state is not None), None)
    recorded = None if episode is None else episode.recorded
    columns = [None if document is None else document["actions"] for document in documents]
    if first is not None and recorded is not None:
        columns.append(recorded_result(first, recorded)["actions"])
    if episode is None or recorded is None:
        return RecordedOutcome(_actions(columns), None, {})
    tasks = [str(task.id) for task in episode.tasks]
    totals = recorded_totals(recorded, tasks)
    figures = {_METRICS[key]: float(value) for key, value in totals.items() if key in _METRICS}
    return RecordedOutcome(_actions(columns), _picture(episode, recorded, tasks, begun_ms(episode)), figures)


def _actions(columns: Sequence[Sequence[Mapping[str, Any]] | None]) -> tuple[ActionRow, ...]:
    known = max((column for column in columns if column is not None), key=len, default=[])
    return tuple(
        ActionRow(row["t_ms"], row["action"], row["who"], tuple(_led_to(column, place) for column in columns))
        for place, row in enumerate(known)
    )


def _led_to(column: Sequence[Mapping[str, Any]] | None, place: int) -> tuple[int, int | None] | None:
    if column is None or place >= len(column):
        return None
    return column[place]["rebalances"], column[place]["until_stable_ms"]


def _picture(
    episode: StreamsEpisode, recorded: Mapping[str, Any], tasks: Sequence[str], begun: int | None
) -> SnapshotAnswer:
    generations = recorded.get("generations", ())
    gantt = _gantt(episode, generations) if generations else None
    seen = recorded_tasks(recorded, tasks)
    if gantt is not None:
        rows = (
            attrs.evolve(row, waits=tuple(sorted([*row.waits, *((begin, to, 0) for begin, to, _ in seen[row.task])])))
            for row in gantt.rows
        )
        gantt = attrs.evolve(gantt, rows=tuple(rows))
    cause = SEEN if recorded.get("probe") else NO_OWNER
    return SnapshotAnswer(
        assignor=OBSERVED,
        error=None,
        gantt=gantt,
        down=_down(seen, gantt, begun, cause) if shows_downtime(recorded) else None,
        rebalances=tuple(_rebalance(episode, each) for each in generations[:_MOST_REBALANCES]),
        rebalances_left_out=max(0, len(generations) - _MOST_REBALANCES),
    )


def _gantt(episode: StreamsEpisode, generations: Sequence[Mapping[str, Any]]) -> Gantt:
    known = {str(task.id) for task in episode.tasks}
    ordered = sorted(generations, key=lambda each: int(each["assignment_t_ms"]))
    times = [max(0, each["assignment_t_ms"]) for each in ordered]
    given = [
        {name: [task for task in held["active"] if task in known] for name, held in each["assigned"].items()}
        for each in ordered
    ]
    until = max(episode.until_ms, last_moment(times))
    return assigned_rows(
        times,
        until,
        sorted({name for held in given for name in held}),
        given,
        lambda task: TaskId.parse(task).sort_key(),
    )


def _down(seen: Mapping[str, Sequence[Sequence[Any]]], gantt: Gantt | None, begun: int | None, cause: str) -> DownTimes:
    runs = {row.task: row.runs for row in gantt.rows} if gantt is not None else {}
    away = {task: sum(to - begin for begin, to, _ in rows) for task, rows in seen.items()}
    worst = sorted((task for task in seen if away[task]), key=lambda task: -away[task])
    return DownTimes(
        begun_ms=begun,
        causes=(cause,),
        by_cause_ms=(sum(away.values()),),
        instances=() if gantt is None else gantt.instances,
        tasks=tuple(_task(task, seen[task], runs.get(task, ())) for task in worst[:_MOST_TASKS]),
        tasks_left_out=len(worst[_MOST_TASKS:]),
    )


def _task(task: str, rows: Sequence[Sequence[Any]], runs: Sequence[Sequence[int]]) -> DownTask:
    lengths = [to - begin for begin, to, _ in rows]
    longest = sorted(sorted(rows, key=lambda row: row[0] - row[1])[:MOST_INTERVALS], key=itemgetter(0))
    return DownTask(
        task=task,
        down_ms=sum(lengths),
        times=len(rows),
        longest_ms=max(lengths),
        intervals=tuple((begin, to, 0, _who(runs, begin), _who(runs, to)) for begin, to, _ in longest),
        intervals_left_out=len(rows) - len(longest),
    )


def _who(runs: Sequence[Sequence[int]], at_ms: int) -> int:
    place = bisect_right(runs, at_ms, key=lambda run: run[0]) - 1
    return runs[place][2] if place >= 0 and at_ms <= runs[place][1] else -1


def _rebalance(episode: StreamsEpisode, each: Mapping[str, Any]) -> GroupRebalance:
    return GroupRebalance(
        at_ms=each["t_ms"],
        because=(each.get("reason", ""),),
        leader="",
        protocol=episode.protocol,
        members=each.get("members", len(each["assigned"])),
        assigned=sum(len(held["active"]) for held in each["assigned"].values()),
        revoked=0,
        delay_ms=0,
    )
