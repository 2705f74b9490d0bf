"""Check of a configuration against declared settings."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from assignment_api.errors import ConfigError
from assignment_api.plugins.entries import GroupAssignorPlugin, PartitionAssignorPlugin
from assignment_api.plugins.errors import ConfigKeyError, ConfigValueError
from assignment_api.plugins.found import Found, FoundConnectAssignor, FoundTaskAssignor
from assignment_api.plugins.keys import SETTING_PREFIX, is_setting
from assignment_api.plugins.layers import Layer
from assignment_api.plugins.near import did_you_mean
from assignment_api.plugins.registry import Registry
from assignment_api.plugins.reserved import PARTITION_ASSIGNORS, is_reserved
from assignment_api.plugins.selection import EffectiveConfig
from assignment_api.plugins.settings import Setting

__all__ = ["check_settings", "declared_settings"]

#: Names without an assignor: of the shim, and of Java assignors.
_OTHER_OWNERS = ("java", "lab")


def declared_settings(registry: Registry) -> Mapping[str, Mapping[str, Setting]]:
    """Assignor to its declared settings by key, in the order of the registry.

    Assignors without declarations, and names of two distributions, are left out.
    """
    declared: dict[str, dict[str, Setting]] = {}
    every: list[FoundTaskAssignor | FoundConnectAssignor | Found[GroupAssignorPlugin] | Found[PartitionAssignorPlugin]]
    every = [*registry.task_assignors(), *registry.connect_assignors(), *registry.group_assignors()]
    every += [found for kind in PARTITION_ASSIGNORS for found in registry.partition_assignors(kind)]
    for found in every:
        if found.plugin.settings and ":" not in found.name:
            declared.setdefault(found.name, {}).update({held.key: held for held in found.plugin.settings})
    return declared


def check_settings(registry: Registry, config: EffectiveConfig) -> tuple[str, ...]:
    """Check the plugins' own keys in ``config``, except a scenario's: a bad one there makes an error row.

    Returns:
        Remarks, without values, on unknown keys of a discovered file and the environment.

    Raises:
        ConfigKeyError: if ``--config`` or ``-c`` has an undeclared key, or a misspelt assignor.
        ConfigValueError: if a value is of another type than declared, or too small.
    """
    declared = declared_settings(registry)
    # A shared file may have keys of blocked and broken ones.
    known = {row.name for row in registry.listing()}
    remarks: list[str] = []
    for key, held in config.items():
        if not is_setting(key) or held.origin.layer is Layer.SCENARIO or held.value is None:
            continue
        plugin = key.removeprefix(SETTING_PREFIX).partition(".")[0]
        setting = declared.get(plugin, {}).get(key)
        if setting is not None:
            try:
                setting.read(held.value)
            except ConfigError as error:
                raise ConfigValueError(f"{held.origin}: {error}") from error
            continue
        complaint = _complaint(key, plugin, known, declared)
        if complaint is not None:
            if held.origin.layer.is_explicit:
                raise ConfigKeyError(f"{held.origin}: {complaint}")
            remarks.append(f"{held.origin}: {complaint}")
    return tuple(remarks)


def _complaint(
    key: str, plugin: str, known: AbstractSet[str], declared: Mapping[str, Mapping[str, Setting]]
) -> str | None:
    """Reason against an undeclared key; ``None`` if its assignor is missing or declares nothing."""
    own = key.removeprefix(f"{SETTING_PREFIX}{plugin}.")
    if plugin in declared:
        known_keys = [each.removeprefix(f"{SETTING_PREFIX}{plugin}.") for each in declared[plugin]]
        hint = did_you_mean(own, known_keys)
        return f"assignor {plugin} has no key {own!r}" + (f"; it has {', '.join(known_keys)}" if hint == "." else hint)
    if plugin in known or plugin in _OTHER_OWNERS or is_reserved(plugin):
        return None
    hint = did_you_mean(plugin, declared)
    return None if hint == "." else f"no assignor {plugin!r} is installed{hint}"
