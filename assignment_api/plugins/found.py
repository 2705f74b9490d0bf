"""Found plugins with their distributions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

import attrs

from assignment_api.connect import ConnectAssignor
from assignment_api.plugins.errors import PluginLoadError
from assignment_api.streams.assignor import TaskAssignor

if TYPE_CHECKING:
    from collections.abc import Callable

    from assignment_api.plugins.entries import ConnectAssignorPlugin, TaskAssignorPlugin

__all__ = ["Found", "FoundConnectAssignor", "FoundTaskAssignor"]

P = TypeVar("P")
A = TypeVar("A")


@attrs.frozen
class Found(Generic[P]):
    """A metric, a scenario family, or an assignor of another kind than task assignors.

    Args:
        name: ``distribution:name`` if two distributions use it.
        distribution: ``None`` for ``module:attribute`` outside of any.
        installed: As for :class:`FoundTaskAssignor`.
    """

    name: str
    plugin: P
    distribution: str | None
    version: str | None
    installed: frozenset[str] | None = attrs.field(default=None, repr=False)


@attrs.frozen
class FoundTaskAssignor:
    """A selected task assignor.

    Args:
        name: Name of its results: its own, not an alias; ``distribution:name`` if ambiguous; ``module:attribute`` if
            selected so.
        distribution: ``None`` for ``module:attribute`` outside of any.
        installed: Names of installed plugins, for ``module:attribute``: it gets all settings but theirs. ``None``: it
            gets the settings of its own name.
    """

    name: str
    plugin: TaskAssignorPlugin
    distribution: str | None
    version: str | None
    installed: frozenset[str] | None = attrs.field(default=None, repr=False)

    def create(self) -> TaskAssignor:
        """A new, unconfigured assignor for one rebalance.

        Raises:
            PluginLoadError: if the factory created something else.
        """
        return made_by(self.name, self.plugin.factory, TaskAssignor, "assignment_api.TaskAssignor")


@attrs.frozen
class FoundConnectAssignor:
    """A selected assignor for Kafka Connect, as :class:`FoundTaskAssignor`."""

    name: str
    plugin: ConnectAssignorPlugin
    distribution: str | None
    version: str | None
    installed: frozenset[str] | None = attrs.field(default=None, repr=False)

    def create(self) -> ConnectAssignor:
        """A new, unconfigured assignor for the lifetime of a worker's process.

        Raises:
            PluginLoadError: if the factory created something else.
        """
        return made_by(self.name, self.plugin.factory, ConnectAssignor, "assignment_api.connect.ConnectAssignor")


def made_by(name: str, factory: Callable[[], A], expected: type, known_as: str) -> A:
    """A new object from a plugin's factory, with its type checked.

    Args:
        name: For the message.
        known_as: Import path of ``expected`` for authors.

    Raises:
        PluginLoadError: if the factory created something else. Errors of the factory pass through.
    """
    made = factory()
    if not isinstance(made, expected):
        raise PluginLoadError(
            f"assignor {name}: its factory made {type(made).__name__}, expected a subclass of {known_as}"
        )
    return made
