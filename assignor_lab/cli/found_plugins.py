"""The plugins that a command works with; those that cannot be used are named on standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assignment_api.plugins import EffectiveConfig
from assignment_api.plugins.keys import TRUST
from assignor_lab.cli.text import note

if TYPE_CHECKING:
    from assignor_lab.runtime.discovery import Plugins

__all__ = ["found_plugins"]


def found_plugins(config: EffectiveConfig) -> Plugins:
    """Finds the installed plugins, and says which cannot be used and why.

    Raises:
        ConfigError: if a value of ``config`` is out of its range.
    """
    from assignor_lab.runtime.discovery import discovered

    plugins = discovered(config)
    for row in plugins.registry.listing():
        if (row.kind, row.status) == ("plugin", "broken"):
            note(f"plugin {row.name} of {row.distribution} {row.version} cannot be used: {row.reason}")
        if row.kind == "policy" and row.reason.startswith(TRUST):
            note(f"{row.name} is not trusted: {row.reason}")
    return plugins
