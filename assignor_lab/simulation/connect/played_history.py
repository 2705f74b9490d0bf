"""The history of a played Connect group, of the type that readers of recordings make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

import attrs

from assignment_api.connect import ConnectAssignment, ConnectorTaskId, Rebalance
from assignor_lab.kafka.coordinator import Round
from assignor_lab.model.courses import TaskCourse, UnownedTime
from assignor_lab.model.decision import Decision, InstanceShare
from assignor_lab.model.events import (
    ConnectorCreated,
    ConnectorDeleted,
    DecisionFailed,
    GroupEvent,
    InstanceCrashed,
    RebalanceBegun,
    RebalanceCompleted,
    TasksReconfigured,
)
from assignor_lab.model.evidence import Evidence
from assignor_lab.model.history import JOBS, PLAYED, GroupHistory, GroupName
from assignor_lab.model.identity import GroupInstance
from assignor_lab.model.moment import Moment
from assignor_lab.simulation.connect.surroundings.config_log import ConfigLog
from assignor_lab.simulation.connect.surroundings.job_runs import JobRun, JobRuns

__all__ = ["DELAY", "REBALANCE", "SESSION", "DecidedRound", "changed_connectors", "played_history"]

#: Causes of a task's downtime.
DELAY, SESSION, REBALANCE = "scheduled delay", "session timeout", "rebalancing and starting"
_MISMATCH = "the leader had not read the config topic as far as a member"


@attrs.frozen(eq=False)
class DecidedRound:
    """A leader's answer; ``names`` is member id to worker at that time."""

    rebalance: Rebalance
    answer: ConnectAssignment
    names: Mapping[str, str]

    @property
    def shares(self) -> Mapping[str, InstanceShare]:
        owned = self.answer.owned_after(self.rebalance)
        return {
            self.names.get(member, member): InstanceShare(
                None, frozenset({member}), (*sorted(jobs.connectors), *sorted(map(str, jobs.tasks)))
            )
            for member, jobs in owned.items()
        }


def played_history(
    name: GroupName,
    workers: Iterable[str],
    rounds: Sequence[Round],
    decided: Mapping[int, DecidedRound],
    runs: JobRuns,
    config: ConfigLog,
    events: Sequence[GroupEvent],
    begin_ms: int,
    until_ms: int,
) -> GroupHistory:
    """Decisions, events and jobs over time.

    Args:
        workers: In the order of their first start.
        decided: By generation.
        events: By time; those of rebalances come from ``rounds``.
    """
    own = [*events, *(event for each in rounds for event in _events_of(each, each.generation in decided))]
    causes = _Causes(rounds, events, until_ms)
    left = config.view(config.end).jobs
    courses, connectors = {}, {}
    for job in runs.runs:
        course = runs.course(job, begin_ms, until_ms, lasts=job in left)
        if not (course.runs or course.waits):
            continue
        if isinstance(job, ConnectorTaskId):
            courses[str(job)] = causes.told(course, runs.runs[job])
        else:
            connectors[job] = causes.told(course, runs.runs[job])
    return GroupHistory(
        name,
        PLAYED,
        tuple(_decision(each, decided[each.generation]) for each in rounds if _is_decided(each, decided)),
        tuple(sorted(own, key=lambda each: each.at.latest_ms)),
        tuple(GroupInstance(worker, ()) for worker in workers),
        JOBS,
        begin_ms,
        until_ms,
        courses,
        shows_downtime=True,
        connectors=connectors,
    )


def changed_connectors(config: ConfigLog, since: int, at_ms: int) -> Iterator[GroupEvent]:
    """The changes that records of the config topic make, from an offset on."""
    at, played = Moment.at(at_ms), Evidence.played()
    for before, after in pairwise(config.view(offset) for offset in range(since, config.end + 1)):
        there, here = before.jobs.task_counts, after.jobs.task_counts
        yield from (ConnectorCreated(at, played, name) for name in here if name not in there)
        yield from (ConnectorDeleted(at, played, name) for name in there if name not in here)
        for name, count in here.items():
            # A new connector's tasks follow it.
            if there.get(name) and there[name] != count:
                yield TasksReconfigured(at, played, name, there[name], count)


def _is_decided(each: Round, decided: Mapping[int, DecidedRound]) -> bool:
    return each.assigned_ms is not None and each.generation in decided


def _decision(each: Round, decided: DecidedRound) -> Decision:
    jobs = decided.rebalance.configured
    return Decision(
        Moment.at(each.joined_ms if each.assigned_ms is None else each.assigned_ms),
        Evidence.played(),
        each.protocol.value,
        each.generation,
        decided.shares,
        tasks=frozenset([*jobs.connectors(), *map(str, jobs.tasks())]),
        begun_ms=each.prepared_ms,
        reason="; ".join(each.reasons),
        allowed_ms=each.delay_ms,
        joined_ms=each.joined_ms,
        leader=each.leader,
        member_count=len(each.members),
        revoked=each.revoked,
    )


def _events_of(each: Round, is_answered: bool) -> Iterator[GroupEvent]:  # noqa: FBT001 - a fact of the round
    played = Evidence.played()
    yield RebalanceBegun(Moment.at(each.prepared_ms), played, "; ".join(each.reasons))
    if each.mismatch:
        yield DecisionFailed(Moment.at(each.joined_ms), played, _MISMATCH, each.generation)
    if each.assigned_ms is None or not is_answered:
        yield RebalanceCompleted(Moment.at(each.joined_ms), played, each.generation, len(each.members))


class _Causes:
    """The causes of times without an owner: a crash that is not noticed yet, a delay, else the rebalance."""

    def __init__(self, rounds: Sequence[Round], events: Iterable[GroupEvent], until_ms: int) -> None:
        self._begun = sorted(each.prepared_ms for each in rounds)
        self._crashes = {(each.instance, each.at.latest_ms) for each in events if isinstance(each, InstanceCrashed)}
        following = [*(each.prepared_ms for each in rounds[1:]), until_ms]
        #: Lost jobs wait from a round with a delay to the next round.
        self._delays = [
            (each.joined_ms, until) for each, until in zip(rounds, following, strict=False) if each.delay_ms
        ]

    def told(self, course: TaskCourse, runs: Iterable[JobRun]) -> TaskCourse:
        # A run may have ended at the beginning of the history.
        ends: dict[int | None, str] = {}
        for run in sorted(runs, key=lambda run: run.start_ms):
            if run.end_ms != run.start_ms:
                ends.setdefault(run.end_ms, run.worker)
        waits = [part for each in course.waits for part in self._parts(each, ends.get(each.begin_ms, ""))]
        return attrs.evolve(course, waits=tuple(waits))

    def _parts(self, wait: UnownedTime, worker: str) -> Iterator[UnownedTime]:
        begin, end = wait.begin_ms, wait.end_ms
        if (worker, begin) in self._crashes:
            noticed = min(end, next((at for at in self._begun if at >= begin), end))
            if noticed > begin:
                yield UnownedTime(begin, noticed, SESSION)
            begin = noticed
        for since, until in self._delays:
            since, until = max(since, begin), min(until, end)
            if until > since:
                if since > begin:
                    yield UnownedTime(begin, since, REBALANCE)
                yield UnownedTime(since, until, DELAY)
                begin = until
        if end > begin:
            yield UnownedTime(begin, end, REBALANCE)
