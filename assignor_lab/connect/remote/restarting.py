"""Restarts on a remote cluster (KIP-745): the affected instances, and their recovery."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping

import attrs

from assignment_api.plugins.near import did_you_mean
from assignor_lab.connect.remote.answers import read_info, read_server, read_status
from assignor_lab.connect.remote.client import ConnectRest, Response
from assignor_lab.connect.remote.errors import (
    ConnectRefusedError,
    NotForwardedError,
    RemoteClusterError,
    UnreachableClusterError,
)
from assignor_lab.connect.remote.forwarding import forwarding_cause, is_unforwarded
from assignor_lab.connect.remote.state import read_cluster
from assignor_lab.connect.remote.urls import ConnectUrl, path_of
from assignor_lab.documents.wording import listed
from assignor_lab.kafka.herder.restarts import RestartRequest, planned
from assignor_lab.kafka.herder.statuses import ConnectorStatus, InstanceStatus, JobState

__all__ = ["Outcome", "RestartPlan", "RestartReport", "planned_restart", "restart"]

_NOT_FOUND, _CONFLICT = 404, 409
#: Most connectors that a message names.
_MOST_NAMED = 10
_SETTLED = frozenset((JobState.RUNNING, JobState.PAUSED, JobState.STOPPED, JobState.FAILED))
#: Intervals between reads: short at first, for a restart takes less than a second.
_FIRST_LOOK_S, _LATER_LOOK_S = 0.1, 1.0
#: Time in a state after which an instance counts as back; the longer one if no change was observed. REST reports no
#: time and no generation, so a restart between two reads leaves no trace.
_STAYS_S, _UNSEEN_S = 1.0, 5.0


@attrs.frozen
class RestartPlan:
    """The plan of a restart.

    Args:
        unconfigured: Chosen instances that are tasks without a configuration: no worker restarts them (KAFKA-9472).
    """

    now: ConnectorStatus
    chosen: tuple[InstanceStatus, ...]
    dead: Mapping[str, str]
    unconfigured: tuple[InstanceStatus, ...] = ()


@attrs.frozen
class Outcome:
    """The outcome of an instance of the plan.

    Args:
        is_back: RUNNING, PAUSED or STOPPED as intended, on a worker that lives as far as is known; or gone for good.
        seen: False: the state changed between two reads, or the instance did not restart.
        dead: Why its worker takes no connection; empty: it does, or that is unknown.
        is_configured: False: a task without a configuration, which no worker restarts (KAFKA-9472); its state stays.
    """

    task: int | None
    before: str
    after: str | None
    worker_id: str
    trace: str | None
    is_back: bool
    seen: bool
    dead: str = ""
    is_configured: bool = True


@attrs.frozen
class RestartReport:
    """A completed restart.

    Args:
        outcomes: The connector's first; after a plain restart, with its empty answer, the connector's alone.
        ignored_by: Release of a worker that ignored the flags (Connect before 3.0); ``None``: none did.
        left: After such a request: instances that should have restarted, and did not.
        url: The worker that answered.
    """

    connector: str
    outcomes: tuple[Outcome, ...]
    timed_out: bool
    ignored_by: str | None = None
    left: tuple[InstanceStatus, ...] = ()
    url: str = ""

    @property
    def is_back(self) -> bool:
        done = all(outcome.is_back for outcome in self.outcomes if outcome.is_configured)
        return done and self.ignored_by is None


async def planned_restart(rest: ConnectRest, request: RestartRequest, *, probe: bool = True) -> RestartPlan:
    """The plan of a restart, by the cluster's present states. Nothing is changed.

    Without flags only the connector's instance (Kafka: ``ConnectorsResource``); otherwise also instances that are
    already RESTARTING (Kafka: ``RestartPlan``).
    """
    now = await _status(rest, request.connector)
    known = _by_number(now)
    configured = await _configured(rest, request.connector)
    numbers = _to_restart(request, planned(request, now))
    chosen = tuple(known[number] for number in numbers if _is_configured(number, configured))
    unconfigured = tuple(known[number] for number in numbers if not _is_configured(number, configured))
    return RestartPlan(now, chosen, await _dead(rest, chosen) if probe else {}, unconfigured)


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
    answer, url = await _request(rest, request, timeout_s, on_refused)
    ignored = answer is None and (request.include_tasks or request.only_failed)
    # A Connect before 3.0 restarts the connector's instance alone, with an empty answer.
    effective = RestartRequest(request.connector) if ignored else request
    configured = await _configured(rest, request.connector)
    chosen = _to_restart(effective, before if answer is None else answer)
    awaited = {number: each for number, each in chosen.items() if _is_configured(number, configured)}
    outcomes, timed_out = await _wait(rest, awaited, before, end, probe=probe)
    outcomes += tuple(
        Outcome(
            number, known.state, known.state, known.worker_id, known.trace, is_back=False, seen=False,
            is_configured=False,
        )
        for number, known in _by_number(before).items() if number in chosen and number not in awaited
    )  # fmt: skip
    if not ignored:
        return RestartReport(request.connector, outcomes, timed_out, url=str(url))
    left = await _left(rest, request, before, configured)
    return RestartReport(request.connector, outcomes, timed_out, await _version(rest), left, str(url))


async def _left(
    rest: ConnectRest, request: RestartRequest, before: ConnectorStatus, configured: frozenset[int] | None
) -> tuple[InstanceStatus, ...]:
    """Tasks of the request that a Connect before 3.0 left alone, and tasks that are still FAILED."""
    wanted = _to_restart(request, planned(request, before)).keys() - {None}
    now = await _status(rest, request.connector)
    return tuple(
        task
        for task in sorted(now.tasks, key=lambda task: task.number or 0)
        if _is_configured(task.number, configured) and (task.number in wanted or task.state == JobState.FAILED)
    )


async def _version(rest: ConnectRest) -> str:
    try:
        return read_server((await rest.get("/")).body, "GET /").version
    except RemoteClusterError:
        return ""


async def _configured(rest: ConnectRest, connector: str) -> frozenset[int] | None:
    """Numbers of the configured tasks; ``None``: Connect does not answer that now."""
    path = path_of("connectors", connector)
    try:
        answer = await rest.get(path)
        return frozenset(task.task for task in read_info(answer.body, f"GET {answer.url}{path}").tasks)
    except RemoteClusterError:
        return None


def _is_configured(task: int | None, configured: frozenset[int] | None) -> bool:
    return task is None or configured is None or task in configured


async def _status(rest: ConnectRest, connector: str) -> ConnectorStatus:
    path = f"{path_of('connectors', connector)}/status"
    try:
        answer = await rest.get(path)
    except ConnectRefusedError as error:
        if error.status == _NOT_FOUND:
            raise await _unknown(rest, connector, error) from error
        raise
    return read_status(answer.body, f"GET {answer.url}{path}")


async def _unknown(rest: ConnectRest, connector: str, refused: ConnectRefusedError) -> ConnectRefusedError:
    """The same with the names of the cluster's connectors; unchanged if these cannot be read."""
    try:
        named = (await rest.get(path_of("connectors"))).body
    except RemoteClusterError:
        return refused
    names = sorted(map(str, named)) if isinstance(named, list) else []
    if connector in names:
        return refused
    shown = names if len(names) <= _MOST_NAMED else [*names[:_MOST_NAMED], f"{len(names) - _MOST_NAMED} more"]
    hint = f"the cluster's connectors are {listed(shown)}" if names else "the cluster has no connector"
    return ConnectRefusedError(
        refused.request, refused.status, f"{refused.message.rstrip('.')}: {hint}{did_you_mean(connector, names)}"
    )


def _to_restart(request: RestartRequest, plan: ConnectorStatus) -> dict[int | None, InstanceStatus]:
    if not (request.include_tasks or request.only_failed):
        return {None: plan.connector}
    tasks = sorted(plan.tasks, key=lambda task: task.number or 0)
    chosen = [instance for instance in (plan.connector, *tasks) if instance.state == JobState.RESTARTING]
    return {instance.number: instance for instance in chosen}


async def _request(
    rest: ConnectRest, request: RestartRequest, timeout_s: float, on_refused: Callable[[str], None]
) -> tuple[ConnectorStatus | None, ConnectUrl]:
    path = f"{path_of('connectors', request.connector)}/restart"
    flags = [("includeTasks", request.include_tasks), ("onlyFailed", request.only_failed)]
    params = [(name, str(flag).lower()) for name, flag in flags] if any(flag for _, flag in flags) else []
    refusals = _Refusals(on_refused)

    # Optional extra.
    from tenacity import AsyncRetrying, retry_if_exception, stop_before_delay, wait_random_exponential

    attempts = AsyncRetrying(
        retry=retry_if_exception(refusals.may_pass),
        wait=wait_random_exponential(multiplier=0.25, max=5),
        stop=stop_before_delay(timeout_s),
        reraise=True,
    )

    async def post() -> Response:
        # Another worker may be the leader or owner itself, or reach it.
        return await rest.post(path, params, refusals.unforwarded)

    try:
        answer: Response = await attempts(post)
    except ConnectRefusedError as refused:
        if is_unforwarded(refused.status, refused.message):
            raise NotForwardedError(refused, refusals.unforwarded, forwarding_cause(refused.message)) from None
        raise
    refusals.passed()
    return None if answer.body is None else read_status(answer.body, f"POST {answer.url}{path}"), answer.url


@attrs.define
class _Refusals:
    """Refusals of one request: each message is reported once."""

    report: Callable[[str], None]
    unforwarded: int = 0
    _last: str = ""
    _reported: set[str] = attrs.field(factory=set)

    def may_pass(self, error: BaseException) -> bool:
        """True if the same request may pass later, or at another worker."""
        if not isinstance(error, ConnectRefusedError):
            return False
        if is_unforwarded(error.status, error.message):
            self.unforwarded += 1
            self._last = " ".join(error.message.split())
            return True
        if error.status == _CONFLICT and error.message not in self._reported:
            self._reported.add(error.message)
            self.report(error.message)
        return error.status == _CONFLICT

    def passed(self) -> None:
        if self.unforwarded:
            attempts = f"{self.unforwarded} attempt{'s' if self.unforwarded > 1 else ''}"
            self.report(f"{self._last} ({attempts}): {forwarding_cause(self._last)}")


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
