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
    """Base of what can be wrong with a plugin."""


class PluginDefinitionError(PluginError):
    """A hook returned a description that cannot be used: a bad name, a factory that cannot be called."""


class PluginLoadError(PluginError):
    """A plugin was found and could not be used: it is broken, blocked, or its factory made something else."""


class UnknownPluginError(PluginError):
    """Nothing installed has this name; the message names what comes near."""

    java_type = "ConfigException"


class AmbiguousPluginError(PluginError):
    """Two distributions use this name; the message names both and how to choose."""


class UntrustedCodeError(PluginError):
    """``module:attribute`` came from a source that may only name installed plugins."""


class ConfigFileError(AssignorLabError):
    """A file of configuration cannot be read or is not in its format."""


class ConfigKeyError(AssignorLabError):
    """A key was given on purpose and means nothing here, or is a near miss of one that does."""


class ConfigValueError(ConfigError):
    """A value is out of its range or of the wrong type, in a source that was given on purpose."""
