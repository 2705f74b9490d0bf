"""Competitors of a run: every installed assignor or the named ones, and what could not be loaded."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from assignment_api.plugins import PluginLoadError, Registry
from assignor_lab.groups.entries import KindEntry, default_kind, entries, entry_of
from assignor_lab.groups.kind import FoundAssignor
from assignor_lab.groups.work import OBSERVED

__all__ = ["Competitors", "Unloaded", "competitors", "kind_of_assignors"]


@attrs.frozen
class Unloaded:
    """A plugin that could not be loaded, and why."""

    name: str
    distribution: str | None
    version: str | None
    reason: str


@attrs.frozen
class Competitors:
    """Everybody who was asked for.

    Args:
        assignors: Who competes, each once, in the order in which they were asked for.
        unloaded: Who would, but could not be loaded.
    """

    assignors: tuple[FoundAssignor, ...]
    unloaded: tuple[Unloaded, ...]


def kind_of_assignors(registry: Registry, selectors: Iterable[str]) -> KindEntry:
    """The kind of histories that the named assignors answer: the first that is the only one for all of them.

    ``module:attribute`` says nothing before it is imported, and decides nothing here.
    """
    offered = [kinds for name in selectors if name != OBSERVED and (kinds := registry.assignor_kinds(name))]
    answered = [entry for entry in entries() if offered and all(found == (entry.plugins,) for found in offered)]
    return answered[0] if answered else default_kind()


def competitors(
    registry: Registry,
    selectors: Iterable[str] = (),
    *,
    may_run_code: bool = False,
    kind: KindEntry | str | None = None,
) -> Competitors:
    """Finds the assignors of a run.

    Args:
        registry: What is installed.
        selectors: Names, aliases and the like; none: every installed assignor. ``kafka`` may be among them: what Kafka
            really decided is scored anyway where it is known.
        may_run_code: Whether ``module:attribute`` may be imported.
        kind: Kind of the scenarios; ``None``: the default one.

    Raises:
        UnknownPluginError, AmbiguousPluginError, UntrustedCodeError: if a selector means nothing that could be loaded.
        PluginLoadError: if no assignor is left.
    """
    entry = entry_of(kind)
    group = entry.load()
    found: dict[str, FoundAssignor] = {}
    unloaded: list[Unloaded] = []
    wanted = [selector for selector in selectors if selector != OBSERVED]
    if not wanted:
        found = {assignor.name: assignor for assignor in group.installed(registry)}
        unloaded = [
            Unloaded(row.name, row.distribution, row.version, row.reason)
            for row in registry.listing()
            if row.kind in ("plugin", entry.plugins) and row.status in ("broken", "refused")
        ]
    for selector in wanted:
        try:
            assignor = group.find(registry, selector, may_run_code=may_run_code)
        except PluginLoadError as error:
            unloaded.append(Unloaded(selector, None, None, str(error)))
        else:
            found.setdefault(assignor.name, assignor)
    if not found:
        reasons = "; ".join(f"{one.name}: {one.reason}" for one in unloaded)
        raise PluginLoadError(f"no assignor is left to score: {reasons or 'none is installed'}")
    return Competitors(tuple(found.values()), tuple(unloaded))
