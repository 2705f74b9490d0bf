"""Consumers of a simulated group: their settings, timings and present part in the group."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping

import attrs

from assignor_lab.kafka.coordinator.session_timeout import check_timeouts
from assignor_lab.simulation.consumer.client_libraries import JAVA, LibraryRules

__all__ = [
    "CLASSIC",
    "CONSUMER",
    "TIMINGS_OF_CONSUMERS",
    "ConsumerSettings",
    "ConsumerTimings",
    "Partition",
    "Consumer",
]

#: Values of ``group.protocol``.
CLASSIC, CONSUMER = "classic", "consumer"
Partition = tuple[str, int]
#: Strategies under which members keep partitions during a rebalance.
_COOPERATIVE = frozenset({"cooperative-sticky", "consumer_cooperative_sticky"})
_LAST_PART = "CooperativeStickyAssignor"
#: Settings of Kafka, of clients and brokers, to timings.
TIMINGS_OF_CONSUMERS: Mapping[str, str] = {
    "session.timeout.ms": "session_timeout_ms",
    "heartbeat.interval.ms": "heartbeat_interval_ms",
    "max.poll.interval.ms": "max_poll_interval_ms",
    "metadata.max.age.ms": "metadata_max_age_ms",
    "group.initial.rebalance.delay.ms": "initial_rebalance_delay_ms",
    "group.consumer.heartbeat.interval.ms": "group_heartbeat_interval_ms",
    "group.consumer.session.timeout.ms": "group_session_timeout_ms",
    "group.consumer.assignment.interval.ms": "assignment_interval_ms",
}
#: Timings that depend on the machine, and standard deviations of their logarithms: of all together, and of each.
_OF_MACHINE = ("request_ms", "assign_ms", "close_ms", "start_ms")
_TOGETHER, _EACH = 0.15, 0.2


@attrs.frozen
class ConsumerTimings:
    """Settings of time, and durations of the machine, in milliseconds.

    Args:
        poll_ms: From one poll to the next: records of a poll times the time of each record.
        revoke_ms: Time of ``onPartitionsRevoked``.
        start_ms: From the start of a process to its first request.
        close_ms: From the end of polling to LeaveGroup and the end of the process.
        request_ms: From a request to its reply.
    """

    heartbeat_interval_ms: int = 3_000
    session_timeout_ms: int = 45_000
    max_poll_interval_ms: int = 300_000
    metadata_max_age_ms: int = 300_000
    initial_rebalance_delay_ms: int = 3_000
    group_heartbeat_interval_ms: int = 5_000
    group_session_timeout_ms: int = 45_000
    assignment_interval_ms: int = 1_000
    poll_ms: int = 100
    revoke_ms: int = 0
    start_ms: int = 2_000
    close_ms: int = 60
    request_ms: int = 25
    assign_ms: int = 5

    def drawn(self, chance: random.Random) -> ConsumerTimings:
        """The timings of one play; settings of Kafka stay as they are."""
        common = chance.gauss(0, _TOGETHER)
        return attrs.evolve(
            self,
            **{
                name: max(1, round(getattr(self, name) * math.exp(common + chance.gauss(0, _EACH))))
                for name in _OF_MACHINE
            },
        )

    def __attrs_post_init__(self) -> None:
        check_timeouts(self.session_timeout_ms, self.heartbeat_interval_ms)
        check_timeouts(self.group_session_timeout_ms, self.group_heartbeat_interval_ms, "group.consumer.")


@attrs.frozen
class ConsumerSettings:
    """Settings of one consumer.

    Args:
        topics: Subscribed topics; those that ``matching`` adds are found in the metadata.
        matching: Beginning of the names that a pattern matches; ``None``: no pattern.
        strategies: ``partition.assignment.strategy`` by preference.
        member_id: Recorded member id, used once; ``None``: drawn.
        assignor: ``group.remote.assignor`` of KIP-848; ``None``: the broker's default.
        rules: Of its client library, under the classic protocol.
    """

    topics: tuple[str, ...]
    strategies: tuple[str, ...] = ("range",)
    client_id: str = "consumer"
    instance_id: str | None = None
    rack: str | None = None
    matching: str | None = None
    protocol: str = CLASSIC
    member_id: str | None = None
    assignor: str | None = None
    rules: LibraryRules = JAVA

    @property
    def decides(self) -> str:
        """The strategy that it prefers, or the assignor of the broker."""
        return self.strategies[0] if self.protocol == CLASSIC else self.assignor or "uniform"

    @property
    def is_cooperative(self) -> bool:
        """A consumer takes the highest protocol that all its strategies support (KIP-429)."""
        return all(each in _COOPERATIVE or each.endswith(_LAST_PART) for each in self.strategies)


@attrs.define(eq=False)
class Consumer:
    """One process of a consumer.

    Args:
        key: Its name, with a number from its second process on: the address of replies.
        held: Partitions that it holds.
        left_with: Partitions of its last assignment, which ``StickyAssignor`` reports.
        generation: Generation, or epoch of KIP-848; -1 without membership.
        held_generation: Generation of its last assignment; -1 after a loss.
        beat: Number of its present series of heartbeats; a new one ends the former.
        turn: Number of its present join or reconciliation; a new one ends the former.
        silent_until_ms: The process stands still until then.
        busy_until_ms: The poll loop processes records until then; heartbeats continue.
        joins: A join is due at its next poll, or is on its way.
        left: It left since it did not poll in time, and has not noticed.
        metadata: Topic to its number of partitions, as last read.
        due_ms: Its next heartbeat, if no rebalance comes in between.
        is_late: It did not poll in time, and its library has not looked.
    """

    name: str
    key: str
    settings: ConsumerSettings
    topics: tuple[str, ...]
    held: set[Partition] = attrs.field(factory=set)
    left_with: frozenset[Partition] = frozenset()
    member_id: str | None = None
    generation: int = -1
    held_generation: int = -1
    beat: int = 0
    turn: int = 0
    silent_until_ms: int = 0
    busy_until_ms: int = 0
    joins: bool = False
    left: bool = False
    metadata: Mapping[str, int] = attrs.field(factory=dict)
    due_ms: int = 0
    is_late: bool = False
    is_up: bool = True
    is_closing: bool = False
