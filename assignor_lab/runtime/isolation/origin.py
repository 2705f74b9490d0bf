"""The origin of a plugin: what a process needs to know to import that plugin, and nothing else."""

from __future__ import annotations

import abc
from importlib.metadata import EntryPoint
from typing import Any

import attrs

from assignment_api.plugins import PROJECT_NAME, Policy, Registry
from assignment_api.plugins.discovery import Source, ask_here
from assignor_lab.runtime.asking import Asking

__all__ = ["AssignorOrigin", "PluginOrigin"]


class AssignorOrigin(abc.ABC):
    """Where an assignor comes from; plain data, which travels to the process that is to ask it."""

    @abc.abstractmethod
    def select(self, asking: Asking[Any, Any], selector: str) -> Any:
        """The entry of the assignor, imported in this process: what is allowed, blocked and pinned was settled before.

        Args:
            asking: How assignors of its kind are asked.
            selector: Its name.

        Raises:
            PluginError: if it cannot be had.
        """


@attrs.frozen
class PluginOrigin(AssignorOrigin):
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

    def select(self, asking: Asking[Any, Any], selector: str) -> Any:
        """As in the base: nothing but this entry point is imported."""
        (reply,) = ask_here([self.source()])
        return asking.select(Registry(Policy(), reply.offers, reply.problems), selector, may_run_code=False)

    def source(self) -> Source:
        """The entry point, to be imported here."""
        return Source(self.distribution, self.version, EntryPoint(self.name, self.value, PROJECT_NAME))
