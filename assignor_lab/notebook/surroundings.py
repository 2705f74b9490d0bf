"""Installed plugins and configuration for all calls of a notebook."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import attrs

from assignment_api.plugins.declared import check_settings
from assignment_api.plugins.layers import Layer, default_layer, layer_of
from assignment_api.plugins.selection import ConfigSources
from assignor_lab.compare import ContenderTerms
from assignor_lab.groups.work import WorkItem
from assignor_lab.runtime.discovery import Plugins, discovered
from assignor_lab.scenarios import Scenario

__all__ = ["item_of", "plugins", "terms_of", "with_values"]


@cache
def plugins() -> Plugins:
    """The installed plugins; processes of untrusted ones live until the notebook ends."""
    return discovered(ConfigSources((default_layer(),), ()).effective())


def with_values(sources: ConfigSources, config: Mapping[str, object] | None) -> ConfigSources:
    """Sources with the keys and values of a caller in Python above all others.

    Raises:
        ConfigKeyError: if a key is a near miss of one.
        ConfigValueError: if a value is of another type than declared.
    """
    pairs = [(key, value, "the notebook") for key, value in (config or {}).items()]
    return attrs.evolve(sources, above=(*sources.above, layer_of(Layer.COMMAND_LINE, pairs))) if pairs else sources


def terms_of(config: Mapping[str, Any] | None) -> ContenderTerms:
    """Terms under ``config``: keys and values that replace the states' own.

    Raises:
        ConfigKeyError: if an installed plugin does not declare one of its keys.
        ConfigValueError: if a value is of another type than declared.
    """
    found = plugins()
    sources = with_values(ConfigSources((default_layer(),), ()), config)
    check_settings(found.registry, sources.effective())
    return ContenderTerms(found.registry, found.isolation, sources)


def item_of(state: Scenario) -> WorkItem:
    return WorkItem(0, 0, json.dumps(dict(state.document)), state.place.file, state.place.line)
