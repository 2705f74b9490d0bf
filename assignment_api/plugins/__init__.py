"""Discovery, policy and selection of plugins."""

from typing import TYPE_CHECKING

from assignment_api.exports import exported

if TYPE_CHECKING:
    from assignment_api.plugins.declared import check_settings, declared_settings
    from assignment_api.plugins.discovery import PluginRow
    from assignment_api.plugins.entries import (
        ConnectAssignorPlugin,
        ConnectorPlugin,
        GroupAssignorPlugin,
        History,
        MetricPlugin,
        PartitionAssignorPlugin,
        ScenarioFamily,
        TaskAssignorPlugin,
    )
    from assignment_api.plugins.errors import (
        AmbiguousPluginError,
        ConfigFileError,
        ConfigKeyError,
        ConfigValueError,
        PluginDefinitionError,
        PluginError,
        PluginLoadError,
        UnknownPluginError,
        UntrustedCodeError,
    )
    from assignment_api.plugins.found import Found, FoundConnectAssignor, FoundTaskAssignor
    from assignment_api.plugins.hookspecs import PROJECT_NAME, hookimpl
    from assignment_api.plugins.layers import ConfigValue, Layer, Origin
    from assignment_api.plugins.policy import Pin, Policy, record_sha256
    from assignment_api.plugins.registry import Registry, discover
    from assignment_api.plugins.selection import (
        ConfigSources,
        EffectiveConfig,
        config_sources,
        effective_config,
        select_connect_assignor,
        select_task_assignor,
    )
    from assignment_api.plugins.settings import Setting

__all__ = [
    "PROJECT_NAME",
    "AmbiguousPluginError",
    "ConfigFileError",
    "ConfigKeyError",
    "ConfigSources",
    "ConfigValue",
    "ConfigValueError",
    "ConnectAssignorPlugin",
    "ConnectorPlugin",
    "EffectiveConfig",
    "Found",
    "FoundConnectAssignor",
    "FoundTaskAssignor",
    "GroupAssignorPlugin",
    "History",
    "Layer",
    "MetricPlugin",
    "Origin",
    "PartitionAssignorPlugin",
    "Pin",
    "PluginDefinitionError",
    "PluginError",
    "PluginLoadError",
    "PluginRow",
    "Policy",
    "Registry",
    "ScenarioFamily",
    "Setting",
    "TaskAssignorPlugin",
    "UnknownPluginError",
    "UntrustedCodeError",
    "check_settings",
    "config_sources",
    "declared_settings",
    "discover",
    "effective_config",
    "hookimpl",
    "record_sha256",
    "select_connect_assignor",
    "select_task_assignor",
]

if not TYPE_CHECKING:
    __getattr__ = exported(
        __name__, __all__, "errors entries hookspecs settings declared discovery found layers policy registry selection"
    )
