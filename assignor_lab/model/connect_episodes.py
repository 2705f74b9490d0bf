"""Episodes of Connect groups: an opening state, and the events that follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from assignment_api.connect import WILDCARD, ConnectProtocol, StaticJobs
from assignor_lab.kafka.herder.assignment import DowngradeRule

__all__ = ["ConnectDetails", "ConnectEpisodeOutline", "ConnectEvent", "ConnectOpening", "OpeningWorker"]


@attrs.frozen(kw_only=True)
class ConnectDetails:
    """Facts of an event besides its time, type and worker; ``None``, or a duration of 0: not given.

    Args:
        workers: Those of a rolling restart; ``None``: all that run.
        protocol: This, ``max_delay_ms`` and ``static`` are changed settings of a started worker.
        connectors: Created or altered connectors to their numbers of tasks.
        deleted: Deleted connectors.
        via: Worker that receives the request; ``None``: the client chooses.
    """

    workers: Sequence[str] | None = None
    down_ms: int = 0
    every_ms: int = 0
    for_ms: int = 0
    protocol: ConnectProtocol | None = None
    max_delay_ms: int | None = None
    static: StaticJobs | None = None
    downgrade: DowngradeRule | None = None
    connectors: Mapping[str, int] | None = None
    deleted: Sequence[str] | None = None
    via: str | None = None


@attrs.frozen
class ConnectEvent:
    """An event of the group.

    Args:
        worker: Empty: it concerns no single worker.
    """

    at_ms: int
    type: str
    worker: str = ""
    details: ConnectDetails = ConnectDetails()


@attrs.frozen
class OpeningWorker:
    """A worker in an opening state, with the connectors and tasks that it runs."""

    name: str
    connectors: Sequence[str] = ()
    tasks: Sequence[str] = ()
    static: StaticJobs = WILDCARD


@attrs.frozen
class ConnectOpening:
    """The group before the first event.

    Args:
        connectors: Connector to its number of tasks.
    """

    id: str
    protocol: ConnectProtocol
    max_delay_ms: int
    connectors: Mapping[str, int]
    workers: Sequence[OpeningWorker]
    time_ms: int = 1_000


@attrs.frozen
class ConnectEpisodeOutline:
    """An episode as far as it is given; the simulation has defaults for the rest.

    Args:
        leader: Worker that leads at the beginning; ``None``: drawn.
        timings: Fields of the simulation's timings; ``None``: not given.
    """

    id: str
    initial: ConnectOpening
    events: Sequence[ConnectEvent]
    until_ms: int
    leader: str | None = None
    timings: Mapping[str, int] | None = None
