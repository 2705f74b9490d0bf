"""States of Connect clusters from REST, as histories of the scenario format.

Each worker reports the jobs that run there. The importer can add later events.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import attrs

from assignment_api.connect import ConnectorTaskId, ConnectProtocol, Jobs
from assignment_api.errors import AssignorLabError
from assignment_api.streams.ids import utf16_key
from assignor_lab.capture.recorded.connect.histories import DEFAULT_MAX_DELAY_MS, jobs_document
from assignor_lab.connect.remote import RemoteConnector, RemoteWorker
from assignor_lab.kafka.herder.statuses import JobState

__all__ = ["NoWorkerError", "WhatHappens", "state_document"]

_SECOND_MS = 1_000
#: Another revocation, its follow-up, and the end.
_FOLLOW_UPS = 3


class NoWorkerError(AssignorLabError):
    """A state has no worker, or a named worker does not fit it."""


@attrs.frozen
class WhatHappens:
    """Events after the state was taken.

    Args:
        lost: Worker ids that vanish, all at once.
        joined: Workers that join then, without jobs.
    """

    lost: tuple[str, ...] = ()
    joined: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.lost or self.joined)


def state_document(
    connectors: Sequence[RemoteConnector],
    workers: Sequence[RemoteWorker],
    identity: str,
    source: dict[str, Any],
    *,
    protocol: ConnectProtocol | None = None,
    max_delay_ms: int | None = None,
    happens: WhatHappens = WhatHappens(),
    labels: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
) -> dict[str, Any]:
    """A history of kind ``connect``; unreachable workers are no members.

    Args:
        labels: Worker id to its labels; REST has none.
        source: ``url`` or ``file`` and ``line``, ``time_ms``.
        happens: Adds rounds for the loss and the join, the end of the delay, and follow-ups.
    """
    alive = [worker.worker_id for worker in workers if worker.answers is not False]
    if not alive:
        raise NoWorkerError("no state names a worker that lives: without a member there is no group")
    for name in labels:
        if name not in alive:
            raise NoWorkerError(f"--label names {name!r:.80}, which is no worker: use one of {', '.join(alive)}")
    assumptions = list(_assumptions(protocol, max_delay_ms, workers))
    spoken, delay = (
        protocol or ConnectProtocol.SESSIONED,
        DEFAULT_MAX_DELAY_MS if max_delay_ms is None else max_delay_ms,
    )
    counts, owned = configured_jobs(connectors, assumptions), _owned(connectors, alive)
    start = int(source.get("time_ms", 0))
    # An advertised address has no scheme: it is that of the request.
    scheme = str(source.get("url", "http://")).partition("://")[0]
    places = {name: _place(name, scheme, labels.get(name, {})) for name in alive}
    rounds = [_round(start, counts, {name: owned[name] for name in alive}, spoken, places)]
    if happens:
        left = _after(alive, happens)
        moments = [start + _SECOND_MS]
        moments += [moments[0] + delay + each * _SECOND_MS for each in range(1, _FOLLOW_UPS + 1)]
        members = {name: owned.get(name, Jobs()) for name in left}
        rounds += [_round(moment, counts, members, spoken, places) for moment in moments]
        assumptions.append(
            "the rounds after the first are not observed: workers report the jobs that they ran before, changed "
            "by the assignor's own answers"
        )
    return {
        "format": 1,
        "kind": "connect",
        "id": identity,
        "protocol": spoken.value,
        "max_delay_ms": delay,
        "rounds": rounds,
        "source": source,
        "assumptions": assumptions,
    }


def _assumptions(
    protocol: ConnectProtocol | None, max_delay_ms: int | None, workers: Sequence[RemoteWorker]
) -> list[str]:
    sentences = [
        "REST has no member ids: worker ids (advertised host and port) stand for them, in their order",
        "REST does not have the leader's memory: taken as empty",
        "REST does not have the workers' static jobs (KIP-987): taken as not set",
    ]
    if protocol is None:
        sentences.append("REST does not have connect.protocol: taken as sessioned (give it with -c)")
    if max_delay_ms is None:
        sentences.append(
            f"REST does not have scheduled.rebalance.max.delay.ms: Kafka's default {DEFAULT_MAX_DELAY_MS} taken "
            "(give it with -c)"
        )
    unknown = [worker.worker_id for worker in workers if worker.answers is None]
    if unknown:
        sentences.append(f"whether these workers live is not known, they count as members: {', '.join(unknown)}")
    if all(worker.has_states for worker in workers):
        sentences.append("REST names only workers with jobs: one without jobs is unknown unless its URL was given")
    return sentences


def configured_jobs(connectors: Sequence[RemoteConnector], assumptions: list[str]) -> dict[str, int]:
    """``assumptions`` gets a sentence for each number that was inferred from states."""
    counts = {}
    for each in connectors:
        if each.tasks is None:
            numbers = [task.number for task in each.instances()[1:] if task.number is not None]
            assumptions.append(f"the number of tasks of connector {each.name} is unknown: taken from its states")
            counts[each.name] = max(numbers, default=-1) + 1
        else:
            counts[each.name] = max(each.tasks, default=-1) + 1
    return counts


def _owned(connectors: Sequence[RemoteConnector], alive: Sequence[str]) -> dict[str, Jobs]:
    names: dict[str, list[str]] = {worker: [] for worker in alive}
    tasks: dict[str, list[ConnectorTaskId]] = {worker: [] for worker in alive}
    for each in connectors:
        for instance in each.instances():
            if instance.worker_id not in names or instance.state == JobState.UNASSIGNED:
                continue
            if instance.number is None:
                names[instance.worker_id].append(each.name)
            elif each.tasks is None or instance.number in each.tasks:
                tasks[instance.worker_id].append(ConnectorTaskId(each.name, instance.number))
    return {worker: Jobs(names[worker], tasks[worker]) for worker in alive}


def _after(alive: Sequence[str], happens: WhatHappens) -> list[str]:
    for name in happens.lost:
        if name not in alive:
            raise NoWorkerError(f"worker {name} cannot be lost, it is not there: use one of {', '.join(alive)}")
    for name in happens.joined:
        if name in alive:
            raise NoWorkerError(f"worker {name} cannot join, it is there already: choose another name")
    left = sorted(
        dict.fromkeys([name for name in alive if name not in happens.lost] + [*happens.joined]), key=utf16_key
    )
    if not left:
        raise NoWorkerError(
            "no worker is left, and REST names only workers with jobs: lose fewer workers, create a connector first, "
            "or give --join NAME"
        )
    return left


def _place(worker: str, scheme: str, labels: Mapping[str, str]) -> dict[str, Any]:
    """URL and labels of a worker; an advertised address without host or port gives no URL."""
    host, _, port = worker.rpartition(":")
    found: dict[str, Any] = {"url": f"{scheme}://{worker}/"} if host not in ("", "null") and port.isdigit() else {}
    return {**found, "labels": dict(labels)} if labels else found


def _round(
    time_ms: int,
    counts: dict[str, int],
    members: dict[str, Jobs],
    protocol: ConnectProtocol,
    places: Mapping[str, Mapping[str, Any]],
) -> dict[str, Any]:
    return {
        "time_ms": time_ms,
        "connectors": counts,
        "members": [
            {
                "id": name,
                "owned": jobs_document(owned if protocol.is_incremental else Jobs()),
                "static": {"connectors": None, "tasks": None},
                **places.get(name, {}),
            }
            for name, owned in members.items()
        ],
    }
