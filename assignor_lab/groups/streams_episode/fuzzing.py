"""Many random episodes of Streams groups: which of them break a rule of safety, and which of those are Kafka's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from assignment_api import AssignorLabError
from assignment_api.plugins import ConfigSources, Registry, UnknownPluginError
from assignor_lab.documents.errors import DocumentFormatError
from assignor_lab.groups.playing import play
from assignor_lab.scenarios import Place, scenario_from_document
from assignor_lab.simulation.streams.episode_format import read_episode
from assignor_lab.simulation.streams.safety import LOOP, BrokenRule, broken_rules, random_episode, smallest
from assignor_lab.simulation.streams.simulate import Played

__all__ = ["ASSIGNORS", "Finding", "fuzz", "known_cause"]

#: Kafka's assignors, which take turns where nobody is named.
ASSIGNORS = ("high_availability", "sticky", "group_sticky", "group_sticky_4_4")
_ENDED = "ended early"


@attrs.frozen
class Finding:
    """An episode that broke a rule.

    Args:
        seed: Its seed, from which the same episode is made again.
        assignor: Who decided.
        broken: The rule, and how it was broken.
        known: What of Kafka itself is behind it, or ``None``: nothing that is known.
        document: The episode; of one that nothing known is behind, the smallest found that breaks the rule, too.
    """

    seed: int
    assignor: str
    broken: BrokenRule
    known: str | None
    document: Mapping[str, Any]


def fuzz(
    episodes: int, seed: int, registry: Registry, sources: ConfigSources, assignor: str | None = None
) -> Iterator[Sequence[Finding]]:
    """Plays the random episodes of the seeds ``seed``, ``seed + 1`` and so on.

    Args:
        episodes: How many.
        seed: The first seed.
        registry: The plugins.
        sources: Sources of configuration.
        assignor: Who decides; ``None``: Kafka's assignors in turn.

    Yields:
        What each broke, in the order of the seeds; nothing, as a rule.

    Raises:
        UnknownPluginError, PluginLoadError: if the assignor cannot be had.
    """
    for number in range(seed, seed + episodes):
        name = assignor or ASSIGNORS[number % len(ASSIGNORS)]
        document = random_episode(number)
        found = []
        for each in _broken(document, name, registry, sources):
            known = known_cause(name, each.rule, document)
            shown = document if known else _shrunk(document, name, each, registry, sources)
            found.append(Finding(number, name, each, known, shown))
        yield found


def known_cause(assignor: str, rule: str, document: Mapping[str, Any]) -> str | None:
    """What of Kafka itself is behind a broken rule; ``None``: nothing that is known."""
    if rule != LOOP:
        return None
    if assignor == "high_availability" and document["initial"]["config"].get("acceptable.recovery.lag") == 0:
        return (
            "acceptable.recovery.lag is 0 and changelogs grow: no copy ever counts as caught up, and Kafka's "
            "HighAvailabilityTaskAssignor probes for ever"
        )
    if assignor == "sticky":
        return (
            "Kafka's StickyTaskAssignor: a task on its way has no owner, so that all who have its state are equal, and "
            "each follow-up may send it elsewhere"
        )
    return None


def _broken(document: Mapping[str, Any], name: str, registry: Registry, sources: ConfigSources) -> list[BrokenRule]:
    try:
        return broken_rules(_played(document, name, registry, sources))
    except (UnknownPluginError, DocumentFormatError):
        raise
    except AssignorLabError as error:
        return [BrokenRule(_ENDED, f"{type(error).__name__}: {error!s:.300}")]


def _played(document: Mapping[str, Any], name: str, registry: Registry, sources: ConfigSources) -> Played:
    episode = read_episode(scenario_from_document(dict(document), Place(document["id"])))
    brokers = any(found.name == name for found in registry.group_assignors())
    protocol = "streams" if brokers else "classic"
    return play(
        _for_brokers(episode) if brokers else episode, registry, sources, name, protocol=protocol, may_run_code=True,
        keep_log=False,
    )[1]  # fmt: skip


def _for_brokers(episode: Any) -> Any:
    """Brokers of 4.3 refuse static members, and all of them allow two standbys at most."""
    events = tuple(
        attrs.evolve(event, details={key: value for key, value in event.details.items() if key != "instance_id"})
        for event in episode.events
    )
    return attrs.evolve(episode, events=events)


def _shrunk(
    document: Mapping[str, Any], name: str, broken: BrokenRule, registry: Registry, sources: ConfigSources
) -> Mapping[str, Any]:
    def breaks(smaller: Mapping[str, Any]) -> bool:
        try:
            return any(each.rule == broken.rule for each in _broken(smaller, name, registry, sources))
        except DocumentFormatError:
            return False

    return smallest(document, breaks)
