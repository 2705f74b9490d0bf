"""The origin of a plugin: the facts that a process needs to import it."""

from __future__ import annotations

import abc
from importlib.metadata import EntryPoint
from typing import Any

import attrs

from assignment_api.plugins import PROJECT_NAME, Policy, Registry
from assignment_api.plugins.discovery import PluginSource, ask_here
from assignor_lab.runtime.assignor_calls import AssignorCalls

__all__ = ["AssignorOrigin", "PluginOrigin"]


class AssignorOrigin(abc.ABC):
    """The origin of an assignor as plain data, for the transfer to its process."""

    @abc.abstractmethod
    def select(self, asking: AssignorCalls[Any, Any], selector: str) -> Any:
        """The entry of the assignor, imported in this process; the policy was applied before.

        Raises:
            PluginError: if it is not available.
        """


@attrs.frozen
class PluginOrigin(AssignorOrigin):
    """An entry point of an installed distribution.

    Args:
        value: Target of the entry point: a module, or an object in one.
    """

    distribution: str
    version: str
    name: str
    value: str

    @classmethod
    def of(cls, source: PluginSource) -> PluginOrigin:
        point = source.entry_point
        return cls(source.name, source.version, point.name, point.value)

    def select(self, asking: AssignorCalls[Any, Any], selector: str) -> Any:
        """As in the base class; only this entry point is imported."""
        (reply,) = ask_here([self.source()])
        return asking.select(Registry(Policy(), reply.offers, reply.problems), selector, may_run_code=False)

    def source(self) -> PluginSource:
        """The entry point, for an import here."""
        return PluginSource(self.distribution, self.version, EntryPoint(self.name, self.value, PROJECT_NAME))
