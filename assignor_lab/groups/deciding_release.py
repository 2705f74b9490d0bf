"""The release of Kafka that an answer holds for, and how it is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import attrs

from assignment_api.plugins import ConfigSources, EffectiveConfig, Layer, Registry
from assignment_api.plugins.reserved import KAFKA_TASK_ASSIGNORS
from assignment_api.releases import (
    BEHAVIOURS,
    NEWEST,
    RELEASE_KEY,
    BehaviourRange,
    KafkaRelease,
    assignor_range,
    read_release,
    release_in,
    release_named,
)
from assignor_lab.documents.wording import plural
from assignor_lab.groups.kind import FoundAssignor
from assignor_lab.groups.variants import Contender

__all__ = [
    "DecidingRelease", "ReleasesSaid", "answers_of", "at_releases", "deciding_release", "how_known",
    "release_sentence", "selector_at",
]  # fmt: skip


@attrs.frozen
class DecidingRelease:
    """A release, and the range of releases with equal answers.

    Args:
        answers: ``None``: the assignor is none of Kafka's.
        is_fixed: By the assignor's name.
        is_known: Given or shown; otherwise it is the newest release.
    """

    release: KafkaRelease
    answers: BehaviourRange | None
    is_fixed: bool = False
    is_known: bool = True


def deciding_release(found: FoundAssignor, configs: Mapping[str, object]) -> DecidingRelease:
    """The release of an assignor's answers under a configuration.

    A name of one release (``sticky_4_4``, ``sticky@4.3``) decides before ``kafka.release``. Without both the newest
    release decides.
    """
    name, _, fixed = found.name.partition("@")
    plugin_name = str(found.plugin.name)
    ranges = [each for each in BEHAVIOURS if each.area == "assignors" and plugin_name in (each.key, each.of)]
    if fixed and not name.startswith("java:"):
        release = release_named(fixed)
        return DecidingRelease(release, _covering(ranges, release), is_fixed=True)
    own = [each for each in ranges if each.key == plugin_name and each.of not in ("", plugin_name)]
    if own:
        return DecidingRelease(own[0].last or NEWEST, own[0], is_fixed=True)
    given = release_in(configs)
    if given is not None:
        return DecidingRelease(given, _covering(ranges, given))
    return DecidingRelease(NEWEST, _covering(ranges, NEWEST), is_known=False)


def answers_of(selector: str, config: EffectiveConfig) -> str:
    """The name of a selector's answers under a configuration, equal for selectors with equal answers.

    Names of plugins, and of releases without that assignor, come back as they are.
    """
    name, _, fixed = selector.partition("@")
    held = config.entries.get(RELEASE_KEY)
    release = read_release(fixed) or (None if held is None else read_release(str(held.value))) or NEWEST
    named = [each for each in BEHAVIOURS if each.area == "assignors" and name in (each.key, each.of)]
    own = [each for each in named if each.key == name and each.of not in ("", name)]
    return next((each.key for each in own or named if own or each.covers(release)), selector)


def _covering(ranges: list[BehaviourRange], release: KafkaRelease) -> BehaviourRange | None:
    return next((each for each in ranges if each.covers(release)), None)


def release_sentence(name: str, found: FoundAssignor, config: EffectiveConfig) -> str | None:
    """For example ``sticky: as Kafka 4.4 decides (-c kafka.release)``; ``None`` for assignors of plugins."""
    decides = deciding_release(found, {key: held.value for key, held in config.entries.items()})
    answers = decides.answers
    if answers is None:
        return None
    if not answers.of:
        last = (answers.last or NEWEST).line
        return f"{name}: as Kafka {answers.since} to {last} decide, which give equal answers"
    how = "by its name" if decides.is_fixed else how_known(config)
    return f"{name}: as Kafka {decides.release.line} decides ({how})"


def how_known(config: EffectiveConfig) -> str:
    """How the release of a configuration is known."""
    held = config.entries.get(RELEASE_KEY)
    if held is None:
        return "the newest release, as none is shown or given: --release selects another one"
    if held.origin.layer is Layer.SCENARIO:
        return f"shown by the state: its leader or broker ran {held.value}"
    return f"given by {held.origin}"


def selector_at(registry: Registry, selector: str, release: KafkaRelease | None) -> str:
    """The selector for result lines: the name of the answers in a given release, if they have one of their own.

    Raises:
        UnknownReleaseError: if that release has no such assignor.
    """
    selector = selector if release is None else KAFKA_TASK_ASSIGNORS.get(selector, selector)
    kinds = registry.assignor_kinds(selector)
    if release is None or "@" in selector or not kinds:
        return selector
    found: FoundAssignor
    if "task-assignor" in kinds:
        found = registry.task_assignor(selector)
    elif "group-assignor" in kinds:
        found = registry.group_assignor(selector)
    else:
        return selector
    answers = assignor_range(found.plugin.name, release)
    return selector if answers is None or answers.of in ("", answers.key) else answers.key


def at_releases(contenders: Sequence[Contender], releases: str | None) -> tuple[list[Contender], str | None]:
    """Contenders under ``--release``, and the one release for all of them: of several, each contender has each.

    Raises:
        UnknownReleaseError: if one is unknown.
        VariantError: if two contenders have one name.
    """
    listed = [] if releases is None else list(map(release_named, releases.split(",")))
    if len(listed) < 2:
        return list(contenders), str(listed[0]) if listed else None
    return [
        attrs.evolve(each, name=f"{each.name}@{release.line}", overrides={RELEASE_KEY: str(release), **each.overrides})
        for each in contenders
        for release in dict.fromkeys(listed)
    ], None


class ReleasesSaid:
    """The sentences on releases and unread settings of a command's answers, each once, with its number of states."""

    def __init__(self) -> None:
        self._sentences: dict[tuple[str, object], str | None] = {}
        self._counts: Counter[str] = Counter()
        self._further: dict[str, None] = {}

    def take(
        self,
        name: str,
        found: FoundAssignor,
        sources: ConfigSources,
        config: Mapping[str, object],
        place: str = "",
        count: int = 1,
    ) -> None:
        """Counts answers of the contender ``name`` to ``count`` states with this configuration."""
        key = (name, config.get(RELEASE_KEY))
        if key not in self._sentences:
            self._sentences[key] = release_sentence(name, found, sources.effective(config, place))
        sentence = self._sentences[key]
        if sentence is not None:
            self._counts[sentence] += count

    def add(self, sentence: str) -> None:
        """Adds a sentence of its own, once."""
        self._further[sentence] = None

    def sentences(self) -> list[str]:
        """With counts if states differ in their releases; then the others."""
        return [*self._of_releases(), *self._further]

    def _of_releases(self) -> list[str]:
        if len(self._counts) == len({name for name, _ in self._sentences}):
            return list(self._counts)
        return [f"{sentence}: {plural(count, 'state')}" for sentence, count in self._counts.items()]
