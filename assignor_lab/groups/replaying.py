"""Playing a recorded history again: the world's events stay, the answers and what follows are the contender's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs

from assignment_api import AssignorLabError
from assignment_api.plugins import ConfigSources, Registry
from assignor_lab.groups.playing import play, under_protocol
from assignor_lab.groups.variants import Variant, configured, timings_of
from assignor_lab.simulation.streams.episode import StreamsEpisode
from assignor_lab.simulation.streams.simulate import Played
from assignor_lab.simulation.streams.timings import TIMING_KEYS

__all__ = ["Replayed", "replay"]


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
        VariantError: if a variant's key is none, or its value.
    """
    for contender in contenders:
        own, timings = timings_of(contender, TIMING_KEYS)
        world = episode if contender.protocol is None else under_protocol(episode, contender.protocol)
        world = attrs.evolve(world, timings=attrs.evolve(world.timings, **timings))
        under = configured(sources, contender.name, own)
        try:
            name, played = play(world, registry, under, contender.assignor, seed, may_run_code=True, keep_log=keep_log)
        except AssignorLabError as error:
            yield Replayed(contender, contender.assignor, None, str(error))
        else:
            yield Replayed(contender, name, played)
