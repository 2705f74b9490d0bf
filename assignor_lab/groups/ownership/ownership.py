"""Holding: the holders and roles of tasks before and after an answer, for any kind of group.

Tasks and clients are texts here, as in documents: the results are shown to people.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Generic, Protocol, TypeVar

import attrs

from assignor_lab.scenarios import Scenario

__all__ = ["ACTIVE", "NOBODY_LABEL", "STANDBY", "WARMUP", "PossibleOwner", "Ownership", "OwnershipOf", "held"]

S_contra = TypeVar("S_contra", contravariant=True)
A = TypeVar("A")

ACTIVE, STANDBY, WARMUP = "active", "standby", "warmup"
NOBODY_LABEL = "nobody"


@attrs.frozen
class PossibleOwner:
    """A possible holder of tasks; see :class:`assignor_lab.groups.ownership.labels.NamedClient`."""

    process_id: str
    host: str | None = None
    consumers: tuple[str, ...] = ()
    process: str | None = None


@attrs.frozen
class Ownership:
    """The holders of tasks."""

    roles: Mapping[str, Mapping[str, str]]

    def owner(self, task: str) -> str | None:
        """The client that runs a task; the first of several, ``None`` if there is none."""
        return next((client for client, role in self.roles.get(task, {}).items() if role == ACTIVE), None)

    def copies(self, task: str) -> frozenset[str]:
        """Clients with a copy of a task that do not run it."""
        return frozenset(client for client, role in self.roles.get(task, {}).items() if role != ACTIVE)

    def role(self, task: str, client: str) -> str | None:
        """Role of a client in a task, or ``None``."""
        return self.roles.get(task, {}).get(client)


def held(entries: Iterable[tuple[str, str, str]]) -> Ownership:
    roles: dict[str, dict[str, str]] = {}
    for client, role, task in entries:
        of_task = roles.setdefault(task, {})
        if of_task.get(client) != ACTIVE:
            of_task[client] = role
    return Ownership(roles)


class OwnershipOf(Protocol, Generic[S_contra, A]):
    """Reads states and answers of one kind as holders of tasks."""

    @property
    def noun(self) -> str: ...

    @property
    def default_assignor(self) -> str: ...

    def clients(self, state: S_contra) -> tuple[PossibleOwner, ...]:
        """The clients, in the order of the state."""

    def tasks(self, state: S_contra) -> tuple[str, ...]:
        """All tasks, in Kafka's order."""

    def before(self, state: S_contra) -> Ownership:
        """The holders before the decision; only present clients and existing tasks."""

    def after(self, state: S_contra, answer: A) -> Ownership: ...

    def answer(self, scenario: Scenario, number: int, state: S_contra, line: Mapping[str, Any]) -> A | None:
        """The answer to a round in a result line, or in a scenario's ``observed``; ``None`` if this round's is unknown.

        Raises:
            AssignorLabError: a subclass, if there is none in it.
        """
