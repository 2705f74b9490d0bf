"""Errors of plugins and of configuration, each with its place and a remedy."""

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
    """A hook returned an unusable description: a bad name, a factory that cannot be called."""


class PluginLoadError(PluginError):
    """A plugin was found but is unusable: it is broken or blocked, or its factory created something else."""


class UnknownPluginError(PluginError):
    """No installed plugin has this name; the message names similar ones."""

    java_type = "ConfigException"


class AmbiguousPluginError(PluginError):
    """Two distributions use this name; the message names both and the remedy."""


class UntrustedCodeError(PluginError):
    """``module:attribute`` came from a source that may only name installed plugins."""


class ConfigFileError(AssignorLabError):
    """A file of configuration cannot be read or is not in its format."""


class ConfigKeyError(AssignorLabError):
    """An explicit key is unknown, or is a near miss of a known one."""


class ConfigValueError(ConfigError):
    """A value of an explicit source is out of its range or of the wrong type."""
