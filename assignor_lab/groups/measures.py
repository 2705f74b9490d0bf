"""Metrics of plugins as columns, and the measure in place of one that is not here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from assignment_api.plugins import PluginError, Registry
from assignor_lab.groups.columns import column_names

__all__ = ["missing_measure", "plugin_columns"]


def plugin_columns(registry: Registry, kind: str, own: Iterable[str] = ()) -> tuple[str, ...]:
    """Column names of the registered metrics of a kind, in the registry's order.

    One that is called like another column gets its distribution before its name.

    Args:
        registry: What is installed.
        kind: Kind of scenarios.
        own: Columns that the kind has besides.
    """
    taken = column_names() | set(own)
    return tuple(
        f"{found.distribution}:{found.name}" if found.name in taken else found.name
        for found in registry.metrics()
        if found.plugin.kind == kind
    )


def missing_measure(error: PluginError) -> Callable[[Any, Any], NoReturn]:
    """Stands for a metric that the driver has and this process has not: each of its figures says so."""

    def measure(_state: Any, _answer: Any) -> NoReturn:
        raise error

    return measure
