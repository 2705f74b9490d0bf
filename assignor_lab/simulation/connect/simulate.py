"""Plays an episode on a simulated Connect group."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import attrs

from assignment_api.connect import ConnectAssignor, ConnectProtocol, Jobs
from assignment_api.plugins import Registry
from assignor_lab.kafka.herder.assignors import assignor_names
from assignor_lab.simulation.connect.client import Operation
from assignor_lab.simulation.connect.cluster import AssignorFactory, Cluster
from assignor_lab.simulation.connect.episode_format import LEADER, ConnectEpisode, Event, worker_settings
from assignor_lab.simulation.connect.worker_settings import WorkerSettings

__all__ = ["Played", "assignors_from", "simulate"]


def assignors_from(registry: Registry, selector: str | None = None, *, may_run_code: bool = False) -> AssignorFactory:
    """Makes assignors that plugins offer.

    Args:
        registry: The plugins.
        selector: An assignor for every protocol but ``eager``, whose members report nothing; Kafka's own if not given.
        may_run_code: As for :meth:`~assignment_api.plugins.Registry.connect_assignor`.

    Raises:
        UnknownPluginError, PluginLoadError: if one cannot be had.
    """
    names = assignor_names(selector)
    found = {name: registry.connect_assignor(name, may_run_code=may_run_code) for name in dict.fromkeys(names.values())}

    def make(protocol: ConnectProtocol) -> ConnectAssignor:
        return found[names[protocol]].create()

    return make


@attrs.frozen(eq=False)
class Played:
    """An episode after it was played.

    Args:
        episode: The episode.
        cluster: The group at its end, with its ledger, its rounds and its log.
        formed_rounds: Rebalances in which the group was formed, before anything happened.
        is_calm: Whether everything had come to rest at its end.
        calm_ms: Since when, in milliseconds since the episode began: the last moment in which a rebalance ended.
    """

    episode: ConnectEpisode
    cluster: Cluster
    formed_rounds: int
    is_calm: bool
    calm_ms: int | None


def simulate(episode: ConnectEpisode, assignors: AssignorFactory, seed: int = 0, *, keep_log: bool = True) -> Played:
    """Plays an episode.

    The group is there when it begins: its members join at once, the first one leads, and their first rebalance makes
    the leader know what they own.

    Args:
        episode: The episode.
        assignors: Makes assignors.
        seed: Seed of every draw.
        keep_log: Whether to write down what happens.
    """
    cluster = Cluster(
        assignors, episode.timings, episode.connectors, seed, episode.start_ms, len(episode.workers), keep_log=keep_log
    )
    for name, (settings, owned) in episode.workers.items():
        cluster.start_worker(name, settings, owned, start_ms=0)
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
    return Played(episode, cluster, formed, calm, last - begin if calm else None)


def _happen(cluster: Cluster, episode: ConnectEpisode, event: Event) -> None:
    details = event.details
    name = details.get("worker", "")
    if name == LEADER:
        name = cluster.leader() or ""
    if event.type in ("create", "alter", "delete"):
        _request(cluster, event)
    elif event.type == "start":
        cluster.start_worker(name, _settings(cluster, episode, name, details))
    elif event.type == "stop":
        cluster.stop(name)
    elif event.type == "crash":
        cluster.crash(name)
    elif event.type == "bounce":
        _bounce(cluster, name, details["down_ms"], _settings(cluster, episode, name, details))
    elif event.type == "rolling_restart":
        _roll(cluster, episode, details)
    elif event.type == "partition":
        cluster.partition(name, details["for_ms"])
    elif event.type == "stall":
        cluster.stall(name, details["for_ms"])
    elif event.type == "configure":
        cluster.configure(downgrade=details["downgrade"])
    elif event.type == "block_config":
        cluster.block_config(name, details["for_ms"])
    else:
        cluster.lose_sync(name)


def _request(cluster: Cluster, event: Event) -> None:
    connectors = event.details["connectors"]
    if event.type == "delete":
        operations = [Operation("delete", name) for name in connectors]
    elif event.type == "alter":
        operations = [Operation("alter", name, tasks) for name, tasks in connectors.items()]
    else:
        operations = [Operation("create", name, tasks) for name, tasks in connectors.items()]
    cluster.request(operations, event.details.get("via"))


def _settings(cluster: Cluster, episode: ConnectEpisode, name: str, details: Mapping[str, Any]) -> WorkerSettings:
    """The worker's own settings of last time, else those of the group without anything static."""
    base = cluster.settings.get(name)
    if base is None:
        first = next(iter(episode.workers.values()), (WorkerSettings(), Jobs()))[0]
        base = attrs.evolve(first, static=WorkerSettings().static)
    return worker_settings(base, details)


def _bounce(cluster: Cluster, name: str, down_ms: int, settings: WorkerSettings) -> None:
    """A worker stops in order, and is started again a while after its process has ended."""
    cluster.stop(name)

    def again() -> None:
        if cluster.worker(name) is None:
            cluster.start_worker(name, settings)
        else:
            cluster.clock.after(down_ms, again)

    cluster.clock.after(down_ms, again)


def _roll(cluster: Cluster, episode: ConnectEpisode, details: Mapping[str, Any]) -> None:
    for index, name in enumerate(details.get("workers", cluster.alive())):
        settings = _settings(cluster, episode, name, details)
        cluster.clock.after(index * details["every_ms"], partial(_bounce, cluster, name, details["down_ms"], settings))
