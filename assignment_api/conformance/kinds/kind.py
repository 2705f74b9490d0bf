"""The protocol of a kind of group, as the kit tries assignors of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

from assignment_api.conformance.history import Capabilities, Event, History
from assignment_api.conformance.subject import Answering

__all__ = ["Kind", "Trouble", "World"]

S = TypeVar("S")

#: A rule that an answer breaks, and what was found, in a sentence.
Trouble = tuple[str, str]


class World(ABC, Generic[S]):
    """A small group, played: what happens to it, and what it does with the answers that it is given."""

    #: Rebalances after the last event within which the group has to come to rest.
    bound: int

    @abstractmethod
    def state(self) -> S:
        """What an assignor would be asked now."""

    @abstractmethod
    def configs(self) -> Mapping[str, Any]:
        """Kafka's configuration of the group, for ``configure``."""

    @abstractmethod
    def happens(self, event: Event) -> None:
        """Something happens; an event that cannot happen now changes nothing."""

    @abstractmethod
    def carry_out(self, state: S, answer: Any) -> None:
        """Members take what they were given."""

    @abstractmethod
    def rest(self) -> None:
        """Time passes in which everything that was given becomes ready, and the next rebalance is due."""


class Kind(ABC, Generic[S]):
    """A kind of group. ``S`` is what an assignor is asked."""

    #: ``streams``, ``streams-group`` or ``connect``, as scenario files say it.
    name: str
    #: How its assignors are called.
    answering: Answering[S]
    #: Words of events, the simplest first.
    events: tuple[str, ...]
    #: What tasks can be, as :class:`~assignment_api.conformance.history.History` counts it: 0 up to this.
    sorts: int = 2
    #: What the number of a member says at most, from 1.
    most_of_member: int = 3
    #: Delays that a group can have.
    delays: tuple[int, ...] = (0,)

    @abstractmethod
    def world(self, history: History, capabilities: Capabilities) -> World[S]:
        """The group at the beginning of a history."""

    @abstractmethod
    def badly_typed(self, answer: object) -> str | None:
        """What in an answer is not of the type that the interface says, in a sentence."""

    @abstractmethod
    def troubles(self, state: S, answer: Any) -> Iterator[Trouble]:
        """Rules that a well-typed answer breaks; those that Kafka itself refuses come first."""

    @abstractmethod
    def placement(self, state: S, answer: Any) -> Any:
        """Who runs what then, as JSON in an order that says nothing."""

    @abstractmethod
    def asks_again(self, state: S, answer: Any) -> bool:
        """Whether a further rebalance follows from the answer itself."""

    @abstractmethod
    def turned(self, state: S) -> S:
        """The same state with everything that has no order in the opposite one."""

    @abstractmethod
    def documents(self, states: Sequence[S], name: str) -> list[dict[str, Any]]:
        """The states that were asked as scenario documents of format 1, in order."""

    @abstractmethod
    def sized(self, number: int) -> S:
        """A state of about ``number`` tasks that somebody just joined, for the time that an answer takes."""
