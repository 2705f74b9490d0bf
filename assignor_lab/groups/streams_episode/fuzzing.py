"""Many random episodes of Streams groups, in one process or several: those that break a rule of safety."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial

import attrs

from assignment_api.plugins import Registry, config_sources, effective_config
from assignor_lab.groups.streams_episode.playing import play
from assignor_lab.model.streams_episodes import StreamsEpisodeOutline
from assignor_lab.runtime.discovery import discovered
from assignor_lab.scenarios import DocumentFormatError, Place, scenario_from_document
from assignor_lab.scenarios.formats.streams_episodes import episode_document
from assignor_lab.simulation.seeded_parts import PART, parts_of_seeds
from assignor_lab.simulation.streams.formats.episodes import read_episode
from assignor_lab.simulation.streams.safety.findings import BrokenRule
from assignor_lab.simulation.streams.safety.known_kafka_behaviour import named
from assignor_lab.simulation.streams.safety.random_episodes import DRAWN, random_episode
from assignor_lab.simulation.streams.safety.rules import broken_rules
from assignor_lab.simulation.streams.safety.shrinking import shrunk

__all__ = ["FoundEpisode", "FuzzedStreamsPart", "drawn_assignors", "findings_of", "fuzz", "smallest"]

#: Log entries for one smallest episode: a count of work, so that equal seeds end equally.
_MOST_ENTRIES = 500_000


#: A group with so many immediate rebalances in a row is in an endless loop: at one in each heartbeat interval, this is
#: 25 minutes of nothing else.
_MOST_FOLLOWUPS = 500


@attrs.frozen
class FoundEpisode:
    """A random episode that broke a rule."""

    seed: int
    findings: tuple[BrokenRule, ...]


@attrs.frozen
class FuzzedStreamsPart:
    """The outcome of some episodes.

    Args:
        played: Protocol and assignor to the number of played episodes.
    """

    played: Mapping[tuple[str, str], int]
    found: tuple[FoundEpisode, ...]


def fuzz(
    episodes: int,
    seed: int,
    assignors: Mapping[str, Sequence[str]],
    processes: int = 1,
    *,
    part: int = PART,
    may_run_code: bool = False,
) -> Iterator[FuzzedStreamsPart]:
    """Plays the random episodes of the seeds ``seed``, ``seed + 1`` and so on; each draws from ``assignors``.

    Yields:
        Their outcome, ``part`` episodes at a time, in the order of the seeds and independent of ``processes``.
    """
    yield from parts_of_seeds(
        partial(_played, assignors=assignors, may_run_code=may_run_code), episodes, seed, processes, part
    )


def drawn_assignors(
    registry: Registry, assignor: str | None = None, protocol: str | None = None, *, may_run_code: bool = False
) -> dict[str, list[str]]:
    """Protocol to the assignors from which random episodes draw: a fixed list, so that a seed is one episode.

    Args:
        protocol: The only protocol; ``None``: that of ``assignor``, or both.

    Raises:
        UnknownPluginError, PluginLoadError: if one of them is not available.
    """
    if assignor is None:
        drawn = {name: list(names) for name, names in DRAWN.items() if protocol in (None, name)}
        for name in drawn.get("classic", ()):
            registry.task_assignor(name)
        for name in drawn.get("streams", ()):
            registry.group_assignor(name)
        return drawn
    is_of_broker = assignor in {each.name for each in registry.group_assignors()}
    if (protocol or ("streams" if is_of_broker else "classic")) == "streams":
        return {"streams": [registry.group_assignor(assignor, may_run_code=may_run_code).name]}
    return {"classic": [registry.task_assignor(assignor, may_run_code=may_run_code).name]}


def findings_of(
    outline: StreamsEpisodeOutline, seed: int, registry: Registry, *, may_run_code: bool = False
) -> tuple[BrokenRule, ...]:
    """Plays an episode and returns the broken rules; an error that ends it is a broken rule, too.

    Raises:
        DocumentFormatError: if the episode contradicts itself.
    """
    return _judged(outline, seed, registry, may_run_code=may_run_code)[0]


def _judged(
    outline: StreamsEpisodeOutline, seed: int, registry: Registry, *, may_run_code: bool
) -> tuple[tuple[BrokenRule, ...], int]:
    episode = read_episode(scenario_from_document(episode_document(outline), Place(outline.id)))
    try:
        name, played = play(
            episode, registry, config_sources(environ={}), seed=seed, may_run_code=may_run_code,
            most_followups=_MOST_FOLLOWUPS,
        )  # fmt: skip
        entries = len(played.world.log.entries)
        return tuple(named(each, played, name) for each in broken_rules(played)), entries
    except Exception as error:  # noqa: BLE001 - a simulation that cannot continue is a finding
        return (BrokenRule("ends", f"the episode ended with {type(error).__name__}: {error!s:.500}"),), 0


def smallest(
    found: FoundEpisode,
    finding: BrokenRule,
    assignors: Mapping[str, Sequence[str]],
    registry: Registry,
    *,
    may_run_code: bool = False,
) -> tuple[StreamsEpisodeOutline, BrokenRule]:
    """The smallest episode that breaks the same rule for the same reason, and a description.

    The search ends after :data:`_MOST_ENTRIES` entries of logs: an episode that never rests is long.
    """
    latest = [finding]
    entries = 0

    def still_does(smaller: StreamsEpisodeOutline) -> bool:
        nonlocal entries
        if entries > _MOST_ENTRIES:
            return False
        try:
            again, made = _judged(smaller, found.seed, registry, may_run_code=may_run_code)
        except DocumentFormatError:
            return False
        entries += made
        same = [each for each in again if (each.rule, each.known) == (finding.rule, finding.known)]
        latest[:] = same[:1] or latest
        return bool(same)

    return shrunk(random_episode(found.seed, assignors), still_does), latest[0]


def _played(seeds: range, assignors: Mapping[str, Sequence[str]], *, may_run_code: bool) -> FuzzedStreamsPart:
    registry = _registry()
    played: Counter[tuple[str, str]] = Counter()
    found = []
    for seed in seeds:
        outline = random_episode(seed, assignors)
        played[outline.protocol or "", outline.assignor or ""] += 1
        findings = findings_of(outline, seed, registry, may_run_code=may_run_code)
        if findings:
            found.append(FoundEpisode(seed, findings))
    return FuzzedStreamsPart(dict(played), tuple(found))


@cache
def _registry() -> Registry:
    return discovered(effective_config()).registry
