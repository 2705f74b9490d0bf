"""Plays a consumer group from its present state: events happen to it, one by one or those of an episode."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import attrs

from assignment_api.consumer import ConsumerTopic
from assignment_api.consumer.assignment import PartitionsByTopic, partitions_by_topic
from assignor_lab.model.events import (
    BrokerRestarted,
    InstanceCrashed,
    InstancePaused,
    InstanceStarted,
    InstanceStopped,
    ProtocolChanged,
    ThreadBusy,
    TopologyChanged,
)
from assignor_lab.model.history import PARTITIONS, PLAYED, GroupHistory, GroupName
from assignor_lab.model.identity import GroupInstance
from assignor_lab.simulation.consumer.broker_group import BrokerConsumerGroup
from assignor_lab.simulation.consumer.classic_group import ClassicConsumerGroup
from assignor_lab.simulation.consumer.consumers import (
    CLASSIC,
    CONSUMER,
    Consumer,
    ConsumerSettings,
    ConsumerTimings,
    Partition,
)
from assignor_lab.simulation.consumer.world import ConsumerWorld, Decide, flat

__all__ = ["CLOSING", "CRASHED", "LOOKS_EVERY_MS", "ConsumerEpisode", "ConsumerEvent", "ConsumerPlay", "played_episode"]

#: Causes of ended polls.
CRASHED, CLOSING = "crash", "closing"
#: The group has formed within this time.
_FORMED_MS = 100
#: Interval between checks of a condition.
LOOKS_EVERY_MS = 100
#: A group at rest has been calm for this time.
_RESTS_MS = 2_000
#: A restarted process of a ReplicaSet waits for this time, doubled each time up to the longest (Kubernetes).
_BACK_OFF_MS, _LONGEST_BACK_OFF_MS = 10_000, 300_000


@attrs.frozen
class ConsumerEvent:
    """An event.

    Args:
        type: ``start``, ``stop``, ``kill``, ``pause`` (without heartbeats), ``busy`` (with them), ``grow`` (a topic
            has more partitions, or is new) or ``broker_restart``.
        name: The consumer, or the topic of ``grow``.
        for_ms: Of pause, busy and broker_restart.
        partitions: Of grow.
        coordinates: Of broker_restart: the broker is that of the group's coordinator.
        settings: Of start; ``None``: those that it had.
    """

    at_ms: int
    type: str
    name: str = ""
    for_ms: int = 0
    partitions: int = 0
    coordinates: bool = True
    settings: ConsumerSettings | None = None


@attrs.frozen(eq=False)
class ConsumerEpisode:
    """A group and the events to play.

    Args:
        consumers: By name; they form the group at the begin.
        present: Partitions of each consumer at the begin, by name; ``None``: as the assignor decides.
        restarts_fenced: A fenced process is started again, as a ReplicaSet does.
    """

    id: str
    topics: Mapping[str, ConsumerTopic]
    consumers: Mapping[str, ConsumerSettings]
    timings: ConsumerTimings = attrs.field(factory=ConsumerTimings)
    present: Mapping[str, Mapping[str, Sequence[int]]] | None = None
    events: tuple[ConsumerEvent, ...] = ()
    until_ms: int = 0
    restarts_fenced: bool = False
    generation: int = 0
    assumptions: tuple[str, ...] = ()


class ConsumerPlay:
    """A play of an episode's group; :meth:`do` makes something happen to it.

    Args:
        decide: Calls the assignor of a strategy.
    """

    def __init__(self, episode: ConsumerEpisode, decide: Decide, seed: str) -> None:
        self.episode = episode
        self.world = world = ConsumerWorld(episode.timings, episode.topics, decide, seed)
        world.on_fenced = self._start_fenced
        self._back_off_ms: dict[str, int] = {}
        names = list(episode.consumers)
        present = None
        if episode.present is not None:
            present = {name: partitions_by_topic(held) for name, held in episode.present.items()}
        self._form(names, present)
        world.run_until(world.now + (_FORMED_MS if names else 0))
        self.begin_ms = world.now

    def _form(self, names: Sequence[str], present: Mapping[str, PartitionsByTopic] | None) -> None:
        world, episode = self.world, self.episode
        leader = world.random.choice(names) if names else None
        consumers = [world.add(name, episode.consumers[name]) for name in names]
        if any(each.settings.protocol == CONSUMER for each in consumers):
            held = None if present is None else {name: flat(present.get(name, {})) for name in names}
            self._move_up(max(1, episode.generation), consumers, held)
            return
        world.group = ClassicConsumerGroup(world, len(names), present, leader, episode.generation)
        for consumer in consumers:
            world.group.started(consumer)

    # --- protocols --------------------------------------------------------------------------------------

    def _move_up(self, epoch: int, consumers: Sequence[Consumer], held: Mapping[str, set[Partition]] | None) -> None:
        """The group is one of KIP-848 from now on; classic members stay in it."""
        made = self.world.group = BrokerConsumerGroup(self.world, epoch, self._move_down)
        made.adopt(consumers, held)

    def _move_down(self, epoch: int) -> None:
        """The last member of KIP-848 is gone: the classic ones form a generation at their heartbeats."""
        world = self.world
        world.event(ProtocolChanged, before=CONSUMER, after=CLASSIC)
        left = [each for each in world.consumers.values() if each.generation >= 0 and not each.is_closing]
        made = world.group = ClassicConsumerGroup(world, len(left), generation=epoch)
        for consumer in left:
            made.adopt(consumer)

    def _joins(self, consumer: Consumer) -> None:
        """A started process joins; the first one with KIP-848 moves a classic group."""
        world = self.world
        if consumer.settings.protocol == CONSUMER and isinstance(world.group, ClassicConsumerGroup):
            members = [each for each in world.consumers.values() if each is not consumer and world.group.has(each)]
            if members:
                world.event(ProtocolChanged, before=CLASSIC, after=CONSUMER)
            self._move_up(world.group.generation + 1, members, {each.name: set(each.held) for each in members})
        world.group.started(consumer)

    # --- events -----------------------------------------------------------------------------------------

    def do(self, event: ConsumerEvent) -> None:
        if event.type == "start":
            self.start(event.name, event.settings)
        elif event.type in ("stop", "kill"):
            getattr(self, event.type)(event.name)
        elif event.type in ("pause", "busy"):
            found = self.world.consumers.get(event.name)
            if found is not None:
                self.world.event(ThreadBusy if event.type == "busy" else InstancePaused, instance=event.name)
                self.world.stand_still(found, event.for_ms, beats=event.type == "busy")
        elif event.type == "grow":
            self.grow(event.name, event.partitions)
        else:
            self.world.event(BrokerRestarted)
            self.world.group.broker_restarted(event.for_ms, coordinates=event.coordinates)

    def start(self, name: str, settings: ConsumerSettings | None = None, start_ms: int | None = None) -> None:
        """Start a process; it joins after the time of a start. No effect on a running one."""
        world = self.world
        if name in world.consumers:
            return
        known = settings or self.settings_of(name)
        consumer = world.add(name, attrs.evolve(known, member_id=None))
        world.event(InstanceStarted, instance=name)
        wait_ms = world.timings.start_ms if start_ms is None else start_ms
        world.clock.after(wait_ms, lambda: self._joins(consumer) if consumer.is_up else None)

    def settings_of(self, name: str, protocol: str | None = None) -> ConsumerSettings:
        """The settings of a consumer's last process; of a new one those of the others, perhaps under a protocol."""
        before = [each.settings for each in self.world.by_key.values() if each.name == name]
        if before:
            found = before[-1]
        else:
            first = next(iter(self.episode.consumers.values()))
            static = None if first.instance_id is None else name
            found = attrs.evolve(first, client_id=name, instance_id=static)
        if protocol in (None, found.protocol):
            return found
        return attrs.evolve(found, protocol=protocol, strategies=("range",), assignor=None)

    def stop(self, name: str, *, leaves: bool = False) -> None:
        """Close a consumer; static members leave the group only with ``leaves``."""
        world, consumer = self.world, self.world.consumers.get(name)
        if consumer is None or consumer.is_closing:
            return
        had = bool(consumer.held)
        consumer.is_closing = True
        world.releases(consumer, list(consumer.held), CLOSING)

        def ends() -> None:
            if consumer.is_up:
                world.event(InstanceStopped, instance=name)
                world.ends(consumer, CLOSING)
                world.group.closed(consumer, leaves=leaves)

        world.clock.after(world.timings.close_ms + (world.timings.revoke_ms if had else 0), ends)

    def kill(self, name: str) -> None:
        consumer = self.world.consumers.get(name)
        if consumer is not None:
            self.world.event(InstanceCrashed, instance=name)
            self.world.ends(consumer, CRASHED)

    def grow(self, topic: str, partitions: int) -> None:
        """A topic gets this number of partitions; a new one is created."""
        before = self.world.topics.get(topic)
        had = 0 if before is None else before.partitions
        self.world.set_topics([ConsumerTopic(topic, max(had, partitions))])
        self.world.event(TopologyChanged, added=tuple(f"{topic}-{each}" for each in range(had, partitions)))
        self.world.group.topics_changed()

    def _start_fenced(self, consumer: Consumer) -> None:
        if self.episode.restarts_fenced:
            wait_ms = self._back_off_ms.get(consumer.name, _BACK_OFF_MS)
            self._back_off_ms[consumer.name] = min(2 * wait_ms, _LONGEST_BACK_OFF_MS)
            self.world.clock.after(wait_ms, lambda: self.start(consumer.name, consumer.settings))

    # --- waits ------------------------------------------------------------------------------------------

    def is_ready(self, name: str) -> bool:
        """True if a consumer has its assignment, perhaps an empty one."""
        consumer = self.world.consumers.get(name)
        return consumer is not None and consumer.generation >= 0 and not consumer.joins

    def is_gone(self, consumer: Consumer) -> bool:
        """True if the group has noticed the end of a process."""
        return not self.world.group.has(consumer)

    def is_calm(self) -> bool:
        """True if no rebalance is under way, no process stands still, and each subscribed partition is polled."""
        world = self.world
        if not world.group.is_calm() or any(world.stands_still(each) for each in world.consumers.values()):
            return False
        if not world.ledger.lasting:
            return True
        wanted = world.subscribed(world.consumers.values())
        return not any(each.partition[0] in wanted for each in world.ledger.lasting)

    def run_until(self, condition: Callable[[], bool], most_ms: int, looks_every_ms: int = LOOKS_EVERY_MS) -> bool:
        """Run until a condition holds, at most for a time; false if it never did."""
        end_ms = self.world.now + most_ms
        while not condition():
            if self.world.now >= end_ms:
                return False
            self.world.run_until(min(end_ms, self.world.now + looks_every_ms))
        return True

    def rest(self, most_ms: int) -> bool:
        """Run until the group has been calm for two seconds."""
        since = [self.world.now]

        def rests() -> bool:
            if not self.is_calm():
                since[0] = self.world.now
            return self.world.now - since[0] >= _RESTS_MS

        return self.run_until(rests, most_ms)

    def history(self) -> GroupHistory:
        world = self.world
        names = dict.fromkeys(each.name for each in world.by_key.values())
        instances = tuple(GroupInstance(name, (), self.settings_of(name).instance_id, name) for name in names)
        begun = [each for each in world.events if each.at.latest_ms >= self.begin_ms]
        events = tuple(sorted(begun, key=lambda each: each.at.latest_ms))
        decisions = tuple(each for each in world.decisions if each.at.latest_ms >= self.begin_ms)
        partitions = [(topic.name, each) for topic in world.topics.values() for each in range(topic.partitions)]
        courses = {
            f"{topic}-{number}": world.ledger.course((topic, number), self.begin_ms, world.now)
            for topic, number in partitions
        }
        return GroupHistory(
            GroupName(self.episode.id), PLAYED, decisions, events, instances, PARTITIONS, self.begin_ms, world.now,
            courses, shows_downtime=True,
        )  # fmt: skip


def played_episode(episode: ConsumerEpisode, decide: Decide, seed: str) -> ConsumerPlay:
    """The whole play of an episode."""
    play = ConsumerPlay(episode, decide, seed)
    for event in sorted(episode.events, key=lambda each: each.at_ms):
        play.world.run_until(play.begin_ms + event.at_ms)
        play.do(event)
    play.world.run_until(play.begin_ms + episode.until_ms)
    return play
