"""A classic consumer group: join, sync, heartbeats, eager and cooperative revocation (KIP-429), static members.

The broker's rules are :mod:`assignor_lab.kafka.coordinator`, as for Streams and Connect.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from functools import partial

from assignment_api.consumer import ConsumerGroupState, ConsumerSubscription
from assignment_api.consumer.assignment import PartitionsByTopic
from assignor_lab.kafka.coordinator import (
    AddressedReply,
    Coordinator,
    CoordinatorState,
    JoinReply,
    JoinRequest,
    Refused,
    Synced,
    SyncRequest,
)
from assignor_lab.kafka.wire.consumer.user_data import (
    StickyUserData,
    encode_cooperative_user_data,
    encode_sticky_user_data,
)
from assignor_lab.model.events import MemberExpired, PollTimedOut
from assignor_lab.simulation.clock import DeadlineTimer
from assignor_lab.simulation.consumer.consumers import CLASSIC, Consumer, Partition
from assignor_lab.simulation.consumer.world import LOST, REBALANCED, ConsumerWorld, flat, grouped

__all__ = ["ClassicConsumerGroup"]

#: Fewest and most heartbeats between two changes.
_BEATS = (3, 30_000)


class ClassicConsumerGroup:
    """The group.

    Args:
        forming: Number of consumers that form the group at once; 0: an empty group, with the initial delay.
        present: The first answer by name, in place of the assignor's; ``None``: none.
        first_leader: Name of the consumer that leads first.
    """

    def __init__(
        self,
        world: ConsumerWorld,
        forming: int = 0,
        present: Mapping[str, PartitionsByTopic] | None = None,
        first_leader: str | None = None,
        generation: int = 0,
    ) -> None:
        self._world, self._clock, self._present = world, world.clock, present
        self._coordinator = Coordinator(world.timings.initial_rebalance_delay_ms, forming, self._identity, first_leader)
        self._coordinator.generation = generation
        self._phase = 0
        self._timer = DeadlineTimer(self._clock, self._coordinator.next_deadline, self._expire)
        self._looks = False
        #: No request is answered before.
        self._down_until_ms = 0

    def _identity(self, request: JoinRequest) -> str:
        settings = self._world.by_key[request.worker].settings
        recorded = () if settings.member_id is None else (settings.member_id,)
        return self._world.ids.new(settings.instance_id or settings.client_id, recorded)

    # --- calls of the world -----------------------------------------------------------------------------

    def started(self, consumer: Consumer) -> None:
        self._join(consumer)

    def closed(self, consumer: Consumer, *, leaves: bool) -> None:
        is_static = consumer.settings.instance_id is not None and not leaves
        if consumer.member_id is not None and not is_static and not consumer.left:
            self._deliver(self._coordinator.leave(self._world.now, consumer.member_id, "left the group"))

    def resumed(self, consumer: Consumer) -> None:
        if consumer.left:
            consumer.left = False
            self._loses(consumer)

    def poll_timed_out(self, consumer: Consumer) -> None:
        """The heartbeat thread sends LeaveGroup, but for static members; heartbeats end."""
        if consumer.member_id is None or consumer.left:
            return
        looks_ms, consumer.is_late = consumer.settings.rules.looks_ms, True
        if looks_ms is not None:
            wait_ms = self._world.random.randint(0, looks_ms)
            self._clock.after(wait_ms, partial(self._leaves_late, consumer, consumer.busy_until_ms))

    def _leaves_late(self, consumer: Consumer, until_ms: int) -> None:
        identity = consumer.member_id
        if identity is None or consumer.left or not consumer.is_up or self._world.now >= until_ms:
            return
        interval_ms = self._world.timings.max_poll_interval_ms
        self._world.event(PollTimedOut, instance=consumer.name, interval_ms=interval_ms)
        consumer.left, consumer.is_late, consumer.beat = True, False, consumer.beat + 1
        if consumer.settings.instance_id is None:
            self._deliver(self._coordinator.leave(self._world.now, identity, "did not poll in time"))

    def topics_changed(self) -> None:
        """Each consumer finds it in its own metadata."""
        for consumer in list(self._world.consumers.values()):
            wait_ms = self._world.random.randint(0, self._world.timings.metadata_max_age_ms)
            self._clock.after(wait_ms, partial(self._refreshes, consumer))

    def _refreshes(self, consumer: Consumer) -> None:
        """The leader rejoins if topics of its group have changed, and a consumer with a pattern if its own have."""
        before, consumer.metadata = consumer.metadata, self._world.metadata()
        matched = self._world.matching(consumer.settings)
        if consumer.settings.rules.all_watch:
            watched: Iterable[str] = matched
        elif self._leader() is consumer:
            members = (each for each in self._world.consumers.values() if self.has(each))
            watched = {topic for each in members for topic in each.topics}
        else:
            watched = ()
        has_changed = any(before.get(topic) != consumer.metadata.get(topic) for topic in watched)
        if matched != consumer.topics or has_changed:
            self._must_join(consumer, "cached metadata has changed")

    def broker_restarted(self, down_ms: int, *, coordinates: bool) -> None:
        """Sessions restart with the coordinator. The leader sees replicas without racks, then with them."""
        racks = any(topic.racks for topic in self._world.topics.values())
        leader = self._leader()
        if racks and leader is not None and leader.settings.rack:
            for after_ms in (0, down_ms):
                self._clock.after(after_ms, lambda: self._must_join(leader, "racks of replicas have changed"))
        if coordinates:
            self._down_until_ms = self._world.now + down_ms
            self._clock.after(down_ms, self._loaded)

    def _loaded(self) -> None:
        for consumer in self._world.consumers.values():
            if consumer.member_id is not None and not consumer.left:
                self._coordinator.heartbeat(self._world.now, consumer.member_id)
        self._look()

    @property
    def generation(self) -> int:
        return self._coordinator.generation

    def adopt(self, consumer: Consumer) -> None:
        """A member of the group under its former protocol joins at its next heartbeat."""
        consumer.member_id, consumer.beat, consumer.joins = None, consumer.beat + 1, False
        wait_ms = self._world.random.randint(0, self._world.timings.heartbeat_interval_ms)
        self._clock.after(wait_ms, partial(self._must_join, consumer, "the group has moved to the classic protocol"))

    def drift(self) -> None:
        """A sync begins all intervals together, and each heartbeat is a little late.

        The time since the last sync is unknown: from a few heartbeats to a day.
        """
        world, interval_ms = self._world, self._world.timings.heartbeat_interval_ms
        common = world.random.randrange(interval_ms)
        beats = math.exp(world.random.uniform(*map(math.log, _BEATS)))
        for consumer in world.consumers.values():
            consumer.beat += 1
            late_ms = int(world.random.gauss(0, consumer.settings.rules.late_ms * math.sqrt(beats / 12)))
            beat = partial(self._beat, consumer, consumer.beat)
            self._clock.after(1 + (common + late_ms) % interval_ms, beat)

    def has(self, consumer: Consumer) -> bool:
        return self._coordinator.is_member(consumer.member_id)

    def is_calm(self) -> bool:
        stable = self._coordinator.state in (CoordinatorState.STABLE, CoordinatorState.EMPTY)
        return stable and not any(each.joins for each in self._world.consumers.values())

    # --- requests ---------------------------------------------------------------------------------------

    def _leader(self) -> Consumer | None:
        leader = self._coordinator.leader_id
        return next((each for each in self._world.consumers.values() if each.member_id == leader), None)

    def _must_join(self, consumer: Consumer, reason: str) -> None:
        """A consumer joins at its next poll; before, eager ones revoke all."""
        if consumer.joins or not consumer.is_up or consumer.is_closing:
            return
        consumer.joins, consumer.turn = True, consumer.turn + 1
        rules, prepares = consumer.settings.rules, partial(self._prepares, consumer, reason, consumer.turn)
        if rules.joins_in_background and consumer.settings.is_cooperative:
            prepares()
        else:
            self._world.at_poll(consumer, prepares)

    def _prepares(self, consumer: Consumer, reason: str, turn: int) -> None:
        if consumer.is_closing or not consumer.is_up or consumer.turn != turn or consumer.left:
            return
        if consumer.settings.matching is not None:
            # A pattern is matched with new metadata before each join.
            consumer.metadata = self._world.metadata()
        consumer.topics = self._world.matching(consumer.settings)
        if consumer.settings.is_cooperative:
            gone = [each for each in consumer.held if each[0] not in consumer.topics]
        else:
            gone = list(consumer.held)
            consumer.left_with = frozenset(gone)
        wait_ms = self._world.timings.revoke_ms if gone else 0
        self._world.releases(consumer, gone, REBALANCED)
        self._clock.after(wait_ms, partial(self._join, consumer, reason, turn))

    def _join(self, consumer: Consumer, reason: str = "", turn: int | None = None) -> None:
        if not consumer.is_up or consumer.is_closing or turn not in (None, consumer.turn):
            return
        consumer.joins, consumer.beat = True, consumer.beat + 1
        timings, settings = self._world.timings, consumer.settings
        request = JoinRequest(
            consumer.key,
            consumer.member_id,
            {each: self._subscription(consumer, each) for each in settings.strategies},
            timings.max_poll_interval_ms,
            timings.session_timeout_ms,
            settings.instance_id,
            reason,
        )
        self._send(consumer, lambda: self._coordinator.join(self._world.now, request))

    def _subscription(self, consumer: Consumer, strategy: str) -> ConsumerSubscription:
        settings = consumer.settings
        owned = grouped(consumer.held) if settings.is_cooperative else {}
        number, user_data = consumer.held_generation, None
        if strategy in ("cooperative-sticky", "consumer_cooperative_sticky"):
            user_data = encode_cooperative_user_data(number)
        elif strategy in ("sticky", "consumer_sticky") and number >= 0:
            user_data = encode_sticky_user_data(StickyUserData(tuple(sorted(consumer.left_with)), number, 1))
        return ConsumerSubscription(
            consumer.topics, owned, number if owned else None, user_data, settings.rack, settings.instance_id
        )

    def _send(self, consumer: Consumer, call: Callable[[], list[AddressedReply]]) -> None:
        def arrives() -> None:
            if consumer.is_up and not consumer.is_closing:
                self._deliver(call())

        half = self._world.timings.request_ms // 2
        self._clock.at(max(self._world.now + half, self._down_until_ms), arrives)

    def _deliver(self, replies: list[AddressedReply]) -> None:
        half = self._world.timings.request_ms - self._world.timings.request_ms // 2
        for reply in replies:
            consumer = self._world.by_key[reply.worker]
            self._clock.after(half, partial(self._answered, consumer, reply.body))
        self._look()

    def _look(self) -> None:
        """Note a new rebalance, and wait for the coordinator's next deadline."""
        if self._coordinator.phase_number != self._phase:
            self._phase = self._coordinator.phase_number
            self._world.rebalance_begins(self._coordinator.reason)
        # Large groups have many requests at one moment, and a look reads each session.
        if not self._looks:
            self._looks = True
            self._clock.at(self._world.now, self._look_at_deadline)

    def _look_at_deadline(self) -> None:
        self._looks = False
        self._timer.look()

    def _expire(self) -> None:
        if self._world.now < self._down_until_ms:
            return
        before = self._coordinator.members()
        replies = self._coordinator.expire(self._world.now)
        left = self._coordinator.members()
        for identity, key in before.items():
            if identity not in left:
                self._world.event(MemberExpired, instance=self._world.by_key[key].name, member=identity)
        self._deliver(replies)

    # --- replies ----------------------------------------------------------------------------------------

    def _answered(self, consumer: Consumer, body: JoinReply | Synced | Refused) -> None:
        if not consumer.is_up or consumer.is_closing:
            return
        if self._world.now < consumer.silent_until_ms:
            self._clock.at(consumer.silent_until_ms, lambda: self._answered(consumer, body))
        elif isinstance(body, JoinReply):
            self._joined(consumer, body)
        elif isinstance(body, Synced):
            if not consumer.settings.rules.beats_restart:
                travel_ms = self._world.random.randint(0, self._world.timings.request_ms)
                self._beat_later(consumer, max(travel_ms, consumer.due_ms - self._world.now))
            self._world.at_poll(consumer, lambda: self._assigned(consumer, body))
        elif body.reason == "unknown_member":
            self._loses(consumer)
        else:
            self._join(consumer, "the rebalance began again")

    def _joined(self, consumer: Consumer, reply: JoinReply) -> None:
        consumer.member_id, consumer.generation = reply.member_id, reply.generation
        rules = consumer.settings.rules
        if rules.beats_restart:
            self._beat_later(consumer, self._world.timings.heartbeat_interval_ms)
        identity = reply.member_id
        if reply.members is None:
            self._send(
                consumer, lambda: self._coordinator.sync(self._world.now, SyncRequest(identity, reply.generation))
            )
            return
        wanted = {topic for member in reply.members.values() for topic in member.topics}
        # Topics that it has not watched so far are requested.
        is_known = not rules.leader_asks and wanted <= consumer.metadata.keys()
        known = consumer.metadata if is_known else self._world.metadata()
        state = ConsumerGroupState(self._world.known_topics(known), reply.members)
        if rules.is_renewed:
            self._clock.after(self._world.timings.request_ms, partial(self._refreshes, consumer))
        assign_ms = self._world.timings.assign_ms if self._present is None else 0
        request = SyncRequest(identity, reply.generation, self._answer(reply.protocol, state))

        def syncs() -> None:
            if consumer.is_up:
                self._send(consumer, lambda: self._synced(request))

        self._clock.after(assign_ms, syncs)

    def _answer(self, strategy: str, state: ConsumerGroupState) -> dict[str, set[Partition]]:
        present, self._present = self._present, None
        if present is None:
            answer = self._world.decide(CLASSIC, strategy, state)
            return {identity: flat(held) for identity, held in answer.members.items()}
        names = {identity: self._world.by_key[key].name for identity, key in self._coordinator.members().items()}
        return {identity: flat(present.get(name, {})) for identity, name in names.items()}

    def _synced(self, request: SyncRequest) -> list[AddressedReply]:
        before = self._coordinator.state
        replies = self._coordinator.sync(self._world.now, request)
        if before is CoordinatorState.COMPLETING and self._coordinator.state is CoordinatorState.STABLE:
            names = {key: self._world.by_key[key].name for key in self._coordinator.members().values()}
            ids = {names[key]: identity for identity, key in self._coordinator.members().items()}
            given: Mapping[str, Iterable[Partition]] = request.assignments or {}
            targets = {name: given.get(identity) or () for name, identity in ids.items()}
            reason = "; ".join(self._coordinator.rounds[-1].reasons)
            self._world.decided(CLASSIC, request.generation, targets, ids, reason)
        return replies

    def _assigned(self, consumer: Consumer, synced: Synced) -> None:
        if consumer.is_closing or synced.generation != consumer.generation:
            return
        consumer.joins = False
        target: set[Partition] = set(synced.assignment or ())
        revoked = consumer.held - target
        self._world.releases(consumer, revoked, REBALANCED)
        consumer.generation = consumer.held_generation = synced.generation
        consumer.left_with = frozenset(target)

        def takes() -> None:
            if consumer.is_up and consumer.generation == synced.generation:
                self._world.takes(consumer, target)
                if revoked and consumer.settings.is_cooperative:
                    self._must_join(consumer, "need to revoke partitions and re-join")
                elif any(topic not in consumer.topics for topic, _ in target):
                    self._must_join(consumer, "received assignment does not match the current subscription")

        self._clock.after(self._world.timings.revoke_ms if revoked else 0, takes)

    def _loses(self, consumer: Consumer) -> None:
        """Its membership is lost: it joins as a new member."""
        if consumer.is_up and not consumer.is_closing:
            consumer.member_id, consumer.generation, consumer.held_generation = None, -1, -1
            consumer.left_with = frozenset()
            consumer.joins, consumer.beat, consumer.turn = True, consumer.beat + 1, consumer.turn + 1
            self._world.at_poll(consumer, partial(self._lost, consumer, consumer.turn))

    def _lost(self, consumer: Consumer, turn: int) -> None:
        if consumer.turn != turn:
            return
        self._world.releases(consumer, list(consumer.held), LOST)
        self._join(consumer, "its membership was lost")

    # --- heartbeats -------------------------------------------------------------------------------------

    def _beat_later(self, consumer: Consumer, after_ms: int) -> None:
        consumer.beat += 1
        self._clock.after(after_ms, partial(self._beat, consumer, consumer.beat))

    def _beat(self, consumer: Consumer, number: int) -> None:
        identity = consumer.member_id
        if number != consumer.beat or identity is None or not consumer.is_up:
            return
        wait_ms = max(consumer.silent_until_ms, self._down_until_ms) - self._world.now
        if wait_ms > 0:
            self._clock.after(wait_ms, lambda: self._beat(consumer, number))
            return
        if consumer.is_late:
            consumer.is_late = False
            if self._world.now < consumer.busy_until_ms:
                self._leaves_late(consumer, consumer.busy_until_ms)
                return
        interval_ms = self._world.timings.heartbeat_interval_ms
        consumer.due_ms = self._world.now + interval_ms
        status = self._coordinator.heartbeat(self._world.now, identity, consumer.generation)
        if status == "unknown_member" and self._has_successor(consumer):
            # FencedInstanceIdException is fatal.
            self._world.fence(consumer, consumer.member_id)
        elif status in ("unknown_member", "illegal_generation"):
            self._loses(consumer)
        else:
            if status == "rebalancing":
                self._must_join(consumer, "group is already rebalancing")
            self._clock.after(interval_ms, partial(self._beat, consumer, number))

    def _has_successor(self, consumer: Consumer) -> bool:
        own = consumer.settings.instance_id
        return own is not None and any(
            each is not consumer and each.settings.instance_id == own for each in self._world.consumers.values()
        )
