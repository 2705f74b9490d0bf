"""Simulates an episode of a Connect group."""

from __future__ import annotations

from functools import cached_property, partial

import attrs

from assignment_api.connect import ConnectAssignor, ConnectProtocol, Jobs
from assignment_api.plugins import Registry
from assignor_lab.kafka.herder.assignors import assignor_names
from assignor_lab.model.connect_episodes import ConnectDetails, ConnectEvent
from assignor_lab.model.history import GroupHistory
from assignor_lab.simulation.connect.client import ClientOperation
from assignor_lab.simulation.connect.cluster import AssignorFactory, SimulatedCluster
from assignor_lab.simulation.connect.episode import LEADER, ConnectEpisode
from assignor_lab.simulation.connect.worker_settings import WorkerSettings

__all__ = ["PlayedConnectEpisode", "assignors_from", "formed_cluster", "simulate"]

#: The first generation is complete within this time.
_FORMED_MS = 1_000


def assignors_from(registry: Registry, selector: str | None = None, *, may_run_code: bool = False) -> AssignorFactory:
    """Factory for assignors of plugins.

    Args:
        selector: An assignor for every protocol except ``eager``, whose members report no jobs; by default Kafka's own.

    Raises:
        UnknownPluginError, PluginLoadError: if one is not available.
    """
    names = assignor_names(selector)
    found = {name: registry.connect_assignor(name, may_run_code=may_run_code) for name in dict.fromkeys(names.values())}

    def make(protocol: ConnectProtocol) -> ConnectAssignor:
        return found[names[protocol]].create()

    return make


@attrs.frozen(eq=False)
class PlayedConnectEpisode:
    """A simulated episode.

    Args:
        calm_ms: End of the last rebalance, in milliseconds since the episode began.
    """

    episode: ConnectEpisode
    cluster: SimulatedCluster
    formed_rounds: int
    is_calm: bool
    calm_ms: int | None

    @cached_property
    def history(self) -> GroupHistory:
        """What happened, of the type that readers of recordings make."""
        begin = self.cluster.start_ms
        return self.cluster.history(self.episode.id, begin, begin + self.episode.until_ms)


def simulate(
    episode: ConnectEpisode, assignors: AssignorFactory, seed: int = 0, *, keep_log: bool = True
) -> PlayedConnectEpisode:
    """Simulate an episode.

    All members join at once, and their first rebalance gives the leader, drawn by the seed, their jobs.
    """
    cluster = formed_cluster(episode, assignors, seed, keep_log=keep_log)
    begin = cluster.start_ms
    formed = 1 if episode.workers else 0
    for event in episode.events:
        if event.at_ms > episode.until_ms:
            break
        cluster.run_until(begin + event.at_ms)
        _happen(cluster, episode, event)
    cluster.run_until(begin + episode.until_ms)
    calm = cluster.is_calm()
    last = max((each.done_ms or each.joined_ms for each in cluster.rounds), default=begin)
    return PlayedConnectEpisode(episode, cluster, formed, calm, last - begin if calm else None)


def formed_cluster(
    episode: ConnectEpisode, assignors: AssignorFactory, seed: int = 0, *, keep_log: bool = True
) -> SimulatedCluster:
    """The group of an episode at its begin."""
    cluster = SimulatedCluster(
        assignors, episode.timings, episode.connectors, seed, episode.start_ms, list(episode.workers), episode.leader,
        episode.departed, keep_log=keep_log,
    )  # fmt: skip
    for name, (settings, owned) in episode.workers.items():
        cluster.start_worker(name, settings, owned, start_ms=0)
    if episode.departed is not None:
        cluster.run_until(cluster.start_ms + _FORMED_MS)
        cluster.stop(episode.departed)
    return cluster


def _happen(cluster: SimulatedCluster, episode: ConnectEpisode, event: ConnectEvent) -> None:
    details = event.details
    name = (cluster.leader() or "") if event.worker == LEADER else event.worker
    if event.type in ("create", "alter", "delete"):
        _request(cluster, event)
    elif event.type == "start":
        cluster.start_worker(name, _settings(cluster, episode, name, details))
    elif event.type == "stop":
        cluster.stop(name)
    elif event.type == "crash":
        cluster.crash(name)
    elif event.type == "bounce":
        _bounce(cluster, name, details.down_ms, _settings(cluster, episode, name, details))
    elif event.type == "rolling_restart":
        _roll(cluster, episode, details)
    elif event.type == "partition":
        cluster.partition(name, details.for_ms)
    elif event.type == "stall":
        cluster.stall(name, details.for_ms)
    elif event.type == "configure" and details.downgrade is not None:
        cluster.configure(downgrade=details.downgrade)
    elif event.type == "block_config":
        cluster.block_config(name, details.for_ms)
    else:
        cluster.lose_sync(name)


def _request(cluster: SimulatedCluster, event: ConnectEvent) -> None:
    details = event.details
    operations = [ClientOperation("delete", name) for name in details.deleted or ()]
    for name, tasks in (details.connectors or {}).items():
        operations.append(ClientOperation("alter" if event.type == "alter" else "create", name, tasks))
    cluster.request(operations, details.via)


def _settings(cluster: SimulatedCluster, episode: ConnectEpisode, name: str, details: ConnectDetails) -> WorkerSettings:
    base = cluster.settings.get(name)
    if base is None:
        first = next(iter(episode.workers.values()), (WorkerSettings(), Jobs()))[0]
        base = attrs.evolve(first, static=WorkerSettings().static, url="", labels={})
    return base.started(details)


def _bounce(cluster: SimulatedCluster, name: str, down_ms: int, settings: WorkerSettings) -> None:
    cluster.stop(name)

    def again() -> None:
        if cluster.worker(name) is None:
            cluster.start_worker(name, settings)
        else:
            cluster.clock.after(down_ms, again)

    cluster.clock.after(down_ms, again)


def _roll(cluster: SimulatedCluster, episode: ConnectEpisode, details: ConnectDetails) -> None:
    for index, name in enumerate(cluster.alive() if details.workers is None else details.workers):
        settings = _settings(cluster, episode, name, details)
        cluster.clock.after(index * details.every_ms, partial(_bounce, cluster, name, details.down_ms, settings))
