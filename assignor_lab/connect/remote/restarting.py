"""Restarts on a remote cluster (KIP-745): the affected instances, and their recovery."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping

import attrs

from assignor_lab.connect.remote.answers import read_status
from assignor_lab.connect.remote.client import ConnectRest, Response
from assignor_lab.connect.remote.errors import ConnectRefusedError, RemoteClusterError, UnreachableClusterError
from assignor_lab.connect.remote.state import read_cluster
from assignor_lab.connect.remote.urls import path_of
from assignor_lab.kafka.herder.restarts import RestartRequest, planned
from assignor_lab.kafka.herder.statuses import ConnectorStatus, InstanceStatus, JobState

__all__ = ["Outcome", "RestartPlan", "RestartReport", "planned_restart", "restart"]

_NOT_FOUND, _CONFLICT, _SERVER_ERROR = 404, 409, 500
#: Start of the message of a worker that cannot reach the owner or the leader (Kafka: ``RestClient``).
_NOT_FORWARDED = "IO Error trying to forward REST request"
_SETTLED = frozenset((JobState.RUNNING, JobState.PAUSED, JobState.STOPPED, JobState.FAILED))
#: Intervals between reads: short at first, for a restart takes less than a second.
_FIRST_LOOK_S, _LATER_LOOK_S = 0.1, 1.0
#: Time in a state after which an instance counts as back; the longer one if no change was observed. REST reports no
#: time and no generation, so a restart between two reads leaves no trace.
_STAYS_S, _UNSEEN_S = 1.0, 5.0


@attrs.frozen
class RestartPlan:
    """The plan of a restart."""

    now: ConnectorStatus
    chosen: tuple[InstanceStatus, ...]
    dead: Mapping[str, str]


@attrs.frozen
class Outcome:
    """The outcome of an instance of the plan.

    Args:
        is_back: RUNNING, PAUSED or STOPPED as intended, on a worker that lives as far as is known; or gone for good.
        seen: False: the state changed between two reads, or the instance did not restart.
        dead: Why its worker takes no connection; empty: it does, or that is unknown.
    """

    task: int | None
    before: str
    after: str | None
    worker_id: str
    trace: str | None
    is_back: bool
    seen: bool
    dead: str = ""


@attrs.frozen
class RestartReport:
    """A completed restart.

    Args:
        outcomes: The connector's first; after a plain restart, with its empty answer, the connector's alone.
    """

    connector: str
    outcomes: tuple[Outcome, ...]
    timed_out: bool

    @property
    def is_back(self) -> bool:
        return all(outcome.is_back for outcome in self.outcomes)


async def planned_restart(rest: ConnectRest, request: RestartRequest, *, probe: bool = True) -> RestartPlan:
    """The plan of a restart, by the cluster's present states. Nothing is changed.

    Without flags only the connector's instance (Kafka: ``ConnectorsResource``); otherwise also instances that are
    already RESTARTING (Kafka: ``RestartPlan``).
    """
    now = await _status(rest, request.connector)
    known = _by_number(now)
    chosen = tuple(known[number] for number in _to_restart(request, planned(request, now)))
    return RestartPlan(now, chosen, await _dead(rest, chosen) if probe else {})


async def restart(
    rest: ConnectRest,
    request: RestartRequest,
    timeout_s: float,
    on_refused: Callable[[str], None] = lambda _: None,
    *,
    probe: bool = True,
) -> RestartReport:
    """Restarts, and waits for the instances.

    A request refused with 409 is repeated until the time runs out: then nothing was done. So is one whose worker cannot
    reach the owner or leader: another takes over. An instance counts as back only if its worker lives: a state stays
    RUNNING after its worker's death, until another worker gets the task.
    """
    end = time.monotonic() + timeout_s
    before = await _status(rest, request.connector)
    answer = await _request(rest, request, timeout_s, on_refused)
    chosen = _to_restart(request, before if answer is None else answer)
    outcomes, timed_out = await _wait(rest, chosen, before, end, probe=probe)
    return RestartReport(request.connector, outcomes, timed_out)


async def _status(rest: ConnectRest, connector: str) -> ConnectorStatus:
    path = f"{path_of('connectors', connector)}/status"
    answer = await rest.get(path)
    return read_status(answer.body, f"GET {answer.url}{path}")


def _to_restart(request: RestartRequest, plan: ConnectorStatus) -> dict[int | None, InstanceStatus]:
    if not (request.include_tasks or request.only_failed):
        return {None: plan.connector}
    tasks = sorted(plan.tasks, key=lambda task: task.number or 0)
    chosen = [instance for instance in (plan.connector, *tasks) if instance.state == JobState.RESTARTING]
    return {instance.number: instance for instance in chosen}


async def _request(
    rest: ConnectRest, request: RestartRequest, timeout_s: float, on_refused: Callable[[str], None]
) -> ConnectorStatus | None:
    path = f"{path_of('connectors', request.connector)}/restart"
    flags = [("includeTasks", request.include_tasks), ("onlyFailed", request.only_failed)]
    params = [(name, str(flag).lower()) for name, flag in flags] if any(flag for _, flag in flags) else []

    def refused(error: BaseException) -> bool:
        if not isinstance(error, ConnectRefusedError):
            return False
        is_unforwarded = error.status == _SERVER_ERROR and error.message.startswith(_NOT_FORWARDED)
        if error.status != _CONFLICT and not is_unforwarded:
            return False
        on_refused(error.message)
        return True

    # Optional extra.
    from tenacity import AsyncRetrying, retry_if_exception, stop_before_delay, wait_random_exponential

    attempts = AsyncRetrying(
        retry=retry_if_exception(refused),
        wait=wait_random_exponential(multiplier=0.25, max=5),
        stop=stop_before_delay(timeout_s),
        reraise=True,
    )
    answer: Response = await attempts(rest.post, path, params)
    return None if answer.body is None else read_status(answer.body, f"POST {answer.url}{path}")


# --- waiting --------------------------------------------------------------------------------------


@attrs.define
class _Watch:
    """One instance: its state, since when, and True if a change was observed."""

    before: str
    now: InstanceStatus | None
    since: float
    seen: bool = False

    def look(self, found: InstanceStatus | None, at: float) -> None:
        if _visible(found) != _visible(self.now):
            self.now, self.since, self.seen = found, at, True

    def is_settled(self, at: float) -> bool:
        if self.now is not None and self.now.state not in _SETTLED:
            return False
        return at - self.since >= (_STAYS_S if self.seen else _UNSEEN_S)

    def outcome(self, task: int | None, planned_on: str, dead: Mapping[str, str]) -> Outcome:
        if self.now is None:
            return Outcome(task, self.before, None, planned_on, None, is_back=True, seen=self.seen)
        state, reason = self.now.state, dead.get(self.now.worker_id, "")
        is_back = state in _SETTLED and state != JobState.FAILED and not reason
        return Outcome(
            task, self.before, state, self.now.worker_id, self.now.trace if state == JobState.FAILED else None,
            is_back=is_back, seen=self.seen, dead=reason,
        )  # fmt: skip


def _visible(instance: InstanceStatus | None) -> tuple[str, str, str | None] | None:
    return None if instance is None else (instance.state, instance.worker_id, instance.trace)


async def _wait(
    rest: ConnectRest, chosen: Mapping[int | None, InstanceStatus], before: ConnectorStatus, end: float, *, probe: bool
) -> tuple[tuple[Outcome, ...], bool]:
    known = _by_number(before)
    start = time.monotonic()
    watched = {
        number: _Watch(known[number].state if number in known else "", known.get(number), start) for number in chosen
    }
    pause = _FIRST_LOOK_S
    dead: Mapping[str, str] = {}
    while True:
        found = await _look(rest, before.name)
        now = time.monotonic()
        if found is not None:
            for number, watch in watched.items():
                watch.look(found.get(number), now)
        settled = all(watch.is_settled(now) for watch in watched.values())
        if probe and (settled or now >= end):
            dead = await _dead(rest, [watch.now for watch in watched.values() if watch.now is not None])
            settled = settled and not dead
        if settled or now >= end:
            break
        await asyncio.sleep(max(0.0, min(pause, end - now)))
        pause = min(_LATER_LOOK_S, pause * 1.1)
    outcomes = [watch.outcome(number, chosen[number].worker_id, dead) for number, watch in watched.items()]
    return tuple(outcomes), not settled


async def _dead(rest: ConnectRest, instances: Iterable[InstanceStatus]) -> dict[str, str]:
    own = {instance.worker_id for instance in instances if instance.state != JobState.UNASSIGNED}
    if not own:
        return {}
    try:
        workers = (await read_cluster(rest)).workers
    except RemoteClusterError:
        return {}
    return {each.worker_id: each.reason for each in workers if each.answers is False and each.worker_id in own}


async def _look(rest: ConnectRest, connector: str) -> dict[int | None, InstanceStatus] | None:
    """``None``: no worker answered, for example during its own restart."""
    try:
        return _by_number(await _status(rest, connector))
    except UnreachableClusterError:
        return None
    except ConnectRefusedError as refused:
        if refused.status != _NOT_FOUND:
            raise
        return {}


def _by_number(status: ConnectorStatus) -> dict[int | None, InstanceStatus]:
    return {instance.number: instance for instance in (status.connector, *status.tasks)}
