"""Playing episodes of Streams groups with plugins' assignors."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import attrs

from assignment_api.plugins import ConfigSources, Registry
from assignor_lab.groups.prices import prices_of
from assignor_lab.groups.streams.leading import LeadingAssignor, leading_assignor
from assignor_lab.groups.streams_group.leading import brokers_assignor
from assignor_lab.simulation.streams.episode import StreamsEpisode
from assignor_lab.simulation.streams.leading import BrokersAssignor
from assignor_lab.simulation.streams.simulate import PlayedStreamsEpisode, simulate
from assignor_lab.simulation.streams.timings import StreamsTimings
from assignor_lab.simulation.streams.traffic import ReadsFrom, TrafficTerms

__all__ = ["deciding", "play", "traffic_terms", "under_protocol"]


def play(
    episode: StreamsEpisode,
    registry: Registry,
    sources: ConfigSources,
    assignor: str | None = None,
    seed: int = 0,
    *,
    protocol: str | None = None,
    coming_refiner: bool = False,
    may_run_code: bool = False,
    keep_log: bool = True,
    most_followups: int | None = None,
) -> tuple[str, PlayedStreamsEpisode]:
    """Plays an episode.

    Args:
        sources: Sources of configuration; explicit ones replace the episode's values.
        protocol: ``classic`` or ``streams``, in place of the episode's (:func:`under_protocol`).
        coming_refiner: True if the broker of a streams group warms state up before it moves tasks, as on Kafka's
            development branch after 4.4 and in no release; an episode may set it, too.
        most_followups: Follow-ups in a row after which an endless play is stopped
            (:func:`~assignor_lab.simulation.streams.simulate.simulate`).

    Raises:
        UnknownPluginError, PluginLoadError: if the assignor is not available.
        ConfigError: if Kafka would refuse the configuration.
        LeaderFailedError: if the assignor of a classic group gives no answer.
    """
    if protocol is not None:
        episode = under_protocol(episode, protocol)
    leader, configured = deciding(
        episode, registry, sources, assignor, coming_refiner=coming_refiner, may_run_code=may_run_code
    )
    return leader.name, simulate(configured, leader, seed, keep_log=keep_log, most_followups=most_followups)


def deciding(
    episode: StreamsEpisode,
    registry: Registry,
    sources: ConfigSources,
    assignor: str | None = None,
    *,
    coming_refiner: bool = False,
    may_run_code: bool = False,
) -> tuple[LeadingAssignor | BrokersAssignor, StreamsEpisode]:
    """The assignor of an episode, and the episode under that assignor's configuration.

    Arguments and errors are those of :func:`play`.
    """
    effective = sources.effective(episode.config, str(episode.place))
    selector = assignor or episode.assignor
    make: Callable[..., Any] = leading_assignor
    if episode.protocol == "streams":
        make = partial(brokers_assignor, refines=coming_refiner or episode.coming_refiner)
    configs = effective.values_for(make(registry, selector, {}, may_run_code=may_run_code).name)
    leader = make(registry, selector, configs, may_run_code=may_run_code)
    return leader, attrs.evolve(episode, config=configs)


def under_protocol(episode: StreamsEpisode, protocol: str) -> StreamsEpisode:
    """An episode's world under another protocol: the same instances, state and events.

    The assignor does not carry over. Session timeout and heartbeat interval do, so that the protocol alone changes,
    unless the episode names those of the other protocol; its assumptions mention it.
    """
    if protocol == episode.protocol:
        return episode
    timings, default = episode.timings, StreamsTimings()
    carried = {
        theirs: getattr(timings, ours)
        for classic, streams in _ALIKE
        for ours, theirs in [(classic, streams) if protocol == "streams" else (streams, classic)]
        if getattr(timings, theirs) == getattr(default, theirs)
    }
    settings = ", ".join(f"{name} {value}" for name, value in carried.items())
    sentence = f"played under the {protocol} protocol in place of its own" + (
        f", with the same {settings}" if settings else ""
    )
    return attrs.evolve(
        episode, protocol=protocol, assignor=None, timings=attrs.evolve(timings, **carried),
        assumptions=(*episode.assumptions, sentence), is_carried_over=True,
    )  # fmt: skip


_ALIKE = (
    ("session_timeout_ms", "streams_session_timeout_ms"),
    ("heartbeat_interval_ms", "streams_heartbeat_interval_ms"),
)


def traffic_terms(reads_from: ReadsFrom, sources: ConfigSources, episode: StreamsEpisode) -> TrafficTerms:
    """The terms under which an episode's traffic is counted: prices are those of the configuration.

    Raises:
        PriceError: if a key of the configuration names no price, or its value is none.
    """
    prices = prices_of(sources.effective(episode.config, str(episode.place)))
    return TrafficTerms(reads_from, prices.cross_zone_dollars_per_gib)
