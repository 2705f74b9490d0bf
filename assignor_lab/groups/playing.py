"""Playing episodes of Streams groups with assignors that plugins offer."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import attrs

from assignment_api.plugins import ConfigSources, Registry
from assignor_lab.groups.prices import prices_of
from assignor_lab.groups.streams.leading import leading_assignor
from assignor_lab.groups.streams_group.leading import brokers_assignor
from assignor_lab.simulation.streams.episode import StreamsEpisode
from assignor_lab.simulation.streams.simulate import Played, simulate
from assignor_lab.simulation.streams.timings import Timings
from assignor_lab.simulation.streams.traffic import ReadsFrom, TrafficTerms

__all__ = ["play", "traffic_terms", "under_protocol"]


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
) -> tuple[str, Played]:
    """Plays an episode.

    Args:
        episode: The episode.
        registry: The plugins.
        sources: Sources of configuration; explicit ones replace what the episode says.
        assignor: Who decides; ``None``: whom the episode names, else Kafka's default.
        seed: Seed of every draw.
        protocol: ``classic`` or ``streams``, in place of the episode's: what is done to the group stays
            (:func:`under_protocol`); ``None``: the episode's.
        coming_refiner: Whether the broker of a streams group warms state up before it moves tasks, as Kafka's
            development branch after 4.4 does and no release; the episode may say so, too.
        may_run_code: Whether ``assignor`` may be ``module:attribute``.
        keep_log: Whether to write down what happens.
        most_followups: After how many follow-ups in a row a group that goes round is played no further
            (:func:`~assignor_lab.simulation.streams.simulate.simulate`).

    Returns:
        The assignor's name, and the episode after it was played.

    Raises:
        UnknownPluginError, PluginLoadError: if the assignor cannot be had.
        ConfigError: if Kafka would refuse the configuration.
        LeaderFailedError: if the assignor of a classic group gives no answer.
    """
    if protocol is not None:
        episode = under_protocol(episode, protocol)
    effective = sources.effective(episode.config, str(episode.place))
    selector = assignor or episode.assignor
    make: Callable[..., Any] = leading_assignor
    if episode.protocol == "streams":
        make = partial(brokers_assignor, refines=coming_refiner or episode.coming_refiner)
    configs = effective.values_for(make(registry, selector, {}, may_run_code=may_run_code).name)
    deciding = make(registry, selector, configs, may_run_code=may_run_code)
    configured = attrs.evolve(episode, config=configs)
    return deciding.name, simulate(configured, deciding, seed, keep_log=keep_log, most_followups=most_followups)


def under_protocol(episode: StreamsEpisode, protocol: str) -> StreamsEpisode:
    """An episode's world under another protocol: the same instances, state and events.

    Who decided does not carry over. Session timeout and heartbeat interval do, so that the protocol alone is another
    one, unless the episode names those of the other protocol; its assumptions say so.
    """
    if protocol == episode.protocol:
        return episode
    timings, default = episode.timings, Timings()
    carried = {
        theirs: getattr(timings, ours)
        for classic, streams in _ALIKE
        for ours, theirs in [(classic, streams) if protocol == "streams" else (streams, classic)]
        if getattr(timings, theirs) == getattr(default, theirs)
    }
    told = ", ".join(f"{name} {value}" for name, value in carried.items())
    sentence = f"played under the {protocol} protocol in place of its own" + (f", with the same {told}" if told else "")
    return attrs.evolve(
        episode, protocol=protocol, assignor=None, timings=attrs.evolve(timings, **carried),
        assumptions=(*episode.assumptions, sentence),
    )  # fmt: skip


#: Settings of the classic protocol and of the streams protocol that mean the same.
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
