"""Interface of each kind of group for the kit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from assignment_api.conformance.history import Capabilities, Event, History
from assignment_api.conformance.subject import Answering

__all__ = ["Kind", "Trouble", "World"]

S = TypeVar("S")

#: Violated rule and sentence.
Trouble = tuple[str, str]


class World(ABC, Generic[S]):
    """A small simulated group: its events, and its reactions to answers."""

    #: Rebalances after the last event to settle in.
    bound: int

    @abstractmethod
    def state(self) -> S:
        """The present input of an assignor."""

    @abstractmethod
    def configs(self) -> Mapping[str, Any]:
        """Kafka's configuration of the group."""

    @abstractmethod
    def happens(self, event: Event) -> None:
        """Apply an event; an impossible one changes nothing."""

    @abstractmethod
    def carry_out(self, state: S, answer: Any) -> None:
        """Apply an answer to the members."""

    @abstractmethod
    def rest(self) -> None:
        """Let time pass until all assigned tasks are ready."""


class Kind(ABC, Generic[S]):
    """A kind of group; ``S``: input of its assignors."""

    name: str
    answering: Answering[S]
    events: tuple[str, ...]
    #: Largest type of tasks (:class:`~assignment_api.conformance.history.History`).
    sorts: int = 2
    #: Largest number of a member.
    most_of_member: int = 3
    #: Numbers of sub-topologies or connectors, the frequent ones repeatedly.
    parts: tuple[int, ...] = (1, 2, 3)
    most_standbys: int = 2
    #: False: Kafka calls no assignor for a group without members.
    is_called_without_members: bool = True
    may_be_empty: bool = True
    settings: Mapping[str, int] = MappingProxyType({})
    delays: tuple[int, ...] = (0,)

    @abstractmethod
    def world(self, history: History, capabilities: Capabilities) -> World[S]:
        """The group at the beginning of a history."""

    def badly_typed(self, answer: object) -> str | None:
        """Part of the answer with a wrong type, as a sentence, or None."""
        return self.answering.badly_typed(answer)

    @abstractmethod
    def troubles(self, state: S, answer: Any) -> Iterator[Trouble]:
        """Rules that a well-typed answer violates, Kafka's own checks first."""

    @abstractmethod
    def placement(self, state: S, answer: Any) -> Any:
        """Owner of each task, as canonical JSON."""

    def has_members(self, state: S) -> bool:
        """True if a member can run tasks: then an assignor may not refuse."""
        return self.answering.has_members(state)

    @abstractmethod
    def asks_again(self, state: S, answer: Any) -> bool:
        """True if the answer causes another rebalance."""

    def work(self, state: S, answer: Any) -> Mapping[str, Sequence[str]]:
        """Member (all of them) to its running tasks after the answer."""
        placed = self.placement(state, answer)
        return {member: placed[member][0] if member in placed else [] for member in self.threads(state)}

    @abstractmethod
    def threads(self, state: S) -> Mapping[str, int]:
        """Member, as in a placement, to its threads."""

    def to_restore(self, state: S, answer: Any) -> float:
        """Changelog records that active tasks lack; 0 without lags."""
        return 0.0

    def racks_crossed(self, state: S, answer: Any) -> float:
        """Active tasks in another rack than their partitions; 0 for kinds without these."""
        return 0.0

    @abstractmethod
    def turned(self, state: S) -> S:
        """The state with all unordered parts in opposite order."""

    @abstractmethod
    def documents(self, states: Sequence[S], name: str) -> list[dict[str, Any]]:
        """States as scenario documents of format 1."""

    @abstractmethod
    def sized(self, number: int, capabilities: Capabilities) -> S:
        """A state of about ``number`` tasks with a new member, to measure time."""
