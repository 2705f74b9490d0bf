"""Random episodes, and their safety rules.

No job runs on two workers at once, except in named cases of Kafka itself. No job is lost forever. The group settles
within a bounded number of rounds after the last event.
"""

from __future__ import annotations

import random
from collections.abc import Mapping

from assignment_api.connect import WILDCARD, ConnectorTaskId, ConnectProtocol, StaticJobs
from assignor_lab.model.connect_episodes import (
    ConnectDetails,
    ConnectEpisodeOutline,
    ConnectEvent,
    ConnectOpening,
    OpeningWorker,
)
from assignor_lab.scenarios import Place, scenario_from_document
from assignor_lab.scenarios.formats.connect_episodes import connect_episode_document
from assignor_lab.simulation.connect.cluster import AssignorFactory
from assignor_lab.simulation.connect.episode import LEADER
from assignor_lab.simulation.connect.episode_figures import owned_now
from assignor_lab.simulation.connect.formats.episodes import read_episode
from assignor_lab.simulation.connect.simulate import PlayedConnectEpisode, simulate

__all__ = ["MOST_ROUNDS", "broken_rules", "play_random", "random_episode"]

#: Rounds in which every group settles after the last event.
MOST_ROUNDS = 16

#: End of all events, and the longest effect afterwards: an eager worker's 300 s before it reads the config topic again
#: (``worker.unsync.backoff.ms``), and further rounds.
_BUSY_MS, _QUIET_MS = 120_000, 440_000


def random_episode(seed: int) -> ConnectEpisodeOutline:
    """Equal seeds give equal episodes."""
    draw = random.Random(seed)  # noqa: S311 - a simulation, not a secret
    protocol = ConnectProtocol(draw.choice(("eager", "compatible", "sessioned", "sessioned", "static")))
    names = [f"w{number}" for number in range(1, draw.randint(2, 4))]
    connectors = {f"c{number}": draw.randint(0, 4) for number in range(draw.randint(1, 4))}
    is_static = protocol is ConnectProtocol.STATIC
    workers = [OpeningWorker(name, static=_static(draw, connectors) if is_static else WILDCARD) for name in names]
    times = sorted(draw.randrange(5_000, _BUSY_MS) for _ in range(draw.randint(1, 6)))
    events = [_event(draw, time, [*names, "w9"], [*connectors, "new"]) for time in times]
    # In the end a worker runs, and none is cut off.
    events.append(ConnectEvent(_BUSY_MS + 5_000, "start", "w1"))
    delay_ms = draw.choice((0, 1, 10_000, 30_000))
    timings = {"task_stop_spread_ms": draw.choice((0, 500)), "jitter_ms": draw.choice((0, 30))}
    opening = ConnectOpening(f"random-{seed}-initial", protocol, delay_ms, connectors, workers)
    return ConnectEpisodeOutline(f"random-{seed}", opening, events, _BUSY_MS + _QUIET_MS, timings=timings)


def _static(draw: random.Random, connectors: Mapping[str, int]) -> StaticJobs:
    if draw.random() < 0.5:
        return WILDCARD
    names = [name for name in connectors if draw.random() < 0.5]
    return StaticJobs(names, [ConnectorTaskId(name, draw.randint(0, 3)) for name in connectors])


def _event(draw: random.Random, time: int, workers: list[str], connectors: list[str]) -> ConnectEvent:
    worker = draw.choice([*workers, LEADER])
    short = draw.randint(500, 20_000)
    name = draw.choice(connectors)
    # Each is drawn, so that the choice changes nothing else of a seed.
    started, bounced, long = draw.choice(workers), draw.choice(workers), draw.choice((short, 90_000))
    created, altered = draw.randint(0, 4), draw.randint(0, 4)
    kind, of, details = draw.choice(
        (
            ("start", started, ConnectDetails()),
            ("stop", worker, ConnectDetails()),
            ("crash", worker, ConnectDetails()),
            ("bounce", bounced, ConnectDetails(down_ms=short)),
            ("partition", worker, ConnectDetails(for_ms=short)),
            ("stall", worker, ConnectDetails(for_ms=long)),
            ("block_config", worker, ConnectDetails(for_ms=short)),
            ("lose_sync", worker, ConnectDetails()),
            ("create", "", ConnectDetails(connectors={name: created})),
            ("alter", "", ConnectDetails(connectors={name: altered})),
            ("delete", "", ConnectDetails(deleted=[name])),
        )
    )
    return ConnectEvent(time, kind, of, details)


def play_random(seed: int, assignors: AssignorFactory) -> PlayedConnectEpisode:
    outline = random_episode(seed)
    episode = read_episode(scenario_from_document(connect_episode_document(outline), Place(outline.id)))
    return simulate(episode, assignors, seed, keep_log=False)


def broken_rules(played: PlayedConnectEpisode) -> list[str]:
    cluster = played.cluster
    end = cluster.start_ms + played.episode.until_ms
    broken = [
        f"{each.job} ran on {each.first} and {each.second} from {each.start_ms - cluster.start_ms} ms to "
        f"{each.end_ms - cluster.start_ms} ms without a reason"
        for each in cluster.runs.overlaps(end)
        if not each.reason
    ]
    if not played.is_calm:
        return [*broken, "the group did not come to rest"]
    broken += _lost(played)
    last_event = cluster.start_ms + max((event.at_ms for event in played.episode.events), default=0)
    rounds = sum(each.joined_ms > last_event for each in cluster.rounds)
    if rounds > MOST_ROUNDS:
        broken.append(f"{rounds} rounds after the last event, at most {MOST_ROUNDS} are allowed")
    return broken


def _lost(played: PlayedConnectEpisode) -> list[str]:
    cluster = played.cluster
    held = owned_now(cluster)
    if not held:
        return []
    owners: dict[str | ConnectorTaskId, int] = {}
    for jobs in held.values():
        own: list[str | ConnectorTaskId] = [*jobs.connectors, *jobs.tasks]
        for job in own:
            owners[job] = owners.get(job, 0) + 1
    configured = cluster.config.view(cluster.config.end).jobs
    wanted: list[str | ConnectorTaskId] = [*configured.connectors(), *configured.tasks()]
    broken = [f"{job} is owned by {count} workers" for job, count in owners.items() if count > 1]
    wildcard = cluster.coordinator.protocol is not ConnectProtocol.STATIC or any(
        not cluster.settings[name].static.is_set for name in held
    )
    # Without a wildcard worker KIP-987 leaves unlisted jobs unassigned.
    broken += [f"{job} has no owner" for job in wanted if wildcard and job not in owners]
    running = {job for job, run in cluster.runs.open_runs() if run.start_ms <= cluster.now}
    broken += [f"{job} is owned and does not run" for job in owners if job not in running]
    return broken
