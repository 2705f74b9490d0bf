"""Many random episodes, in one process or several: which of them break a rule of safety."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial

import attrs

from assignment_api.plugins import effective_config
from assignor_lab.runtime.discovery import discovered
from assignor_lab.simulation.connect.cluster import AssignorFactory
from assignor_lab.simulation.connect.safety import broken_rules, play_random
from assignor_lab.simulation.connect.simulate import assignors_from
from assignor_lab.simulation.seeded_parts import parts_of_seeds

__all__ = ["BrokenEpisode", "FuzzedPart", "fuzz", "fuzzed"]


@attrs.frozen
class BrokenEpisode:
    """A random episode that broke a rule.

    Args:
        seed: Its seed, from which the same episode is made again.
        rules: A sentence for each rule that it broke, or for what ended it.
    """

    seed: int
    rules: tuple[str, ...]


@attrs.frozen
class FuzzedPart:
    """What came of some episodes.

    Args:
        episodes: How many were played.
        broken: Those that broke a rule, by seed.
    """

    episodes: int
    broken: tuple[BrokenEpisode, ...]


def fuzz(
    episodes: int, seed: int, assignor: str | None = None, processes: int = 1, *, may_run_code: bool = False
) -> Iterator[FuzzedPart]:
    """Plays the random episodes of the seeds ``seed``, ``seed + 1`` and so on.

    Args:
        episodes: How many.
        seed: The first seed.
        assignor: Assignor for every protocol but ``eager``; Kafka's own if not given.
        processes: How many processes share them; what comes of them does not depend on it.
        may_run_code: As for :meth:`~assignment_api.plugins.Registry.connect_assignor`.

    Yields:
        What came of them, part by part, in the order of the seeds.

    Raises:
        UnknownPluginError, PluginLoadError: if the assignor cannot be had.
    """
    _assignors(assignor, may_run_code)
    yield from parts_of_seeds(partial(_played, assignor=assignor, may_run_code=may_run_code), episodes, seed, processes)


def fuzzed(seed: int, assignors: AssignorFactory) -> BrokenEpisode | None:
    """Plays the random episode of a seed: which rules it broke, or ``None``; what ends it is a broken rule, too."""
    try:
        broken = broken_rules(play_random(seed, assignors))
    except Exception as error:  # noqa: BLE001 - a simulation that cannot go on is what is looked for
        broken = [f"the episode ended with {type(error).__name__}: {error!s:.500}"]
    return BrokenEpisode(seed, tuple(broken)) if broken else None


def _played(seeds: range, assignor: str | None, *, may_run_code: bool) -> FuzzedPart:
    assignors = _assignors(assignor, may_run_code)
    broken = (fuzzed(seed, assignors) for seed in seeds)
    return FuzzedPart(len(seeds), tuple(each for each in broken if each is not None))


@cache
def _assignors(assignor: str | None, may_run_code: bool) -> AssignorFactory:  # noqa: FBT001 - cached by it
    return assignors_from(discovered(effective_config()).registry, assignor, may_run_code=may_run_code)
