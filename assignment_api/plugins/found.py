"""Found plugins: each together with the distribution that it came from."""

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
        name: Its name; ``distribution:name`` where two distributions use the name.
        plugin: What the hook returned.
        distribution: Distribution that it came from, or ``None`` for ``module:attribute`` outside of any.
        version: Version of that distribution, or ``None``.
    """

    name: str
    plugin: P
    distribution: str | None
    version: str | None


@attrs.frozen
class FoundTaskAssignor:
    """A task assignor that was selected.

    Args:
        name: Name under which its results are filed: its own name, whatever alias selected it; ``distribution:name``
            where two distributions use the name; ``module:attribute`` where it was selected so.
        plugin: What the hook returned.
        distribution: Distribution that it came from, or ``None`` for ``module:attribute`` outside of any.
        version: Version of that distribution, or ``None``.
    """

    name: str
    plugin: TaskAssignorPlugin
    distribution: str | None
    version: str | None

    def create(self) -> TaskAssignor:
        """A new assignor, as Kafka makes one for each rebalance; it is not yet configured.

        Raises:
            PluginLoadError: if the plugin's factory made something else. What the factory raises passes through.
        """
        return made_by(self.name, self.plugin.factory, TaskAssignor, "assignment_api.TaskAssignor")


@attrs.frozen
class FoundConnectAssignor:
    """An assignor for Kafka Connect that was selected; arguments as for :class:`FoundTaskAssignor`."""

    name: str
    plugin: ConnectAssignorPlugin
    distribution: str | None
    version: str | None

    def create(self) -> ConnectAssignor:
        """A new assignor, as each worker has one for as long as its process lives; it is not yet configured.

        Raises:
            PluginLoadError: if the plugin's factory made something else. What the factory raises passes through.
        """
        return made_by(self.name, self.plugin.factory, ConnectAssignor, "assignment_api.connect.ConnectAssignor")


def made_by(name: str, factory: Callable[[], A], expected: type, known_as: str) -> A:
    """What the factory of a plugin makes, once it is of the kind that it is to be.

    Args:
        name: The plugin's name, for the message.
        factory: Makes it.
        expected: Class that it has to be of.
        known_as: Where authors of plugins import that class from.

    Raises:
        PluginLoadError: if the factory made something else. What the factory raises passes through.
    """
    made = factory()
    # The plugin's factory may be anybody's, whatever its type says.
    if not isinstance(made, expected):
        raise PluginLoadError(
            f"assignor {name}: its factory made {type(made).__name__}, expected a subclass of {known_as}"
        )
    return made
