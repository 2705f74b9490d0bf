"""A consumer group of KIP-848: heartbeats, targets, reconciliation member by member, and classic members among them.

Kafka: ``GroupMetadataManager``, ``CurrentAssignmentBuilder``, ``ConsumerMembershipManager``.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping
from functools import partial

import attrs

from assignment_api.consumer import SubscribedGroup, SubscribedMember, SubscribedTopic
from assignor_lab.kafka.network_thread import wakes_within_ms
from assignor_lab.kafka.streams_group.target_schedule import TargetSchedule
from assignor_lab.model.events import MemberExpired, PollTimedOut
from assignor_lab.simulation.consumer.consumers import CLASSIC, CONSUMER, Consumer, Partition
from assignor_lab.simulation.consumer.world import LOST, REBALANCED, ConsumerWorld, flat, grouped

__all__ = ["BrokerConsumerGroup"]

#: The broker resolves patterns again at most this often (Kafka: ``REGEX_BATCH_REFRESH_MIN_INTERVAL_MS``).
_PATTERNS_MS = 10_000


@attrs.define(eq=False)
class _Member:
    """A member from the view of the broker.

    Args:
        assigned: Partitions that it was given.
        pending: Partitions that it must revoke; nobody gets them before.
        is_away: A static member that closed: its partitions wait for its return.
    """

    id: str
    consumer: Consumer
    epoch: int
    target: set[Partition] = attrs.field(factory=set)
    assigned: set[Partition] = attrs.field(factory=set)
    pending: set[Partition] = attrs.field(factory=set)
    heard_ms: int = 0
    is_away: bool = False


class BrokerConsumerGroup:
    """The group.

    Args:
        epoch: Epoch of the group at the begin.
        downgraded: Called when the last member of this protocol is gone and classic ones remain.
    """

    def __init__(self, world: ConsumerWorld, epoch: int, downgraded: Callable[[int], None]) -> None:
        self._world, self._clock, self._downgraded = world, world.clock, downgraded
        self._schedule = TargetSchedule(0, world.timings.assignment_interval_ms)
        self._epoch = self._target_epoch = epoch
        self._members: dict[str, _Member] = {}
        self._reason = ""
        self._is_stale = False
        self._down_until_ms = 0

    def adopt(self, consumers: Iterable[Consumer], held: Mapping[str, set[Partition]] | None) -> None:
        """The group begins with these members and their partitions, by name; ``None``: as the assignor decides."""
        for consumer in consumers:
            member = self._enter(consumer)
            member.epoch = self._epoch
            if held is not None:
                member.target = set(held[consumer.name])
        if held is None:
            self._compute()
        for member in self._members.values():
            member.assigned, member.heard_ms = set(member.target), self._world.now
            consumer = member.consumer
            consumer.joins, consumer.generation = False, self._epoch
            self._world.releases(consumer, consumer.held - member.target, REBALANCED)
            self._world.takes(consumer, member.target)
            self._beat_later(consumer, self._world.random.randint(1, self._interval_ms(consumer)))
            self._watch_session(member)
        self._note("the group begins")

    # --- calls of the world -----------------------------------------------------------------------------

    def started(self, consumer: Consumer) -> None:
        consumer.joins = True
        self._request(consumer, partial(self._joins, consumer))

    def closed(self, consumer: Consumer, *, leaves: bool) -> None:
        if not consumer.left:
            self._request(consumer, partial(self._leaves, consumer, is_static=not leaves), may_be_gone=True)

    def resumed(self, consumer: Consumer) -> None:
        consumer.is_late = False
        if consumer.left:
            consumer.left = False
            self._lost(consumer)

    def poll_timed_out(self, consumer: Consumer) -> None:
        """The member leaves when its library next checks the poll interval; a poll before keeps it in the group."""
        if consumer.left or self._member(consumer) is None:
            return
        consumer.is_late = True
        looks_ms = self._looks_after_ms(consumer)
        if looks_ms is not None:
            self._clock.after(looks_ms, partial(self._leaves_late, consumer, consumer.busy_until_ms))

    def _looks_after_ms(self, consumer: Consumer) -> int | None:
        """Time until the next check besides those of heartbeats."""
        if consumer.settings.protocol == CLASSIC:
            most_ms = consumer.settings.rules.looks_ms
            return None if most_ms is None else self._world.random.randint(0, most_ms)
        refresh_ms = self._world.random.randint(0, self._world.timings.metadata_max_age_ms)
        since_ms = self._world.now - (consumer.due_ms - self._interval_ms(consumer))
        return min(refresh_ms, wakes_within_ms(since_ms))

    def _leaves_late(self, consumer: Consumer, until_ms: int) -> None:
        if not consumer.is_late or not consumer.is_up or self._world.now >= until_ms:
            return
        interval_ms = self._world.timings.max_poll_interval_ms
        self._world.event(PollTimedOut, instance=consumer.name, interval_ms=interval_ms)
        consumer.left, consumer.is_late, consumer.beat = True, False, consumer.beat + 1
        self._leaves(consumer, is_static=True)

    def topics_changed(self) -> None:
        """The next heartbeat finds other metadata; patterns are resolved a little later."""
        patterns = any(each.settings.matching for each in self._world.consumers.values())
        self._clock.after(_PATTERNS_MS if patterns else 0, self._changed)

    def _changed(self) -> None:
        self._is_stale = True
        for consumer in self._world.consumers.values():
            consumer.topics = self._world.matching(consumer.settings)

    def broker_restarted(self, down_ms: int, *, coordinates: bool) -> None:
        """Sessions restart with the coordinator. Racks of replicas are part of the metadata's hash."""
        if any(topic.racks for topic in self._world.topics.values()):
            for after_ms in (0, down_ms):
                self._clock.after(after_ms, self._changed)
        if not coordinates:
            return
        self._down_until_ms = self._world.now + down_ms
        for member in self._members.values():
            member.heard_ms = self._down_until_ms
            self._watch_session(member)

    def drift(self) -> None:
        """Nothing brings these heartbeats together."""

    def has(self, consumer: Consumer) -> bool:
        return self._member(consumer) is not None

    def is_calm(self) -> bool:
        return (
            not self._is_stale
            and self._epoch == self._target_epoch
            and all(
                each.is_away or (each.epoch == self._epoch and each.assigned == each.target and not each.pending)
                for each in self._members.values()
            )
            and not any(each.joins for each in self._world.consumers.values())
        )

    # --- requests at the broker -------------------------------------------------------------------------

    def _request(self, consumer: Consumer, call: Callable[[], None], *, may_be_gone: bool = False) -> None:
        def arrives() -> None:
            if may_be_gone or consumer.is_up:
                call()

        at_ms = self._world.now + self._world.timings.request_ms // 2
        self._clock.at(max(at_ms, self._down_until_ms), arrives)

    def _member(self, consumer: Consumer) -> _Member | None:
        found = self._members.get(consumer.member_id or "")
        return found if found is not None and found.consumer is consumer else None

    def _enter(self, consumer: Consumer) -> _Member:
        if consumer.member_id is None:
            recorded = consumer.settings.member_id
            drawn = str(uuid.UUID(int=self._world.random.getrandbits(128), version=4))
            consumer.member_id = recorded or drawn
        made = self._members[consumer.member_id] = _Member(consumer.member_id, consumer, 0)
        return made

    def _joins(self, consumer: Consumer) -> None:
        own = consumer.settings.instance_id
        former = next(
            (each for each in self._members.values() if own and each.consumer.settings.instance_id == own), None
        )
        if former is not None and not former.is_away:
            # UNRELEASED_INSTANCE_ID: fatal to the newcomer.
            self._world.fence(consumer)
            return
        if former is not None:
            del self._members[former.id]
            member = self._enter(consumer)
            member.epoch, member.target, member.assigned = former.epoch, former.target, former.assigned
        else:
            member = self._enter(consumer)
            self._bump(f"{consumer.name} is new")
        self._beat_later(consumer, self._interval_ms(consumer))
        self._heard(member, set())

    def _leaves(self, consumer: Consumer, *, is_static: bool) -> None:
        member = self._member(consumer)
        if member is None:
            return
        if is_static and consumer.settings.instance_id is not None:
            member.is_away = True
            return
        self._remove(member, f"{consumer.name} left the group")

    def _remove(self, member: _Member, reason: str) -> None:
        del self._members[member.id]
        self._bump(reason)
        left = [each.consumer.settings.protocol for each in self._members.values()]
        if left and member.consumer.settings.protocol == CONSUMER and CONSUMER not in left:
            self._downgraded(self._epoch)

    def _bump(self, reason: str) -> None:
        self._epoch += 1
        self._reason = f"{self._reason}; {reason}" if self._reason else reason
        self._world.rebalance_begins(reason)

    def _heard(self, member: _Member, owned: set[Partition] | None) -> None:
        """A heartbeat with the partitions that a member reports; ``None``: no report."""
        member.heard_ms = self._world.now
        self._watch_session(member)
        if self._is_stale:
            self._is_stale = False
            self._bump("the metadata of the topics have changed")
        if self._epoch > self._target_epoch and self._schedule.may_compute(self._world.now):
            self._compute()
        self._reconcile(member, owned)
        half = self._world.timings.request_ms - self._world.timings.request_ms // 2
        answered = self._synced if member.consumer.settings.protocol == CLASSIC else self._told
        self._clock.after(half, partial(answered, member.consumer, set(member.assigned), member.epoch))

    def _compute(self) -> None:
        """Compute the target of the group's epoch."""
        self._schedule.computed(self._world.now)
        members = list(self._members.values())
        topics = {name: _topic_id(name) for name in self._world.topics}
        names = {identity: name for name, identity in topics.items()}
        group = SubscribedGroup(
            {
                topics[topic.name]: SubscribedTopic(topics[topic.name], topic.name, topic.partitions)
                for topic in self._world.topics.values()
            },
            {
                each.id: SubscribedMember(
                    each.consumer.topics, None, each.consumer.settings.instance_id, each.consumer.settings.rack,
                    {topics[topic]: numbers for topic, numbers in grouped(each.target).items() if topic in topics},
                )
                for each in members
            },
        )  # fmt: skip
        wanted = [each.consumer.settings.assignor for each in members if each.consumer.settings.assignor is not None]
        assignor = max(dict.fromkeys(wanted), key=wanted.count) if wanted else "uniform"
        answer = self._world.decide(CONSUMER, assignor, group).members
        self._target_epoch = self._epoch
        for each in members:
            each.target = {(names[topic], number) for topic, number in flat(answer.get(each.id, {}))}
        self._note(self._reason)
        self._reason = ""

    def _note(self, reason: str) -> None:
        targets = {each.consumer.name: each.target for each in self._members.values()}
        ids = {each.consumer.name: each.id for each in self._members.values()}
        self._world.decided(CONSUMER, self._epoch, targets, ids, reason)

    def _reconcile(self, member: _Member, owned: set[Partition] | None) -> None:
        if member.pending and (owned is None or owned & member.pending):
            return
        member.pending = set()
        revoked = member.assigned - member.target
        if revoked:
            member.assigned &= member.target
            if owned is None or owned & revoked:
                member.pending = revoked
                self._clock.after(
                    self._world.timings.max_poll_interval_ms, partial(self._rebalance_timeout, member, revoked)
                )
                return
        member.assigned |= member.target - self._held_by_others(member)
        member.epoch = self._target_epoch

    def _held_by_others(self, member: _Member) -> set[Partition]:
        others = [each for each in self._members.values() if each is not member]
        return {partition for each in others for partition in each.assigned | each.pending}

    # --- sessions ---------------------------------------------------------------------------------------

    def _watch_session(self, member: _Member) -> None:
        timings = self._world.timings
        is_classic = member.consumer.settings.protocol == CLASSIC
        session_ms = timings.session_timeout_ms if is_classic else timings.group_session_timeout_ms
        self._clock.at(member.heard_ms + session_ms, partial(self._expire, member, member.heard_ms))

    def _expire(self, member: _Member, heard_ms: int) -> None:
        if self._members.get(member.id) is member and member.heard_ms == heard_ms and self._world.group is self:
            self._world.event(MemberExpired, instance=member.consumer.name, member=member.id)
            self._remove(member, f"{member.consumer.name} sent no heartbeat in time")

    def _rebalance_timeout(self, member: _Member, revoked: set[Partition]) -> None:
        if self._members.get(member.id) is member and member.pending is revoked:
            self._remove(member, f"{member.consumer.name} did not revoke its partitions in time")

    # --- members ----------------------------------------------------------------------------------------

    def _interval_ms(self, consumer: Consumer) -> int:
        timings = self._world.timings
        is_classic = consumer.settings.protocol == CLASSIC
        return timings.heartbeat_interval_ms if is_classic else timings.group_heartbeat_interval_ms

    def _beat_later(self, consumer: Consumer, after_ms: int) -> None:
        consumer.beat += 1
        consumer.due_ms = self._world.now + after_ms
        self._clock.after(after_ms, partial(self._beat, consumer, consumer.beat))

    def _beat(self, consumer: Consumer, number: int) -> None:
        if number != consumer.beat or not consumer.is_up or consumer.is_closing:
            return
        wait_ms = max(consumer.silent_until_ms, self._down_until_ms) - self._world.now
        if wait_ms > 0:
            self._clock.after(wait_ms, partial(self._beat, consumer, number))
            return
        member = self._member(consumer)
        if member is None:
            self._lost(consumer)
            return
        if consumer.is_late:
            self._leaves_late(consumer, consumer.busy_until_ms)
            return
        self._beat_later(consumer, self._interval_ms(consumer))
        if consumer.settings.protocol == CONSUMER:
            owned = None if consumer.joins else set(consumer.held)
            self._request(consumer, partial(self._beats, consumer, owned))
            return
        member.heard_ms = self._world.now
        self._watch_session(member)
        missing = member.target - member.assigned
        are_free = bool(missing) and not missing & self._held_by_others(member)
        # The epoch of the target counts, since a heartbeat of a classic member computes none.
        if (member.epoch < self._target_epoch or member.pending or are_free) and not consumer.joins:
            consumer.joins = True
            self._at_poll(consumer, self._joins_again)

    def _beats(self, consumer: Consumer, owned: set[Partition] | None) -> None:
        member = self._member(consumer)
        if member is not None:
            self._heard(member, owned)

    def _lost(self, consumer: Consumer) -> None:
        """Fenced: its partitions are lost, and it joins with epoch 0."""
        consumer.generation = -1
        consumer.joins, consumer.beat = True, consumer.beat + 1
        self._at_poll(consumer, self._rejoins)

    def _at_poll(self, consumer: Consumer, action: Callable[[Consumer], None]) -> None:
        """Call ``action`` at the next poll, unless another join or reconciliation begins before."""
        consumer.turn += 1
        turn = consumer.turn
        self._world.at_poll(consumer, lambda: action(consumer) if consumer.turn == turn else None)

    def _rejoins(self, consumer: Consumer) -> None:
        self._world.releases(consumer, list(consumer.held), LOST)
        self.started(consumer)

    def _told(self, consumer: Consumer, assigned: set[Partition], epoch: int) -> None:
        """The reply to a heartbeat: a change is reconciled at the next poll, and acknowledged at once."""
        if not consumer.is_up or consumer.is_closing or consumer.left or self._member(consumer) is None:
            return
        is_new, consumer.generation = consumer.generation < 0, epoch
        if assigned == consumer.held:
            consumer.joins = False
        elif is_new or not consumer.joins:
            consumer.joins = True
            self._at_poll(consumer, partial(self._reconciles, assigned))

    def _reconciles(self, assigned: set[Partition], consumer: Consumer) -> None:
        revoked = consumer.held - assigned
        self._world.releases(consumer, revoked, REBALANCED)
        wait_ms = self._world.timings.revoke_ms if revoked else 0
        self._clock.after(wait_ms, partial(self._acknowledges, consumer, assigned, consumer.turn))

    def _acknowledges(self, consumer: Consumer, assigned: set[Partition], turn: int) -> None:
        if consumer.turn == turn and consumer.is_up and not consumer.is_closing and self._member(consumer) is not None:
            self._world.takes(consumer, assigned)
            consumer.joins = False
            self._beat_later(consumer, self._interval_ms(consumer))
            self._request(consumer, partial(self._beats, consumer, set(consumer.held)))

    # --- classic members among them ---------------------------------------------------------------------

    def _joins_again(self, consumer: Consumer) -> None:
        """JoinGroup and SyncGroup without a barrier; eager members revoke all before."""
        gone = [] if consumer.settings.is_cooperative else list(consumer.held)
        self._world.releases(consumer, gone, REBALANCED)
        wait_ms = (self._world.timings.revoke_ms if gone else 0) + self._world.timings.request_ms
        self._clock.after(wait_ms, lambda: self._request(consumer, partial(self._beats, consumer, set(consumer.held))))

    def _synced(self, consumer: Consumer, assigned: set[Partition], epoch: int) -> None:
        if not consumer.is_up or consumer.is_closing or self._member(consumer) is None:
            return
        revoked = consumer.held - assigned
        self._world.releases(consumer, revoked, REBALANCED)
        self._world.takes(consumer, assigned)
        consumer.joins, consumer.generation = bool(revoked), epoch
        self._beat_later(consumer, self._interval_ms(consumer))
        if revoked:
            self._at_poll(consumer, self._joins_again)


def _topic_id(name: str) -> str:
    """A topic id of a name: real ones are random, and only their hash order counts."""
    from base64 import urlsafe_b64encode

    return urlsafe_b64encode(uuid.uuid5(uuid.NAMESPACE_OID, name).bytes).decode().rstrip("=")
