"""The world of a consumer group: clock, topics, processes of consumers, and what they poll.

A protocol is an object with the calls of :class:`SimulatedProtocol`.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from assignment_api.consumer import ConsumerTopic, PartitionAssignment
from assignment_api.consumer.assignment import PartitionsByTopic
from assignor_lab.kafka.coordinator.member_ids import MemberIds
from assignor_lab.model.decision import Decision, InstanceShare
from assignor_lab.model.events import GroupEvent, MemberFenced, RebalanceBegun
from assignor_lab.model.evidence import Evidence
from assignor_lab.model.moment import Moment
from assignor_lab.simulation.clock import VirtualClock
from assignor_lab.simulation.consumer.consumers import Consumer, ConsumerSettings, ConsumerTimings, Partition
from assignor_lab.simulation.consumer.polling import PollingLedger

__all__ = ["LOST", "PLAYED_EVIDENCE", "REBALANCED", "ConsumerWorld", "SimulatedProtocol", "flat", "grouped"]

PLAYED_EVIDENCE = Evidence.played()
#: Causes of ended polls.
REBALANCED, LOST = "rebalance", "lost"


class SimulatedProtocol(Protocol):
    """The calls of the world to a group's protocol."""

    def started(self, consumer: Consumer) -> None:
        """A process is ready to join."""

    def closed(self, consumer: Consumer, *, leaves: bool) -> None:
        """A process has closed in order; static members leave only with ``leaves``."""

    def resumed(self, consumer: Consumer) -> None:
        """A process goes on after it stood still."""

    def poll_timed_out(self, consumer: Consumer) -> None:
        """``max.poll.interval.ms`` passed without a poll."""

    def topics_changed(self) -> None:
        """Topics have more partitions, or a new topic exists."""

    def broker_restarted(self, down_ms: int, *, coordinates: bool) -> None:
        """A broker restarts, perhaps that of the group's coordinator."""

    def drift(self) -> None:
        """The heartbeats of the members drift apart while the group rests."""

    def has(self, consumer: Consumer) -> bool:
        """True if a process, perhaps one that has ended, is a member of the group."""

    def is_calm(self) -> bool:
        """True if no rebalance or reconciliation is under way."""


def flat(held: PartitionsByTopic) -> set[Partition]:
    return {(topic, each) for topic, numbers in held.items() for each in numbers}


def grouped(partitions: Iterable[Partition]) -> dict[str, tuple[int, ...]]:
    found: dict[str, list[int]] = {}
    for topic, number in sorted(partitions):
        found.setdefault(topic, []).append(number)
    return {topic: tuple(numbers) for topic, numbers in found.items()}


#: Calls the assignor of a strategy.
Decide = Callable[..., PartitionAssignment]


class ConsumerWorld:
    """Consumers, topics, and the ledger of polls.

    Args:
        decide: Returns the answer of a strategy's assignor to a state.
    """

    def __init__(
        self, timings: ConsumerTimings, topics: Mapping[str, ConsumerTopic], decide: Decide, seed: str
    ) -> None:
        self.timings, self.decide = timings, decide
        self.topics: dict[str, ConsumerTopic] = {}
        self.clock = VirtualClock()
        self.random = random.Random(f"consumers {seed}")  # noqa: S311 - a simulation, not a secret
        self.ids = MemberIds(seed)
        self.ledger = PollingLedger()
        self.consumers: dict[str, Consumer] = {}
        self.by_key: dict[str, Consumer] = {}
        self._starts = Counter[str]()
        self.events: list[GroupEvent] = []
        self.decisions: list[Decision] = []
        self.begun_ms: list[int] = []
        self.group: SimulatedProtocol
        #: Called after a fenced process has ended.
        self.on_fenced: Callable[[Consumer], None] = lambda _: None
        self.set_topics(topics.values())

    @property
    def now(self) -> int:
        return self.clock.now

    def event(self, kind: Callable[..., GroupEvent], **facts: object) -> None:
        self.events.append(kind(Moment.at(self.now), PLAYED_EVIDENCE, **facts))

    def rebalance_begins(self, reason: str) -> None:
        self.begun_ms.append(self.now)
        self.event(RebalanceBegun, reason=reason)

    def decided(
        self,
        protocol: str,
        number: int,
        targets: Mapping[str, Iterable[Partition]],
        ids: Mapping[str, str],
        reason: str,
    ) -> None:
        """Note an assignment: name to partitions, and name to member id."""
        shares = {
            name: InstanceShare(
                None, frozenset({ids[name]}), tuple(f"{topic}-{each}" for topic, each in sorted(targets[name]))
            )
            for name in sorted(targets)
        }
        before = self.decisions[-1].owners if self.decisions else {}
        owners = {task: name for name, share in shares.items() for task in share.active}
        moved = sum(before.get(task, name) != name and before[task] in shares for task, name in owners.items())
        self.decisions.append(
            Decision(
                Moment.at(self.now), PLAYED_EVIDENCE, protocol, number, shares, frozenset(map(str, self.tasks())),
                self.begun_ms[-1] if self.begun_ms else None, reason, moved=moved,
            )
        )  # fmt: skip

    def tasks(self) -> list[str]:
        return [f"{topic.name}-{each}" for topic in self.topics.values() for each in range(topic.partitions)]

    # --- topics -----------------------------------------------------------------------------------------

    def set_topics(self, topics: Iterable[ConsumerTopic]) -> None:
        for topic in topics:
            self.topics[topic.name] = topic
            for number in range(topic.partitions):
                self.ledger.exists((topic.name, number), self.now)

    def metadata(self) -> dict[str, int]:
        """The topics as a consumer reads them now."""
        return {name: topic.partitions for name, topic in self.topics.items()}

    def known_topics(self, metadata: Mapping[str, int]) -> dict[str, ConsumerTopic]:
        """The topics as a consumer with this metadata knows them."""
        return {
            name: topic if metadata[name] == topic.partitions else ConsumerTopic(name, metadata[name])
            for name, topic in self.topics.items()
            if name in metadata
        }

    def matching(self, settings: ConsumerSettings) -> tuple[str, ...]:
        """The subscription of a consumer that reads the metadata now."""
        found = [name for name in self.topics if settings.matching is not None and name.startswith(settings.matching)]
        return tuple(dict.fromkeys((*settings.topics, *sorted(found))))

    def subscribed(self, consumers: Iterable[Consumer]) -> set[str]:
        """Topics that these consumers want: partitions of others need no owner."""
        return {topic for each in consumers for topic in self.matching(each.settings)}

    # --- processes --------------------------------------------------------------------------------------

    def add(self, name: str, settings: ConsumerSettings) -> Consumer:
        number = self._starts[name] = self._starts[name] + 1
        key = name if number == 1 else f"{name}/{number}"
        made = Consumer(name, key, settings, self.matching(settings), metadata=self.metadata())
        self.consumers[name] = self.by_key[key] = made
        return made

    def ends(self, consumer: Consumer, cause: str) -> None:
        """The process ends: it polls no more."""
        self.releases(consumer, list(consumer.held), cause)
        consumer.is_up = False
        consumer.beat += 1
        if self.consumers.get(consumer.name) is consumer:
            del self.consumers[consumer.name]

    def fence(self, consumer: Consumer, member_id: str | None = None) -> None:
        """Another process has its ``group.instance.id``, which is fatal."""
        reason = f"another consumer has the group.instance.id {consumer.settings.instance_id}"
        self.event(MemberFenced, instance=consumer.name, member=member_id, reason=reason)
        self.ends(consumer, LOST)
        self.on_fenced(consumer)

    def takes(self, consumer: Consumer, partitions: Iterable[Partition]) -> None:
        added = set(partitions) - consumer.held
        consumer.held |= added
        if not self.stands_still(consumer):
            self.ledger.begins(consumer, sorted(added), self.now)

    def releases(self, consumer: Consumer, partitions: Iterable[Partition], cause: str) -> None:
        gone = sorted(set(partitions) & consumer.held)
        consumer.held.difference_update(gone)
        self.ledger.ends(consumer, gone, self.now, cause)

    def stands_still(self, consumer: Consumer) -> bool:
        return self.now < max(consumer.silent_until_ms, consumer.busy_until_ms)

    def stand_still(self, consumer: Consumer, for_ms: int, *, beats: bool) -> None:
        """The poll loop, or the whole process without its heartbeats, stands still."""
        until_ms, begun_ms = self.now + for_ms, self.now
        self.ledger.ends(consumer, sorted(consumer.held), self.now, "standing still")
        if beats:
            consumer.busy_until_ms = max(until_ms, consumer.busy_until_ms)
            self.clock.after(self.timings.max_poll_interval_ms, lambda: self._poll_timeout(consumer, begun_ms))
        else:
            consumer.silent_until_ms = max(until_ms, consumer.silent_until_ms)
        self.clock.at(until_ms, lambda: self._resume(consumer))

    def _poll_timeout(self, consumer: Consumer, begun_ms: int) -> None:
        if consumer.is_up and self.now < consumer.busy_until_ms and begun_ms < self.now:
            self.group.poll_timed_out(consumer)

    def _resume(self, consumer: Consumer) -> None:
        if consumer.is_up and not self.stands_still(consumer):
            self.ledger.begins(consumer, sorted(consumer.held), self.now)
            self.group.resumed(consumer)

    # --- waits ------------------------------------------------------------------------------------------

    def at_poll(self, consumer: Consumer, action: Callable[[], None]) -> None:
        """Call ``action`` at the next poll of a consumer, if its process still runs then.

        A consumer without partitions waits inside a poll.
        """
        wait_ms = self.random.randint(0, self.timings.poll_ms) if consumer.held else 0
        self._when_awake(consumer, self.now + wait_ms, action)

    def _when_awake(self, consumer: Consumer, at_ms: int, action: Callable[[], None]) -> None:
        def due() -> None:
            if not consumer.is_up:
                return
            if self.stands_still(consumer):
                self._when_awake(consumer, max(consumer.silent_until_ms, consumer.busy_until_ms), action)
            else:
                action()

        self.clock.at(at_ms, due)

    def run_until(self, end_ms: int) -> None:
        while self.clock.step(end_ms):
            pass
        self.clock.now = max(self.clock.now, end_ms)
