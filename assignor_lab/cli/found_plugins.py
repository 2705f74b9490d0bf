"""The plugins for a command; unusable ones are named on standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assignment_api.plugins import EffectiveConfig, check_settings
from assignment_api.plugins.keys import TRUST
from assignor_lab.cli.text import note

if TYPE_CHECKING:
    from assignor_lab.runtime.discovery import Plugins

__all__ = ["found_plugins"]


def found_plugins(config: EffectiveConfig, *, imports_code: bool = True) -> Plugins:
    """The installed plugins; a note names each unusable one, and the reason.

    Raises:
        ConfigError: if a value of ``config`` is out of its range.
        ConfigKeyError: if an own key of a plugin is unknown (:func:`~assignment_api.plugins.check_settings`).
    """
    from assignor_lab.runtime.discovery import discovered

    plugins = discovered(config, imports_code=imports_code)
    for row in plugins.registry.listing():
        if (row.kind, row.status) == ("plugin", "broken"):
            note(f"plugin {row.name} of {row.distribution} {row.version} cannot be used: {row.reason}")
        if row.status == "refused" and row.kind != "policy":
            note(f"{row.kind} {row.name} of {row.distribution} is left out: {row.reason}")
        if row.kind == "policy" and row.reason.startswith(TRUST):
            note(f"{row.name} is not trusted: {row.reason}")
    for remark in check_settings(plugins.registry, config):
        note(remark)
    return plugins
