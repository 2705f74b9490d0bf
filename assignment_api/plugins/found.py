"""Found plugins, each with its distribution."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

import attrs

from assignment_api.connect import ConnectAssignor
from assignment_api.plugins.entries import ConnectAssignorPlugin, TaskAssignorPlugin
from assignment_api.plugins.errors import PluginLoadError
from assignment_api.streams.assignor import TaskAssignor

__all__ = ["Found", "FoundConnectAssignor", "FoundTaskAssignor"]

P = TypeVar("P")
A = TypeVar("A")


@attrs.frozen
class Found(Generic[P]):
    """A metric, a scenario family, or an assignor of another kind than task assignors.

    Args:
        name: Its name; ``distribution:name`` if two distributions use the name.
        plugin: The item that the hook returned.
        distribution: Its distribution, or ``None`` for ``module:attribute`` outside of any.
        version: Version of that distribution, or ``None``.
    """

    name: str
    plugin: P
    distribution: str | None
    version: str | None


@attrs.frozen
class FoundTaskAssignor:
    """A selected task assignor.

    Args:
        name: Name of its results: its own name, even if an alias selected it; ``distribution:name`` if two
            distributions use the name; ``module:attribute`` if it was selected so.
        plugin: The item that the hook returned.
        distribution: Its distribution, or ``None`` for ``module:attribute`` outside of any.
        version: Version of that distribution, or ``None``.
    """

    name: str
    plugin: TaskAssignorPlugin
    distribution: str | None
    version: str | None

    def create(self) -> TaskAssignor:
        """A new assignor, as Kafka creates one for each rebalance; it is not yet configured.

        Raises:
            PluginLoadError: if the plugin's factory created something else. Errors of the factory pass through.
        """
        return made_by(self.name, self.plugin.factory, TaskAssignor, "assignment_api.TaskAssignor")


@attrs.frozen
class FoundConnectAssignor:
    """A selected assignor for Kafka Connect; arguments as for :class:`FoundTaskAssignor`."""

    name: str
    plugin: ConnectAssignorPlugin
    distribution: str | None
    version: str | None

    def create(self) -> ConnectAssignor:
        """A new assignor, as each worker has one for the lifetime of its process; it is not yet configured.

        Raises:
            PluginLoadError: if the plugin's factory created something else. Errors of the factory pass through.
        """
        return made_by(self.name, self.plugin.factory, ConnectAssignor, "assignment_api.connect.ConnectAssignor")


def made_by(name: str, factory: Callable[[], A], expected: type, known_as: str) -> A:
    """A new object from a plugin's factory, with its type checked.

    Args:
        name: The plugin's name, for the message.
        factory: Creates the object.
        expected: Its required class.
        known_as: Import path of that class for authors of plugins.

    Raises:
        PluginLoadError: if the factory created something else. Errors of the factory pass through.
    """
    made = factory()
    # A plugin's factory can return any object, whatever its type declares.
    if not isinstance(made, expected):
        raise PluginLoadError(
            f"assignor {name}: its factory made {type(made).__name__}, expected a subclass of {known_as}"
        )
    return made
