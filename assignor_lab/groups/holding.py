"""Holding: who holds which task in which role, before an answer and after it, whatever the kind of group.

Tasks and clients are texts here, as documents have them: what is made of this is shown to people.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Generic, Protocol, TypeVar

import attrs

from assignor_lab.scenarios import Scenario

__all__ = ["ACTIVE", "NOBODY_LABEL", "STANDBY", "WARMUP", "Client", "Held", "HoldingOf", "held"]

S_contra = TypeVar("S_contra", contravariant=True)
A = TypeVar("A")

ACTIVE, STANDBY, WARMUP = "active", "standby", "warmup"
#: What stands for a client where there is none.
NOBODY_LABEL = "nobody"


@attrs.frozen
class Client:
    """Who may hold tasks; see :class:`assignor_lab.groups.labels.NamedClient`."""

    process_id: str
    host: str | None = None
    consumers: tuple[str, ...] = ()
    process: str | None = None


@attrs.frozen
class Held:
    """Who holds which task.

    Args:
        roles: Task to client to role; a client has one role for a task, the active one where it is given two.
    """

    roles: Mapping[str, Mapping[str, str]]

    def owner(self, task: str) -> str | None:
        """Who runs a task; the first where several do, ``None`` where nobody does."""
        return next((client for client, role in self.roles.get(task, {}).items() if role == ACTIVE), None)

    def copies(self, task: str) -> frozenset[str]:
        """Who has a copy of a task without running it."""
        return frozenset(client for client, role in self.roles.get(task, {}).items() if role != ACTIVE)

    def role(self, task: str, client: str) -> str | None:
        """Role of a client in a task, or ``None``."""
        return self.roles.get(task, {}).get(client)


def held(entries: Iterable[tuple[str, str, str]]) -> Held:
    """What entries of client, role and task say."""
    roles: dict[str, dict[str, str]] = {}
    for client, role, task in entries:
        of_task = roles.setdefault(task, {})
        if of_task.get(client) != ACTIVE:
            of_task[client] = role
    return Held(roles)


class HoldingOf(Protocol, Generic[S_contra, A]):
    """How states and answers of one kind are read as who holds what."""

    @property
    def noun(self) -> str:
        """What is held: ``task`` or ``job``."""

    @property
    def default_assignor(self) -> str:
        """Who is asked where nobody is named."""

    def clients(self, state: S_contra) -> tuple[Client, ...]:
        """Who is there, in the order of the state."""

    def tasks(self, state: S_contra) -> tuple[str, ...]:
        """What there is to be held, in Kafka's order."""

    def before(self, state: S_contra) -> Held:
        """Who held what when the state was asked about; only those who are still there, and tasks that there are."""

    def after(self, state: S_contra, answer: A) -> Held:
        """Who holds what by an answer."""

    def answer(self, scenario: Scenario, number: int, state: S_contra, line: Mapping[str, Any]) -> A | None:
        """The answer to a round in a result line, or in a scenario's ``observed``; ``None``: not known of this round.

        Raises:
            AssignorLabError: a subclass, if there is none in it.
        """
