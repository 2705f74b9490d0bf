"""The terms of a run's work, which every scoring process receives."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs

from assignment_api.plugins import PluginLoadError, Registry, ScenarioFamily
from assignment_api.plugins.selection import ConfigSources
from assignor_lab.groups.entries import KindEntry, entry_of
from assignor_lab.groups.variants import Contender, as_variant
from assignor_lab.runtime.discovery import EntryPointDescription

__all__ = ["JobSpec", "NO_CONFIG", "families_of", "names_of_kind"]


def _variants(contenders: Iterable[Contender | str]) -> tuple[Contender, ...]:
    return tuple(map(as_variant, contenders))


#: Scenarios under their own configuration alone.
NO_CONFIG = ConfigSources((), ())


@attrs.frozen
class JobSpec:
    """The terms of a run: contenders, metrics, configuration.

    Names only: a scoring process finds the plugins for itself, with the same policy.

    Args:
        metrics: Names, in the order of the columns.
        observed: Score Kafka's own decision, too, if it is known.
        raw: Keep the answers themselves beside their figures.
        kind: Kind of the scenarios, by its name or its entry; by default Streams applications.
        described: Descriptions that untrusted plugins gave of themselves; ``None``: they are requested.
    """

    assignors: tuple[Contender, ...] = attrs.field(converter=_variants)
    metrics: tuple[str, ...]
    families: tuple[str, ...] = ()
    config: ConfigSources = NO_CONFIG
    may_run_code: bool = False
    observed: bool = True
    raw: bool = False
    kind: KindEntry = attrs.field(default=None, converter=entry_of)
    described: tuple[EntryPointDescription, ...] | None = None


def names_of_kind(registry: Registry, kind: str) -> tuple[str, ...]:
    return tuple(found.name for found in registry.families() if found.plugin.kind == kind)


def families_of(registry: Registry, names: Iterable[str]) -> dict[str, ScenarioFamily]:
    """Name to family; a family that is not installed here raises ``PluginLoadError`` on the first request."""
    installed = {found.name: found.plugin for found in registry.families()}
    return {name: installed.get(name) or _missing(name) for name in names}


def _missing(name: str) -> ScenarioFamily:
    def history(_seed: int) -> Any:
        raise PluginLoadError(f"scenario family {name!r} is not installed on this executor: install it there, too")

    return ScenarioFamily(name.replace(":", "-"), "", 1, history)
