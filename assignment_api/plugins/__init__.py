"""How assignors, metrics and scenario families are offered, found, allowed and selected."""

from assignment_api.plugins.entries import (
    ConnectAssignorPlugin,
    GroupAssignorPlugin,
    History,
    MetricPlugin,
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
from assignment_api.plugins.hookspecs import PROJECT_NAME, hookimpl

__all__ = [
    "PROJECT_NAME",
    "AmbiguousPluginError",
    "ConfigFileError",
    "ConfigKeyError",
    "ConfigValueError",
    "ConnectAssignorPlugin",
    "GroupAssignorPlugin",
    "History",
    "MetricPlugin",
    "PluginDefinitionError",
    "PluginError",
    "PluginLoadError",
    "ScenarioFamily",
    "TaskAssignorPlugin",
    "UnknownPluginError",
    "UntrustedCodeError",
    "hookimpl",
]
