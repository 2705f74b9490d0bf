"""The assignor that a configuration names, for commands without an option for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from assignment_api.plugins import (
    EffectiveConfig,
    FoundConnectAssignor,
    FoundTaskAssignor,
    Layer,
    Registry,
    select_connect_assignor,
    select_task_assignor,
)
from assignment_api.plugins.keys import CONNECT_ASSIGNOR_CLASS, INTERNAL_TASK_ASSIGNOR_CLASS, TASK_ASSIGNOR_CLASS
from assignor_lab.cli.text import note
from assignor_lab.serving.shim import ASSIGNOR_CLASS

__all__ = ["KEYS", "configured_assignor", "names_shim"]

#: Selects an assignor by a configuration.
Select = Callable[[Registry, EffectiveConfig], FoundTaskAssignor | FoundConnectAssignor]
KEYS: Mapping[str, tuple[tuple[str, ...], Select]] = {
    "task-assignor": ((TASK_ASSIGNOR_CLASS, INTERNAL_TASK_ASSIGNOR_CLASS), select_task_assignor),
    "connect-assignor": ((CONNECT_ASSIGNOR_CLASS,), select_connect_assignor),
}


def configured_assignor(registry: Registry, config: EffectiveConfig, plugins: str | None = None) -> str | None:
    """The name of the assignor that ``config`` names, which is also reported on standard error.

    Raises:
        PluginError: a subclass, if the named assignor cannot be used, with the key and its origin.
    """
    for kind, (keys, select) in KEYS.items():
        if plugins not in (None, kind):
            continue
        for key in keys:
            held = config.entries.get(key)
            if held is not None and held.value is not None and held.origin.layer is not Layer.DEFAULT:
                if names_shim(config):
                    note(f"{key} ({held.origin}) is the shim, behind which a Python assignor decides: name that one")
                    return None
                name: str = select(registry, config).name
                note(f"assignor {name}: {key} ({held.origin})")
                return name
    return None


def names_shim(config: EffectiveConfig) -> bool:
    """True if the application calls a Python assignor, which its own configuration does not name."""
    held = config.entries.get(TASK_ASSIGNOR_CLASS)
    return held is not None and held.value == ASSIGNOR_CLASS
