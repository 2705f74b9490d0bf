"""The families of a run, as those who score have them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from assignment_api.plugins import PluginLoadError, Registry, ScenarioFamily

__all__ = ["families_of", "names_of_kind"]


def names_of_kind(registry: Registry, kind: str) -> tuple[str, ...]:
    """Names of the installed families whose histories are of a kind."""
    return tuple(found.name for found in registry.families() if found.plugin.kind == kind)


def families_of(registry: Registry, names: Iterable[str]) -> dict[str, ScenarioFamily]:
    """Name to family; one that is not installed here raises ``PluginLoadError`` when a history is asked for."""
    installed = {found.name: found.plugin for found in registry.families()}
    return {name: installed.get(name) or _missing(name) for name in names}


def _missing(name: str) -> ScenarioFamily:
    def history(_seed: int) -> Any:
        raise PluginLoadError(f"scenario family {name!r} is not installed on this executor: install it there, too")

    return ScenarioFamily(name.replace(":", "-"), "", 1, history)
