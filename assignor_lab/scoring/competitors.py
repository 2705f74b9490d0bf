"""Who competes: every installed assignor or the named ones, and what could not be loaded."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from assignment_api.plugins import FoundConnectAssignor, FoundTaskAssignor, PluginLoadError, Registry
from assignor_lab.groups.streams.contest import OBSERVED
from assignor_lab.groups.work import STREAMS

__all__ = ["Competing", "Competitors", "Unloaded", "assignor_of_kind", "competitors", "kind_of_assignors"]

Competing = FoundTaskAssignor | FoundConnectAssignor


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

    assignors: tuple[Competing, ...]
    unloaded: tuple[Unloaded, ...]


def assignor_of_kind(registry: Registry, selector: str, kind: str, *, may_run_code: bool = False) -> Competing:
    """The assignor that ``selector`` means among those that answer scenarios of ``kind``; errors as of the registry."""
    if kind == STREAMS:
        return registry.task_assignor(selector, may_run_code=may_run_code)
    return registry.connect_assignor(selector, may_run_code=may_run_code)


def kind_of_assignors(registry: Registry, selectors: Iterable[str]) -> str:
    """Kind of the histories that the named assignors answer: ``connect`` if all of them are Connect's alone."""
    kinds = [registry.assignor_kinds(selector) for selector in selectors if selector != OBSERVED]
    return "connect" if kinds and all(found == ("connect-assignor",) for found in kinds) else STREAMS


def competitors(
    registry: Registry, selectors: Iterable[str] = (), *, may_run_code: bool = False, kind: str = STREAMS
) -> Competitors:
    """Finds the assignors of a run.

    Args:
        registry: What is installed.
        selectors: Names, aliases and the like; none: every installed assignor. ``kafka`` may be among them: what Kafka
            really decided is scored anyway where it is known.
        may_run_code: Whether ``module:attribute`` may be imported.
        kind: Kind of the scenarios: ``streams``, ``connect`` or ``connect-episode``.

    Raises:
        UnknownPluginError, AmbiguousPluginError, UntrustedCodeError: if a selector means nothing that could be loaded.
        PluginLoadError: if no assignor is left.
    """
    found: dict[str, Competing] = {}
    unloaded: list[Unloaded] = []
    wanted = [selector for selector in selectors if selector != OBSERVED]
    if not wanted:
        installed = registry.task_assignors() if kind == STREAMS else registry.connect_assignors()
        found = {assignor.name: assignor for assignor in installed}
        unloaded = [
            Unloaded(row.name, row.distribution, row.version, row.reason)
            for row in registry.listing()
            if row.kind in ("plugin", "task-assignor" if kind == STREAMS else "connect-assignor")
            and row.status in ("broken", "refused")
        ]
    for selector in wanted:
        try:
            assignor = assignor_of_kind(registry, selector, kind, may_run_code=may_run_code)
        except PluginLoadError as error:
            unloaded.append(Unloaded(selector, None, None, str(error)))
        else:
            found.setdefault(assignor.name, assignor)
    if not found:
        reasons = "; ".join(f"{one.name}: {one.reason}" for one in unloaded)
        raise PluginLoadError(f"no assignor is left to score: {reasons or 'none is installed'}")
    return Competitors(tuple(found.values()), tuple(unloaded))
