"""Search for random episodes that violate a rule of safety, in one process or several."""

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

__all__ = ["BrokenEpisode", "FuzzedConnectPart", "fuzz", "fuzzed"]


@attrs.frozen
class BrokenEpisode:
    """A random episode that violates a rule.

    Args:
        rules: Sentences on violated rules, or on the error that ended it.
    """

    seed: int
    rules: tuple[str, ...]


@attrs.frozen
class FuzzedConnectPart:
    """Result of some episodes."""

    episodes: int
    broken: tuple[BrokenEpisode, ...]


def fuzz(
    episodes: int, seed: int, assignor: str | None = None, processes: int = 1, *, may_run_code: bool = False
) -> Iterator[FuzzedConnectPart]:
    """Simulate the random episodes of the seeds ``seed``, ``seed + 1`` and so on."""
    _assignors(assignor, may_run_code)
    yield from parts_of_seeds(partial(_played, assignor=assignor, may_run_code=may_run_code), episodes, seed, processes)


def fuzzed(seed: int, assignors: AssignorFactory) -> BrokenEpisode | None:
    """An error that ends the episode counts as a violated rule."""
    try:
        broken = broken_rules(play_random(seed, assignors))
    except Exception as error:  # noqa: BLE001 - a simulation that cannot continue is a finding
        broken = [f"the episode ended with {type(error).__name__}: {error!s:.500}"]
    return BrokenEpisode(seed, tuple(broken)) if broken else None


def _played(seeds: range, assignor: str | None, *, may_run_code: bool) -> FuzzedConnectPart:
    assignors = _assignors(assignor, may_run_code)
    broken = (fuzzed(seed, assignors) for seed in seeds)
    return FuzzedConnectPart(len(seeds), tuple(each for each in broken if each is not None))


@cache
def _assignors(assignor: str | None, may_run_code: bool) -> AssignorFactory:  # noqa: FBT001 - cached by it
    return assignors_from(discovered(effective_config()).registry, assignor, may_run_code=may_run_code)
