"""Installed plugins and configuration for all calls of a notebook."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from assignment_api.plugins.layers import Layer, default_layer, layer_of
from assignment_api.plugins.selection import ConfigSources
from assignor_lab.compare import ContenderTerms
from assignor_lab.groups.work import WorkItem
from assignor_lab.runtime.discovery import Plugins, discovered
from assignor_lab.scenarios import Scenario

__all__ = ["item_of", "plugins", "terms_of"]


@cache
def plugins() -> Plugins:
    """The installed plugins; processes of untrusted ones live until the notebook ends."""
    return discovered(ConfigSources((default_layer(),), ()).effective())


def terms_of(config: Mapping[str, Any] | None) -> ContenderTerms:
    """Terms under ``config``: keys and values that replace the states' own."""
    pairs = [(key, value, "the notebook") for key, value in (config or {}).items()]
    above = (layer_of(Layer.COMMAND_LINE, pairs),) if pairs else ()
    found = plugins()
    return ContenderTerms(found.registry, found.isolation, ConfigSources((default_layer(),), above))


def item_of(state: Scenario) -> WorkItem:
    return WorkItem(0, 0, json.dumps(dict(state.document)), state.place.file, state.place.line)
