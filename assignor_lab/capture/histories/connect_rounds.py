"""Rounds of Connect groups as decisions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import attrs

from assignment_api.connect import NO_JOBS, ConnectProtocol, Jobs
from assignor_lab.documents.wording import listed, natural_order, plural
from assignor_lab.groups.ownership.timeline import assigned_rows, last_moment
from assignor_lab.model.decision import Decision, InstanceShare
from assignor_lab.model.events import (
    ConnectorCreated,
    ConnectorDeleted,
    DelayBegun,
    DelayEnded,
    GroupEvent,
    JobsRevoked,
    TasksReconfigured,
)
from assignor_lab.model.evidence import Evidence, InferenceRule
from assignor_lab.model.history import GroupHistory
from assignor_lab.model.moment import Moment
from assignor_lab.model.pictures import Gantt
from assignor_lab.scenarios.connect_history import ConnectHistory, ConnectRound, RecordedAnswer

__all__ = [
    "UnownedJob",
    "connect_decisions",
    "connect_events",
    "connect_lanes",
    "recorded_rounds",
    "jobs_document",
    "unowned_times",
]

_RANDOM = re.compile(r"-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")
_MOST_NAMED = 3
#: Of one connector in the lanes; a task without an owner has no lane.
_MOST_TASKS = 10_000
_BROKEN = "rounds before it are not there"


def recorded_rounds(content: object) -> ConnectHistory | None:
    """The content of a scenario if it is a recorded past of a Connect group."""
    return content if isinstance(content, ConnectHistory) and content.rounds and content.recorded else None


def connect_decisions(histories: Iterable[ConnectHistory]) -> list[Decision]:
    """The rounds of one group, by time.

    Missing rounds split a past into several histories: the first round after a gap has a mark.
    """
    made: list[Decision] = []
    for history in sorted(histories, key=lambda history: history.rounds[0].time_ms):
        # A revoked job runs nowhere until the next round.
        ran: dict[object, str] = {}
        configured: Mapping[str, int] | None = None
        for number, (each, recorded) in enumerate(zip(history.rounds, history.recorded, strict=False)):
            answer, now = recorded.answer, each.configured.task_counts
            after = _after(each, answer, history.protocol)
            notes = [*_words(each, answer, is_broken=not number and bool(made))]
            made.append(
                Decision(
                    Moment.at(each.time_ms),
                    Evidence.record(history.place),
                    history.protocol.value,
                    recorded.generation,
                    _shares(after),
                    tasks=frozenset(_wanted(now)),
                    reason=recorded.reason,
                    notes=(*notes, *_connector_words(configured, now)),
                    moved=_moved(ran, after),
                    allowed_ms=0 if answer is None else answer.delay_ms,
                )
            )
            configured = now
    return made


def connect_events(decisions: Sequence[Decision]) -> Iterator[GroupEvent]:
    """Changes of connectors, and delays of departed workers' jobs, between decisions by time."""
    begun: Decision | None = None
    waiting: set[str] = set()
    for before, after in pairwise(decisions):
        at, place = after.at, after.evidence.place
        yield from _changed_connectors(before, after)
        yield from _revoked(before, after)
        delay = Evidence.inferred(InferenceRule.DELAY, place)
        lost = (before.owners.keys() - after.owners.keys()) & (
            after.tasks or after.owners.keys() | before.owners.keys()
        )
        if after.allowed_ms and not before.allowed_ms:
            begun, waiting = after, set(lost)
            yield DelayBegun(at, delay, tuple(sorted(waiting, key=natural_order)), after.allowed_ms)
        elif after.allowed_ms:
            waiting |= lost
        elif begun is not None:
            back = tuple(sorted(waiting & after.owners.keys(), key=natural_order))
            yield DelayEnded(at, delay, back, at.latest_ms - begun.at.latest_ms)
            begun, waiting = None, set()


def unowned_times(decisions: Sequence[Decision]) -> list[UnownedJob]:
    """Jobs with times without an owner between decisions by time, the longest first.

    A configured job has none from the decision that takes it away, or after which its worker is gone, until another one
    gives it to a worker. The last one may last.
    """
    since: dict[str, int] = {}
    found: dict[str, list[int]] = {}
    had: set[str] = set()
    last_ms = decisions[-1].at.latest_ms if decisions else 0
    for decision in decisions:
        now_ms, owners, wanted = decision.at.latest_ms, decision.owners.keys(), decision.tasks or frozenset()
        for job in [job for job in since if job in owners or job not in wanted]:
            begin = since.pop(job)
            if job in owners:
                found.setdefault(job, []).append(now_ms - begin)
        for job in (wanted & had) - owners - since.keys():
            since[job] = now_ms
        had |= owners
    open_jobs = {job: last_ms - begin for job, begin in since.items()}
    rows = [UnownedJob(job, tuple(found.get(job, ())), open_jobs.get(job)) for job in {*found, *open_jobs}]
    return sorted(rows, key=lambda each: (-each.total_ms, natural_order(each.job)))


@attrs.frozen
class UnownedJob:
    """Times of a job without an owner.

    Args:
        waits_ms: Times that ended, by begin.
        open_ms: Time until the last decision, if it has no owner then.
    """

    job: str
    waits_ms: tuple[int, ...]
    open_ms: int | None

    @property
    def total_ms(self) -> int:
        return sum(self.waits_ms) + (self.open_ms or 0)

    @property
    def longest_ms(self) -> int:
        return max((*self.waits_ms, self.open_ms or 0))


def jobs_document(history: GroupHistory) -> dict[str, Any]:
    """The jobs of each worker after each decision, and the times without an owner, for programs."""
    return {
        "jobs": [{name: list(share.active) for name, share in each.shares.items()} for each in history.decisions],
        "unowned": [
            {"job": each.job, "waits_ms": list(each.waits_ms), "open_ms": each.open_ms}
            for each in unowned_times(history.decisions)
        ],
    }


def _revoked(before: Decision, after: Decision) -> Iterator[GroupEvent]:
    """Jobs of a worker that stays, which no worker has afterwards."""
    evidence = Evidence.inferred(InferenceRule.REVOKED, after.evidence.place)
    for name in sorted(before.shares.keys() & after.shares.keys(), key=natural_order):
        if not after.shares[name].continues(before.shares[name]):
            continue
        gone = set(before.shares[name].active) - after.owners.keys()
        if gone:
            yield JobsRevoked(after.at, evidence, name, tuple(sorted(gone, key=natural_order)))


def _changed_connectors(before: Decision, after: Decision) -> Iterator[GroupEvent]:
    if before.tasks is None or after.tasks is None or before.tasks == after.tasks:
        return
    changed = Evidence.inferred(InferenceRule.CONNECTORS, after.evidence.place)
    there, here = _task_counts(before.tasks), _task_counts(after.tasks)
    yield from (ConnectorCreated(after.at, changed, name) for name in sorted(here.keys() - there.keys()))
    yield from (ConnectorDeleted(after.at, changed, name) for name in sorted(there.keys() - here.keys()))
    for name in sorted(here.keys() & there.keys()):
        if here[name] != there[name]:
            yield TasksReconfigured(after.at, changed, name, there[name], here[name])


def _task_counts(jobs: frozenset[str]) -> dict[str, int]:
    """Connector to its number of tasks. A job with the name of a connector, a dash and a number is its task."""
    found: dict[str, int] = {}
    for job in sorted(jobs, key=len):
        connector, dash, number = job.rpartition("-")
        if dash and number.isdigit() and connector in jobs:
            found[connector] = found.get(connector, 0) + 1
        else:
            found.setdefault(job, 0)
    return found


def _shares(after: Mapping[str, Jobs]) -> dict[str, InstanceShare]:
    members: dict[str, set[str]] = {}
    jobs: dict[str, list[str]] = {}
    for worker, held in after.items():
        members.setdefault(_name(worker), set()).add(worker)
        jobs.setdefault(_name(worker), []).extend([*sorted(held.connectors), *sorted(map(str, held.tasks))])
    return {name: InstanceShare(None, frozenset(ids), tuple(jobs[name])) for name, ids in members.items()}


def _wanted(connectors: Mapping[str, int]) -> Iterator[str]:
    for name, count in connectors.items():
        yield name
        yield from (f"{name}-{number}" for number in range(min(count, _MOST_TASKS)))


def connect_lanes(decisions: Sequence[Decision]) -> tuple[Gantt, Gantt]:
    """Lanes of workers and of jobs, in the form of an episode's."""
    holdings = [{name: list(each.active) for name, each in decision.shares.items()} for decision in decisions]
    times = [decision.at.latest_ms - decisions[0].at.latest_ms for decision in decisions]
    workers = sorted({name for held in holdings for name in held}, key=natural_order)
    until = last_moment(times)
    members = [{name: [name] for name in held} for held in holdings]
    there = assigned_rows(times, until, workers, members, natural_order, [() for _ in holdings])
    wanted = [set(decision.tasks or ()) for decision in decisions]
    return there, assigned_rows(times, until, workers, holdings, natural_order, wanted)


def _after(each: ConnectRound, answer: RecordedAnswer | None, protocol: ConnectProtocol) -> dict[str, Jobs]:
    """An eager assignment replaces all jobs; otherwise it adds and revokes."""
    held = {worker.member_id: worker.owned if protocol.is_incremental else NO_JOBS for worker in each.workers}
    if answer is None:
        return held
    return {
        name: jobs.minus(answer.revoked.get(name, NO_JOBS)).plus(answer.assigned.get(name, NO_JOBS))
        for name, jobs in held.items()
    }


def _moved(ran: dict[object, str], after: Mapping[str, Jobs]) -> int:
    """Updates ``ran``."""
    moved = 0
    for worker, jobs in after.items():
        for job in (*jobs.connectors, *jobs.tasks):
            moved += ran.get(job, _name(worker)) != _name(worker)
            ran[job] = _name(worker)
    return moved


def _words(each: ConnectRound, answer: RecordedAnswer | None, *, is_broken: bool) -> Iterable[str]:
    if is_broken:
        yield _BROKEN
    if each.new_leader:
        yield "another worker leads"
    if answer is None:
        yield "the leader's answer is unknown"
        return
    taken = sum(map(len, answer.revoked.values()))
    if taken:
        yield f"{taken} {'job' if taken == 1 else 'jobs'} taken away first"
    if answer.delay_ms:
        yield f"jobs of lost workers wait {answer.delay_ms / 1000:g} s"


def _connector_words(before: Mapping[str, int] | None, now: Mapping[str, int]) -> Iterator[str]:
    """None for the first round."""
    if before is None:
        return
    created, deleted = sorted(now.keys() - before.keys()), sorted(before.keys() - now.keys())
    for names, action in ((created, "created"), (deleted, "deleted")):
        if names:
            noun = "connector" if len(names) == 1 else "connectors"
            more = [f"{len(names) - _MOST_NAMED} more"] if len(names) > _MOST_NAMED else []
            yield f"{noun} {listed([*names[:_MOST_NAMED], *more])} {action}"
    changed = [name for name in sorted(now.keys() & before.keys()) if now[name] != before[name]]
    for name in changed[:_MOST_NAMED]:
        yield f"connector {name} has {plural(now[name], 'task')} ({before[name]} before)"
    if len(changed) > _MOST_NAMED:
        yield f"{plural(len(changed) - _MOST_NAMED, 'more connector')} with another number of tasks"


def _name(worker: str) -> str:
    return _RANDOM.sub("", worker)
