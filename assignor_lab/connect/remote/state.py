"""A cluster at one moment, by its REST interface."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence

import attrs

from assignment_api.streams.ids import utf16_key
from assignor_lab.connect.remote.answers import read_expanded, read_info, read_names, read_server, read_status
from assignor_lab.connect.remote.client import ConnectRest
from assignor_lab.connect.remote.errors import ConnectRefusedError, RemoteClusterError
from assignor_lab.connect.remote.reachability import reachable, same_place
from assignor_lab.connect.remote.urls import ConnectUrl, path_of
from assignor_lab.kafka.herder.descriptions import ConnectorInfo
from assignor_lab.kafka.herder.statuses import ConnectorStatus, InstanceStatus

__all__ = ["ClusterState", "RemoteConnector", "RemoteWorker", "read_cluster", "state_of"]

_NOT_FOUND = 404
_AT_ONCE = 8
#: A worker reads a new record of the config topic within milliseconds.
_BEHIND_S = 1.0

_Told = tuple[ConnectorStatus | None, ConnectorInfo | None]


@attrs.frozen
class RemoteConnector:
    """A connector.

    Args:
        tasks: Ascending; ``None``: not configured (any more), or unknown.
    """

    name: str
    type: str
    tasks: tuple[int, ...] | None
    status: ConnectorStatus | None

    def instances(self) -> list[InstanceStatus]:
        if self.status is None:
            return []
        return [self.status.connector, *sorted(self.status.tasks, key=lambda task: task.number or 0)]


@attrs.frozen
class RemoteWorker:
    """A worker.

    Args:
        answers: ``None``: not tried, or its address is not reachable from here.
        has_states: False: only found under a given URL.
    """

    worker_id: str
    answers: bool | None
    reason: str = ""
    has_states: bool = True


@attrs.frozen
class ClusterState:
    """The known state.

    Args:
        unanswered: Given URLs that do not answer, or belong to another Kafka cluster, with the reason.
        other_clusters: URLs that answer for another Connect cluster, with the evidence.
    """

    url: str
    version: str
    cluster_id: str
    time_ms: int
    connectors: tuple[RemoteConnector, ...]
    workers: tuple[RemoteWorker, ...]
    unanswered: Mapping[str, str]
    notes: tuple[str, ...] = ()
    other_clusters: Mapping[str, str] = attrs.field(factory=dict)


async def read_cluster(rest: ConnectRest, *, probe: bool = True) -> ClusterState:
    """Sends GET requests only."""
    root = await rest.get("/")
    server = read_server(root.body, f"GET {root.url}/")
    unanswered, others = await _others(rest, root.url, server.kafka_cluster_id)
    names, connectors = await _connectors(rest, root.url)
    strangers = await _strangers(rest, root.url, names, others)
    strangers = await _with_shared_states(strangers, rest.urls, connectors)
    strangers.update(await _changed(rest, root.url, server.kafka_cluster_id))
    others = [url for url in others if str(url) not in strangers]
    workers, notes = await _workers(connectors, (root.url, *others), probe=probe)
    return ClusterState(
        str(root.url), server.version, server.kafka_cluster_id, time.time_ns() // 1_000_000, connectors, workers,
        unanswered, notes, strangers,
    )  # fmt: skip


def state_of(listed: Mapping[str, _Told]) -> tuple[RemoteConnector, ...]:
    return tuple(_connector(name, *listed[name]) for name in sorted(listed, key=utf16_key))


def _connector(name: str, status: ConnectorStatus | None, info: ConnectorInfo | None) -> RemoteConnector:
    kind = next((each.type for each in (info, status) if each is not None), "unknown")
    tasks = None if info is None else tuple(sorted({task.task for task in info.tasks}))
    return RemoteConnector(name, kind, tasks, status)


# --- requests -------------------------------------------------------------------------------------


async def _others(rest: ConnectRest, answered: ConnectUrl, cluster_id: str) -> tuple[dict[str, str], list[ConnectUrl]]:
    """The other given URLs: outside the cluster, and inside."""
    urls = [url for url in rest.urls if url != answered]
    found = await asyncio.gather(*(rest.get("/", at=url) for url in urls), return_exceptions=True)
    unanswered: dict[str, str] = {}
    members = []
    for url, each in zip(urls, found, strict=True):
        if isinstance(each, RemoteClusterError):
            unanswered[str(url)] = str(each)
        elif isinstance(each, BaseException):
            raise each
        elif read_server(each.body, f"GET {url}/").kafka_cluster_id != cluster_id:
            unanswered[str(url)] = f"{url} belongs to another Kafka cluster than {answered}"
        else:
            members.append(url)
    return unanswered, members


async def _names(rest: ConnectRest, url: ConnectUrl) -> frozenset[str]:
    return frozenset(read_names((await rest.get("/connectors", at=url)).body, f"GET {url}/connectors"))


async def _strangers(
    rest: ConnectRest, answered: ConnectUrl, names: frozenset[str], others: Sequence[ConnectUrl]
) -> dict[str, str]:
    """URLs of other Connect clusters: all workers of a cluster read one config topic, so they list the same connectors.

    A worker may be a moment behind, so a difference is read a second time.
    """
    strangers = {}
    for url in others:
        try:
            if await _names(rest, url) == names:
                continue
            await asyncio.sleep(_BEHIND_S)
            ours, theirs = await _names(rest, answered), await _names(rest, url)
        except RemoteClusterError:
            continue
        if ours != theirs:
            missing, more = (
                ", ".join(sorted(each, key=utf16_key)[:3]) or "none" for each in (ours - theirs, theirs - ours)
            )
            strangers[str(url)] = (
                f"{url} belongs to another Connect cluster than {answered}: connectors of the latter alone: {missing}; "
                f"of the former alone: {more}; give the URLs of one cluster (one group.id and one config.storage.topic)"
            )
    return strangers


async def _with_shared_states(
    strangers: Mapping[str, str], urls: Sequence[ConnectUrl], connectors: Sequence[RemoteConnector]
) -> dict[str, str]:
    """The same with the jobs of this answer whose states are of a stranger: both clusters write to one topic."""
    found = dict(strangers)
    states = [(each, state) for each in connectors for state in each.instances()]
    named = sorted({state.worker_id for _, state in states}, key=utf16_key)
    for url in urls:
        if str(url) not in found:
            continue
        places, _ = await same_place([url], named)
        shared = [
            each.name if state.number is None else f"{each.name}-{state.number}"
            for each, state in states
            if state.worker_id in places
        ]
        if shared:
            found[str(url)] += (
                f"; states of this answer are of its worker ({', '.join(shared[:3])}), so both clusters write to one "
                "status.storage.topic: give each cluster its own"
            )
    return found


async def _changed(rest: ConnectRest, url: ConnectUrl, cluster_id: str) -> dict[str, str]:
    """A load balancer may lead to workers of several clusters, one after another."""
    try:
        again = read_server((await rest.get("/", at=url)).body, f"GET {url}/").kafka_cluster_id
    except RemoteClusterError:
        return {}
    if again == cluster_id:
        return {}
    return {
        str(url): f"{url} leads to workers of two clusters: GET / names Kafka cluster {cluster_id or 'none'}, then "
        f"{again or 'none'}; give the workers' own URLs"
    }


async def _connectors(rest: ConnectRest, url: ConnectUrl) -> tuple[frozenset[str], tuple[RemoteConnector, ...]]:
    names = read_names((await rest.get("/connectors", at=url)).body, f"GET {url}/connectors")
    answer = await rest.get("/connectors", [("expand", "status"), ("expand", "info")], at=url)
    expanded = read_expanded(answer.body, f"GET {url}/connectors?expand=status&expand=info") or {}
    # The expanded list lacks connectors without a state.
    missing = [name for name in names if name not in expanded]
    limit = asyncio.Semaphore(_AT_ONCE)

    async def ask(name: str) -> _Told | None:
        async with limit:
            return await _one(rest, url, name)

    one_by_one = zip(missing, await asyncio.gather(*map(ask, missing)), strict=True)
    found = state_of({**expanded, **{name: described for name, described in one_by_one if described is not None}})
    return frozenset(names), found


async def _one(rest: ConnectRest, url: ConnectUrl, name: str) -> _Told | None:
    status = info = None
    path = path_of("connectors", name)
    try:
        status = read_status((await rest.get(f"{path}/status", at=url)).body, f"GET {url}{path}/status")
    except ConnectRefusedError as refused:
        if refused.status != _NOT_FOUND:
            raise
    try:
        info = read_info((await rest.get(path, at=url)).body, f"GET {url}{path}")
    except ConnectRefusedError as refused:
        if refused.status == _NOT_FOUND:
            return None if status is None else (status, None)
        # Refused with 409 or 500 while a rebalance is expected (Kafka: ``connect.runtime.rest``).
        if refused.status not in (409, 500):
            raise
    return status, info


async def _workers(
    connectors: Sequence[RemoteConnector], urls: Sequence[ConnectUrl], *, probe: bool
) -> tuple[tuple[RemoteWorker, ...], tuple[str, ...]]:
    named = sorted({state.worker_id for each in connectors for state in each.instances()}, key=utf16_key)
    places, notes = await same_place(urls, named)
    idle = [worker for worker in places if worker not in named]
    if not probe:
        workers = [RemoteWorker(name, True if name in places else None) for name in named]
    else:
        workers, note = _judged(named, await reachable(named), places)
        notes += note
    workers += [RemoteWorker(name, answers=True, has_states=False) for name in idle]
    return tuple(workers), tuple(notes)


def _judged(
    named: Sequence[str], reasons: Mapping[str, str | None], requested: Iterable[str]
) -> tuple[list[RemoteWorker], list[str]]:
    """If no worker takes a connection, their addresses are not reachable from here."""
    answered = frozenset(requested) | {name for name in named if reasons[name] is None}
    silent = [name for name in named if name not in answered]
    if silent and not answered & frozenset(named):
        note = (
            "no worker can be reached at its advertised address: run the command where workers reach one another, "
            "to see which of them are alive"
        )
        return [RemoteWorker(name, None, reasons[name] or "") for name in named], [note]
    return [RemoteWorker(name, name in answered, "" if name in answered else reasons[name] or "") for name in named], []
