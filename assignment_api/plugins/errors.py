"""Errors of plugins and of configuration."""

from __future__ import annotations

from assignment_api.errors import AssignorLabError, ConfigError

__all__ = [
    "AmbiguousPluginError",
    "ConfigFileError",
    "ConfigKeyError",
    "ConfigValueError",
    "PluginDefinitionError",
    "PluginError",
    "PluginLoadError",
    "UnknownPluginError",
    "UntrustedCodeError",
]


class PluginError(AssignorLabError):
    """Base of all errors of plugins."""


class PluginDefinitionError(PluginError):
    """A hook returned an unusable description."""


class PluginLoadError(PluginError):
    """A found plugin is broken or blocked, or its factory created something else."""


class UnknownPluginError(PluginError):
    """No installed plugin has this name."""

    java_type = "ConfigException"


class AmbiguousPluginError(PluginError):
    """Two distributions use this name."""


class UntrustedCodeError(PluginError):
    """``module:attribute`` from a source that may only name installed plugins."""


class ConfigFileError(AssignorLabError):
    """A configuration file cannot be read or is not in its format."""


class ConfigKeyError(AssignorLabError):
    """An explicit key is unknown, or nearly a known one."""


class ConfigValueError(ConfigError):
    """An explicit value is out of its range or of the wrong type."""
