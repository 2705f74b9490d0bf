"""The full picture of one rebalance or episode: the owners of jobs before, and each assignor's answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from assignment_api.connect import Jobs
from assignment_api.streams.ids import utf16_key
from assignor_lab.groups.connect.metrics import ConnectDecision
from assignor_lab.groups.connect.rounds import RebalanceAnswer, RoundState
from assignor_lab.groups.kind import ContenderAnswer
from assignor_lab.model.events import InstanceCrashed, InstanceStarted, InstanceStopped
from assignor_lab.model.history import GroupHistory
from assignor_lab.model.pictures import (
    ConnectSnapshot,
    Gantt,
    GanttChange,
    GanttRow,
    GroupRebalance,
    GroupSize,
    GroupWorker,
    SnapshotAnswer,
)
from assignor_lab.simulation.connect.episode import ConnectEpisode
from assignor_lab.simulation.connect.simulate import PlayedConnectEpisode
from assignor_lab.simulation.connect.timeline import timeline

__all__ = ["episode_picture", "rebalance_picture"]

#: Most named jobs of one worker; the others are counted.
MOST_NAMES = 12
#: Columns of a timeline, and most listed rebalances of an episode.
TIMELINE_WIDTH = 96
MOST_REBALANCES = 60
#: Most tasks of a Gantt picture, most spans of one of them, and most marks.
MOST_TASKS, MOST_STRETCHES, MOST_MARKS = 60, 60, 400
#: Most workers of a picture; a larger group has none.
MOST_WORKERS = 400

_ACTIONS = {InstanceStarted: "start", InstanceStopped: "stop", InstanceCrashed: "crash"}

RoundAnswer = ContenderAnswer[RoundState, RebalanceAnswer]
EpisodeAnswer = ContenderAnswer[ConnectEpisode, PlayedConnectEpisode]


def rebalance_picture(answers: Sequence[RoundAnswer], assignor: str | None = None) -> ConnectSnapshot:
    """Answers to one item and round, at least one.

    In the later rounds of a family's history each assignor has its own group. The picture then shows that of
    ``assignor`` (``None``: of the first one), with the answers to that state.
    """
    decided = [answer for answer in answers if answer.outcome.answer is not None]
    own = [answer for answer in decided if answer.assignor == assignor]
    seen = (own or decided or list(answers))[0]
    shown = [answer for answer in answers if _same_state(answer, seen)]
    before = {} if seen.state is None else {worker.member_id: worker.owned for worker in seen.state.round.workers}
    workers = (
        ()
        if len(before) > MOST_WORKERS
        else tuple(GroupSize(name, len(jobs.connectors), len(jobs.tasks)) for name, jobs in before.items())
    )
    return _picture(seen, "connect", workers, map(_rebalance_answer, shown))


def episode_picture(answers: Sequence[EpisodeAnswer]) -> ConnectSnapshot:
    return _picture(answers[0], "connect-episode", (), map(_episode_answer, answers), shows=("gantt",))


def _picture(
    seen: ContenderAnswer[Any, Any],
    kind: str,
    workers: tuple[GroupSize, ...],
    answers: Iterable[SnapshotAnswer],
    shows: tuple[str, ...] = (),
) -> ConnectSnapshot:
    scenario = seen.scenario
    return ConnectSnapshot(
        scenario="" if scenario is None else scenario.id,
        round=seen.round,
        kind=kind,
        assumptions=() if scenario is None else tuple(scenario.assumptions),
        workers=workers,
        answers=tuple(answers),
        shows=shows,
    )


def _same_state(answer: RoundAnswer, seen: RoundAnswer) -> bool:
    mine, theirs = answer.outcome.answer, seen.outcome.answer
    if mine is None or theirs is None:
        return True
    return mine.decision.before == theirs.decision.before and mine.decision.configured == theirs.decision.configured


def _rebalance_answer(answer: RoundAnswer) -> SnapshotAnswer:
    decided = answer.outcome.answer
    if decided is None:
        return SnapshotAnswer(assignor=answer.assignor, error=answer.problem)
    return SnapshotAnswer(
        assignor=answer.assignor,
        error=answer.problem,
        stops_all=decided.decision.stops_all,
        delay_ms=decided.assignment.delay_ms,
        rounds=decided.decision.rounds,
        workers=_after(decided.decision),
    )


def _episode_answer(answer: EpisodeAnswer) -> SnapshotAnswer:
    played = answer.outcome.answer
    if played is None:
        return SnapshotAnswer(assignor=answer.assignor, error=answer.problem)
    return SnapshotAnswer(
        assignor=answer.assignor,
        error=answer.problem,
        timeline=_timeline(played),
        gantt=_gantt(played),
        rebalances=_rebalances(played),
        rebalances_left_out=_left_out(played),
    )


def _after(decision: ConnectDecision) -> tuple[GroupWorker, ...]:
    if len(decision.before) > MOST_WORKERS:
        return ()
    found = []
    for name, before in decision.before.items():
        after = decision.after.get(name, Jobs())
        starts, stops = after.minus(before), before.minus(after)
        found.append(
            GroupWorker(
                connectors=len(after.connectors),
                tasks=len(after.tasks),
                starts=_names(starts),
                more_starts=max(0, len(starts) - MOST_NAMES),
                stops=_names(stops),
                more_stops=max(0, len(stops) - MOST_NAMES),
            )
        )
    return tuple(found)


def _names(jobs: Jobs) -> tuple[str, ...]:
    connectors = sorted(jobs.connectors, key=utf16_key)[:MOST_NAMES]
    tasks = sorted(jobs.tasks, key=lambda task: task.sort_key())[: MOST_NAMES - len(connectors)]
    return (*connectors, *map(str, tasks))


def _timeline(played: PlayedConnectEpisode) -> tuple[str, ...]:
    return tuple(timeline(played.history, TIMELINE_WIDTH)[: MOST_WORKERS + 2])


def _gantt(played: PlayedConnectEpisode) -> Gantt:
    """The worker of each task over time, longest downtime first; connectors' own instances are not drawn."""
    history = played.history
    begin, end = history.begin_ms or 0, played.episode.until_ms
    place = {each.name: number for number, each in enumerate(history.instances)}
    shown = set(history.tasks_by_downtime[:MOST_TASKS])
    rows = []
    for task, course in history.courses.items():
        if task in shown:
            runs = sorted((each.begin_ms - begin, each.end_ms - begin, place[each.instance]) for each in course.runs)
            waits = [(each[0].begin_ms - begin, each[-1].end_ms - begin, 0) for each in course.interruptions]
            rows.append(GanttRow(task, tuple(runs[:MOST_STRETCHES]), tuple(waits[:MOST_STRETCHES])))
    joined = (at - begin for at in history.joined_ms[:MOST_MARKS])
    changes = [
        GanttChange(at - begin, change, name) for at, change, name in sorted(_changes(history)) if at <= begin + end
    ]
    return Gantt(
        until_ms=end,
        instances=tuple(place),
        rows=tuple(rows),
        rows_left_out=len(history.courses) - len(rows),
        marks=tuple(at for at in joined if 0 <= at <= end),
        changes=tuple(changes[:MOST_MARKS]),
    )


def _changes(history: GroupHistory) -> Iterator[tuple[int, str, str]]:
    """Times and names of workers that start, stop or crash; the group has its first workers from the beginning."""
    for each in history.events:
        action = _ACTIONS.get(type(each))
        if action is not None and (action != "start" or each.at.latest_ms > (history.begin_ms or 0)):
            yield each.at.latest_ms, action, each.subject or ""


def _rebalances(played: PlayedConnectEpisode) -> tuple[GroupRebalance, ...]:
    begin = played.cluster.start_ms
    return tuple(
        GroupRebalance(
            at_ms=each.joined_ms - begin,
            because=tuple(list(each.reasons)[:10]),
            leader=each.leader,
            protocol=each.protocol.value,
            members=len(each.members),
            assigned=each.assigned,
            revoked=each.revoked,
            delay_ms=each.delay_ms,
        )
        for each in played.cluster.rounds[:MOST_REBALANCES]
    )


def _left_out(played: PlayedConnectEpisode) -> int:
    return max(0, len(played.cluster.rounds) - MOST_REBALANCES)
