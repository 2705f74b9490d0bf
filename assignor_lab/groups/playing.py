"""Playing episodes of Streams groups with assignors that plugins offer."""

from __future__ import annotations

import attrs

from assignment_api.plugins import ConfigSources, Registry
from assignor_lab.groups.streams.leading import leading_assignor
from assignor_lab.groups.streams_group.leading import brokers_assignor
from assignor_lab.simulation.streams.episode import StreamsEpisode
from assignor_lab.simulation.streams.simulate import Played, simulate

__all__ = ["play"]


def play(
    episode: StreamsEpisode,
    registry: Registry,
    sources: ConfigSources,
    assignor: str | None = None,
    seed: int = 0,
    *,
    may_run_code: bool = False,
    keep_log: bool = True,
) -> tuple[str, Played]:
    """Plays an episode.

    Args:
        episode: The episode.
        registry: The plugins.
        sources: Sources of configuration; explicit ones replace what the episode says.
        assignor: Who decides; ``None``: whom the episode names, else Kafka's default.
        seed: Seed of every draw.
        may_run_code: Whether ``assignor`` may be ``module:attribute``.
        keep_log: Whether to write down what happens.

    Returns:
        The assignor's name, and the episode after it was played.

    Raises:
        UnknownPluginError, PluginLoadError: if the assignor cannot be had.
        ConfigError: if Kafka would refuse the configuration.
        LeaderFailedError: if the assignor gives no answer.
    """
    effective = sources.effective(episode.config, str(episode.place))
    selector = assignor or episode.assignor
    make = leading_assignor if episode.protocol == "classic" else brokers_assignor
    configs = effective.values_for(make(registry, selector, {}, may_run_code=may_run_code).name)
    deciding = make(registry, selector, configs, may_run_code=may_run_code)
    configured = attrs.evolve(episode, config=configs)
    return deciding.name, simulate(configured, deciding, seed, keep_log=keep_log)
