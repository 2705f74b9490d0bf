"""Playing a recorded history again: the world's events stay, the answers and what follows are the contender's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import attrs

from assignment_api import AssignorLabError
from assignment_api.plugins import ConfigSources, Registry, config_sources
from assignor_lab.groups.playing import play, under_protocol
from assignor_lab.groups.variants import Variant, VariantError
from assignor_lab.simulation.streams.episode import StreamsEpisode
from assignor_lab.simulation.streams.simulate import Played
from assignor_lab.simulation.streams.timings import GROUP_SETTINGS, SETTINGS

__all__ = ["Replayed", "replay"]

#: Settings of an application and of a group that change how long things take.
_TIMINGS = {**SETTINGS, **GROUP_SETTINGS}


@attrs.frozen(eq=False)
class Replayed:
    """What came of a history with one contender.

    Args:
        contender: The contender.
        assignor: Name of the assignor that decided, or whom it asked for where there was none.
        played: The episode after it was played, or ``None``: it could not be.
        error: Why not.
    """

    contender: Variant
    assignor: str
    played: Played | None
    error: str | None = None


def replay(
    episode: StreamsEpisode,
    registry: Registry,
    sources: ConfigSources,
    contenders: Iterable[Variant],
    seed: int = 0,
    *,
    keep_log: bool = False,
) -> Iterator[Replayed]:
    """Plays an episode once for each contender, each on its own, in their order.

    A contender that fails costs the others nothing. Another protocol than the recorded one changes the protocol alone
    (:func:`assignor_lab.groups.playing.under_protocol`).

    Args:
        episode: The recorded history.
        registry: The plugins.
        sources: Sources of configuration, the same for all.
        contenders: Who is played.
        seed: Seed of every draw, the same for all.
        keep_log: Whether to write down what happens.

    Raises:
        VariantError: if a variant's key is none.
        ConfigError: if Kafka would refuse a variant's configuration.
    """
    for contender in contenders:
        own, timings = _split(contender)
        world = episode if contender.protocol is None else under_protocol(episode, contender.protocol)
        configured = attrs.evolve(world, timings=attrs.evolve(world.timings, **timings))
        read = config_sources(None, [f"{key}={value}" for key, value in own.items()], environ={})
        above = attrs.evolve(sources, above=(*sources.above, *read.above))
        try:
            name, played = play(
                configured, registry, above, contender.assignor, seed, may_run_code=True, keep_log=keep_log
            )
        except AssignorLabError as error:
            yield Replayed(contender, contender.assignor, None, str(error))
        else:
            yield Replayed(contender, name, played)


def _split(contender: Variant) -> tuple[dict[str, str], Mapping[str, int]]:
    """A variant's keys that concern assignment, and those that change how long things take."""
    timings: dict[str, int] = {}
    for key, value in contender.overrides.items():
        if key in _TIMINGS:
            if not value.isascii() or not value.isdigit() or not int(value):
                raise VariantError(
                    f"variant {contender.name!r:.80}: {key} is a number of milliseconds, not {value!r:.80}"
                )
            timings[_TIMINGS[key]] = int(value)
    return {key: value for key, value in contender.overrides.items() if key not in _TIMINGS}, timings
