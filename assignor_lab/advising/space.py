"""The settings that may change, by protocol, release and state of a group."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product
from math import prod
from pathlib import Path
from typing import Any

import attrs

from assignment_api import AssignorLabError
from assignment_api.plugins import EffectiveConfig, Registry
from assignment_api.plugins.declared import declared_settings
from assignment_api.plugins.keys import SETTING_PREFIX, is_setting
from assignment_api.plugins.near import did_you_mean
from assignment_api.releases import holds
from assignor_lab.advising.configurations import (
    ASSIGNOR,
    BATCH,
    CLOSE,
    DYNAMIC,
    HEARTBEAT,
    LAG,
    LEAVE,
    MAX_DELAY,
    MEMBERS,
    PARTITION_STRATEGY,
    PROBING,
    PROTOCOL,
    PROTOCOL_OF_WORKERS,
    REMAIN,
    SESSION,
    STANDBYS,
    STATIC,
    STRATEGY,
    STREAMS_SESSION,
    TRANSACTIONAL,
    WARMUPS,
    AdvisedState,
    Configuration,
)
from assignor_lab.advising.mix import Mix
from assignor_lab.capture.edges.moments import STREAMS
from assignor_lab.documents.files import read_document
from assignor_lab.documents.shapes import Mismatch, described, list_of, map_of, text
from assignor_lab.documents.toml_text import parse_toml
from assignor_lab.groups.streams_episode.playing import deciding
from assignor_lab.planning.making import is_in_memory
from assignor_lab.planning.state import PresentState
from assignor_lab.simulation.consumer.consumers import CONSUMER

__all__ = [
    "SESSIONS_MS",
    "Dimension",
    "Space",
    "SpaceError",
    "fixed_settings",
    "narrowed",
    "read_within",
    "release_of",
    "space_of",
    "with_own_settings",
]

#: Session timeouts that brokers allow by default.
SESSIONS_MS = (6_000, 10_000, 20_000, 30_000, 45_000, 60_000)
_STREAMS_SESSIONS_MS = (45_000, 60_000, 120_000)
#: The first release with transactional stores (KIP-892).
_TRANSACTIONAL_SINCE = (4, 4)
#: First releases of Kafka with a setting.
_LEAVING_SINCE, _STREAMS_SINCE, _PUBLIC_ASSIGNORS_SINCE = (4, 2), (4, 2), (3, 8)
#: Brokers' default limit of streams groups (``group.streams.max.standby.replicas``).
_MOST_STREAMS_STANDBYS = 2
#: Settings that only Kafka's default assignor reads.
_OF_DEFAULT_ASSIGNOR = (LAG, WARMUPS, PROBING)
_DEFAULT_ASSIGNOR = "high_availability"
#: Settings without values beside those of their dimension.
_CLOSED = (MEMBERS, CLOSE, TRANSACTIONAL)
_MOST_DIGITS = 10
_MAX_BYTES = 65_536


class SpaceError(AssignorLabError):
    """A setting cannot be fixed or limited, or a release is none."""


@attrs.frozen
class Dimension:
    """A setting.

    Args:
        key: Kafka's key, or the name of a way of operation.
        values: Its values, the present one first.
    """

    key: str
    values: tuple[str, ...]


@attrs.frozen
class Space:
    """The configurations of a group.

    Args:
        requirements: Setting to the release that its change needs, if the group's is unknown.
        fixed: Setting to its value in all configurations but the present one.
    """

    dimensions: tuple[Dimension, ...]
    requirements: Mapping[str, str]
    fixed: Mapping[str, str] = attrs.field(factory=dict)

    @property
    def present(self) -> Configuration:
        return {each.key: each.values[0] for each in self.dimensions}

    @property
    def size(self) -> int:
        """Includes combinations of equal effect."""
        return prod(len(each.values) for each in self.dimensions)

    def canonical(self, configuration: Configuration) -> Configuration:
        """Present values replace those without effect beside the others."""
        made, present = dict(configuration), self.present
        without_effect: list[str] = []
        if made.get(PROTOCOL, present.get(PROTOCOL)) == STREAMS:
            without_effect += [MEMBERS, CLOSE, SESSION, ASSIGNOR, STRATEGY, *_OF_DEFAULT_ASSIGNOR]
        elif STREAMS_SESSION in made and PROTOCOL in made:
            without_effect.append(STREAMS_SESSION)
        if made.get(MEMBERS) == STATIC:
            without_effect.append(CLOSE)
        if ASSIGNOR in made and made[ASSIGNOR] != _DEFAULT_ASSIGNOR:
            without_effect += _OF_DEFAULT_ASSIGNOR
        if ASSIGNOR in made:
            own = f"{SETTING_PREFIX}{made[ASSIGNOR]}."
            without_effect += [key for key in made if is_setting(key) and not key.startswith(own)]
        if PARTITION_STRATEGY in made and made[PROTOCOL] == CONSUMER:
            without_effect += [PARTITION_STRATEGY, SESSION, HEARTBEAT]
        if made.get(PROTOCOL_OF_WORKERS) == "eager":
            without_effect.append(MAX_DELAY)
        for key in without_effect:
            if key in made:
                made[key] = present[key]
        return made if made == present else {**made, **self.fixed}

    def configurations(self, most: int, seed: int) -> list[Configuration]:
        """All, or the present one, its nearest neighbours, and a sample of the others."""
        if self.size <= 4 * most:
            found = self._distinct(dict(zip(self.present, values, strict=True)) for values in self._product())
            if len(found) <= most:
                return found
        drawn = random.Random(f"space {seed}")  # noqa: S311 - a simulation, not a secret
        found = self._distinct(self._changed(1), most)
        pairs = self._distinct(self._changed(2))
        others = [each for each in pairs if each not in found]
        # Half of the places for pairs of changes, the rest for any number.
        room = most - len(found)
        found += others if len(others) <= room // 2 else drawn.sample(others, room // 2)
        return self._distinct([*found, *self._drawn(drawn, 20 * most)], most)

    def neighbours(self, configuration: Configuration) -> list[Configuration]:
        changed = (
            {**configuration, each.key: value}
            for each in self.dimensions
            for value in each.values
            if value != configuration[each.key]
        )
        return [each for each in self._distinct(changed) if each != configuration]

    def _product(self) -> Iterator[tuple[str, ...]]:
        return product(*(each.values for each in self.dimensions))

    def _changed(self, count: int) -> Iterator[Configuration]:
        """The present configuration, then all with ``count`` changes."""
        yield self.present
        for chosen in combinations(self.dimensions, count):
            for values in product(*(each.values[1:] for each in chosen)):
                yield {**self.present, **{each.key: value for each, value in zip(chosen, values, strict=True)}}

    def _drawn(self, drawn: random.Random, count: int) -> Iterator[Configuration]:
        for _ in range(count):
            yield {each.key: drawn.choice(each.values) for each in self.dimensions}

    def _distinct(
        self, configurations: Iterator[Configuration] | Sequence[Configuration], most: int = 10**9
    ) -> list[Configuration]:
        found: dict[tuple[str, ...], Configuration] = {}
        for each in configurations:
            canonical = self.canonical(each)
            found.setdefault(tuple(canonical.values()), canonical)
            if len(found) >= most:
                break
        return list(found.values())


def release_of(text: str) -> tuple[int, int]:
    """A release of Kafka from its text, such as ``4.2``."""
    parts = text.split(".")
    if len(parts) < 2 or not all(part.isascii() and part.isdecimal() and len(part) < 5 for part in parts):
        raise SpaceError(f'--release {text!r:.40}: give a release of Kafka, such as "4.2"')
    return int(parts[0]), int(parts[1])


def space_of(subject: AdvisedState, mix: Mix, release: tuple[int, int] | None = None) -> Space:
    """The settings that may change; ``release`` ``None``: unknown."""
    state = subject.state
    effective = subject.terms.sources.effective(state.episode.config, str(state.episode.place)).values_for("")
    config = {**state.episode.config, **effective}
    has_state = any(log is not None for log in state.episode.changelogs)
    found: list[Dimension] = []
    needs: dict[str, str] = {}

    def add(key: str, values: Sequence[object], since: tuple[int, int] | None = None) -> None:
        distinct = tuple(dict.fromkeys(map(str, values)))
        if len(distinct) < 2 or (since is not None and release is not None and release < since):
            return
        found.append(Dimension(key, distinct))
        if since is not None and release is None:
            needs[key] = f"{since[0]}.{since[1]}"

    instances = len(state.names)
    if state.is_classic:
        is_static = any(each is not None for each in state.episode.instance_ids)
        if not is_in_memory(state):
            add(MEMBERS, [STATIC, DYNAMIC] if is_static else [DYNAMIC, STATIC])
        if not is_static:
            add(CLOSE, [LEAVE, REMAIN] if subject.options.leave else [REMAIN, LEAVE], _LEAVING_SINCE)
        add(SESSION, [state.episode.timings.session_timeout_ms, *SESSIONS_MS])
    else:
        add(STREAMS_SESSION, [state.episode.timings.streams_session_timeout_ms, *_STREAMS_SESSIONS_MS])
    if has_state and instances > 1:
        most = min(instances - 1, 3 if state.is_classic else _MOST_STREAMS_STANDBYS)
        add(STANDBYS, [config.get(STANDBYS) or 0, *range(most + 1)])
    if has_state and state.episode.eos and holds("transactional_stores", state.episode.release):
        add(TRANSACTIONAL, [str(state.episode.is_transactional).lower(), "false", "true"], _TRANSACTIONAL_SINCE)
    if state.is_classic:
        assignor = deciding(
            state.episode, subject.terms.registry, subject.terms.sources, subject.terms.assignor, may_run_code=True
        )[0].name
        add(ASSIGNOR, [assignor, _DEFAULT_ASSIGNOR, "sticky"], _PUBLIC_ASSIGNORS_SINCE)
        if has_state and assignor == _DEFAULT_ASSIGNOR:
            add(LAG, [config.get(LAG) or 10_000, 10_000, 100_000])
            add(WARMUPS, [config.get(WARMUPS) or 2, 2, 8])
            add(PROBING, [config.get(PROBING) or 600_000, 60_000, 600_000])
        if _knows_racks(state):
            add(STRATEGY, [config.get(STRATEGY) or "none", "none", "min_traffic", "balance_subtopology"])
        if not any(state.episode.instance_ids) and subject.terms.assignor is None:
            add(PROTOCOL, ["classic", "streams"], _STREAMS_SINCE)
    if instances > 2 and "roll" in mix.per_day:
        add(BATCH, [subject.options.batch, 1, 2, max(2, instances // 4)])
    return Space(tuple(found), needs)


def _knows_racks(state: PresentState) -> bool:
    return all(client.rack_id for client in state.episode.clients) and all(
        partition.rack_ids for task in state.episode.tasks for partition in task.source_partitions()
    )


def narrowed(space: Space, fixed: Mapping[str, str], within: Mapping[str, Sequence[str]]) -> Space:
    """The space with fixed settings, and others limited to given values; the present value stays possible.

    Args:
        fixed: Setting to its value; empty: the present one.

    Raises:
        SpaceError: if a setting may not change in this group, or has no such value.
    """
    known = {each.key: each for each in space.dimensions}
    for key in (*fixed, *within):
        if key not in known:
            raise SpaceError(
                f"{key!r:.80} is no setting that may change in this group: it has {', '.join(known) or 'none'}"
            )
    made = []
    for each in space.dimensions:
        present = each.values[0]
        for value in (fixed.get(each.key, ""), *map(str, within.get(each.key, ()))):
            _check_value(each, value)
        if each.key in fixed:
            made.append(Dimension(each.key, tuple(dict.fromkeys((present, fixed[each.key] or present)))))
        elif each.key in within:
            made.append(Dimension(each.key, tuple(dict.fromkeys((present, *map(str, within[each.key]))))))
        else:
            made.append(each)
    changes = {each.key: fixed[each.key] or each.values[0] for each in space.dimensions if each.key in fixed}
    return Space(tuple(made), space.requirements, changes)


def with_own_settings(
    space: Space, wanted: Mapping[str, Sequence[str]], registry: Registry, config: EffectiveConfig
) -> Space:
    """The space with the declared settings of assignors among the keys of ``wanted``, and checked names of assignors.

    Raises:
        SpaceError: if an assignor does not declare such a setting.
        ConfigError: if a value is of another type than declared, or too small.
        PluginError: if a value of `task.assignor.class` names no assignor.
    """
    for selector in wanted.get(ASSIGNOR, ()):
        if selector:
            registry.task_assignor(selector, may_run_code=True)
    declared = {key: each for own in declared_settings(registry).values() for key, each in own.items()}
    known = {each.key for each in space.dimensions}
    found = []
    for key in (key for key in wanted if is_setting(key) and key not in known):
        if key not in declared:
            raise SpaceError(
                f"{key!r:.80} is no declared setting of an installed assignor{did_you_mean(key, declared)}"
            )
        setting = declared[key]
        values = [value for value in wanted[key] if value]
        for value in values:
            setting.read(value)
        held = config.get(key)
        present = setting.default if held is None or held.value is None else held.value
        found.append(Dimension(key, tuple(dict.fromkeys(("unset" if present is None else str(present), *values)))))
    return Space((*space.dimensions, *found), space.requirements, space.fixed)


def _check_value(dimension: Dimension, value: str) -> None:
    """Refuses a value that the setting cannot have. Empty is the present one; assignors check their own settings."""
    key, values = dimension.key, dimension.values
    if not value or value in values or is_setting(key):
        return
    if all(each.isdecimal() for each in values):
        if not (value.isascii() and value.isdecimal() and len(value) < _MOST_DIGITS):
            raise SpaceError(f"{key}={value:.40}: expected a whole number, such as {values[0]}")
    elif key in _CLOSED:
        raise SpaceError(f"{key}={value:.40}: it has the values {', '.join(values)}")


def fixed_settings(texts: Iterable[str]) -> dict[str, str]:
    """Settings of ``KEY=VALUE``, or ``KEY`` for the present value, which is empty here."""
    parts = (text.partition("=") for text in texts)
    return {key.strip(): value.strip() for key, _, value in parts}


def read_within(path: Path) -> dict[str, list[str]]:
    """Allowed values of settings in TOML, such as ``"session.timeout.ms" = [10000, 30000]``.

    Raises:
        DocumentFormatError: with its place, if the file cannot be read or is not in this form.
    """
    found: dict[str, list[str]] = read_document(
        path, parse_toml, map_of(text, list_of(_value)), max_bytes=_MAX_BYTES, subject="values of settings"
    )
    return found


def _value(value: Any) -> str:
    if type(value) not in (int, str) or (type(value) is str and not value):
        raise Mismatch(f"expected a whole number or a text, found {described(value)}")
    return str(value)
