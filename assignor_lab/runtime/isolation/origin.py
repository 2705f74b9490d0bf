"""The origin of a plugin: what a process needs to know to import that plugin, and nothing else."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import attrs

from assignment_api.plugins import PROJECT_NAME
from assignment_api.plugins.discovery import Source

__all__ = ["PluginOrigin"]


@attrs.frozen
class PluginOrigin:
    """An entry point of an installed distribution.

    Args:
        distribution: Name of the distribution.
        version: Its version.
        name: Name of the entry point.
        value: What the entry point names: a module, or an object in one.
    """

    distribution: str
    version: str
    name: str
    value: str

    @classmethod
    def of(cls, source: Source) -> PluginOrigin:
        """The origin of what ``source`` offers."""
        point = source.entry_point
        return cls(source.name, source.version, point.name, point.value)

    def source(self) -> Source:
        """The entry point, to be imported here."""
        return Source(self.distribution, self.version, EntryPoint(self.name, self.value, PROJECT_NAME))
