"""A conductor's view of a group, and its actions at simulated moments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from assignor_lab.model.streams_episodes import NO_DETAILS, EventDetails, StreamsEvent
from assignor_lab.simulation.streams.generations import Generation
from assignor_lab.simulation.streams.world import SimulatedWorld

__all__ = ["Conductor", "Stage"]


class _Group(Protocol):
    generations: list[Generation]

    def is_complete(self) -> bool:
        """True if running threads and members match, and no rebalance is in progress."""


class Stage:
    """A conductor's view of a simulated group."""

    def __init__(self, world: SimulatedWorld, group: _Group, happen: Callable[[StreamsEvent], None]) -> None:
        self.world = world
        self._group = group
        self._happen = happen
        #: Scheduled times of the conductor's calls.
        self._looks: set[int] = set()

    @property
    def now_ms(self) -> int:
        return self.world.clock.now - self.world.begin_ms

    @property
    def generations(self) -> Sequence[Generation]:
        return self._group.generations

    def do(self, event: str, client: str, details: EventDetails = NO_DETAILS) -> None:
        self._happen(StreamsEvent(self.now_ms, event, client, details))

    def after(self, delay_ms: int, action: Callable[[], None]) -> None:
        self.world.clock.after(delay_ms, action)

    def is_ready(self, client: str) -> bool:
        """True if each thread of a process has initialised an assignment and runs all its active tasks."""
        instance = self.world.instances.get(client)
        if instance is None or not instance.is_up:
            return False
        if not all(
            thread.is_assigned and not thread.waits and thread.active <= thread.running for thread in instance.threads
        ):
            return False
        initialised_ms = max(thread.initialised_ms for thread in instance.threads)
        if initialised_ms <= self.world.clock.now:
            return True
        if initialised_ms not in self._looks:
            self._looks.add(initialised_ms)
            self.world.clock.at(initialised_ms, lambda: None)
        return False

    def is_complete(self) -> bool:
        """True if running threads and members match, and no rebalance is in progress."""
        return self._group.is_complete()

    def runs_all(self) -> bool:
        ledger = self.world.ledger
        return self.is_complete() and all(ledger.owner(task) is not None for task in range(len(self.world.tasks)))

    def is_calm(self) -> bool:
        """True if each task runs, copies follow, and nothing is pending."""
        world = self.world
        generations = self._group.generations
        return (
            (not generations or generations[-1].followup == "none")
            and self.runs_all()
            and all(
                not store.is_open or store.follows
                for each in world.instances.values()
                for store in each.stores.values()
            )
        )


class Conductor(Protocol):
    """Applies events at times that depend on the simulation."""

    def begin(self, stage: Stage) -> None: ...

    def is_over(self) -> bool:
        """Called after each step of the clock; true ends the simulation."""
