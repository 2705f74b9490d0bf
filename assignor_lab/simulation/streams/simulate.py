"""Simulates an episode of a Streams group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import Protocol

import attrs

from assignment_api import AssignorLabError
from assignment_api.streams import StreamsClientState, TaskId
from assignor_lab.model.events import GroupEvent
from assignor_lab.model.history import GroupHistory, GroupName
from assignor_lab.model.streams_episodes import EventDetails, StreamsEvent
from assignor_lab.model.unowned import MemberOwnership
from assignor_lab.runtime.garbage import seldom_collected
from assignor_lab.simulation.patience import still_waited_for
from assignor_lab.simulation.streams.actions import action_event
from assignor_lab.simulation.streams.classic.group import ClassicGroup
from assignor_lab.simulation.streams.conducting import Conductor, Stage
from assignor_lab.simulation.streams.episode import InstanceSettings, StreamsEpisode, first_event_ms
from assignor_lab.simulation.streams.generations import Generation
from assignor_lab.simulation.streams.leading import BrokersAssignor, TaskLeader
from assignor_lab.simulation.streams.played_history import played_history
from assignor_lab.simulation.streams.stalls import StalledGroup, Stalls
from assignor_lab.simulation.streams.streams_protocol.group import ProtocolGroup
from assignor_lab.simulation.streams.world import SimulatedWorld

__all__ = [
    "EndlessEpisodeError",
    "SimulatedGroup",
    "PlayedStreamsEpisode",
    "UnknownProtocolError",
    "simulate",
    "with_accepted_members",
]

#: Steps of the clock after which an endless simulation is cancelled.
_MOST_STEPS = 20_000_000


class UnknownProtocolError(AssignorLabError):
    """An assignor does not support the protocol of an episode."""


class EndlessEpisodeError(AssignorLabError):
    """An episode takes more steps than any real group would."""


class SimulatedGroup(StalledGroup, Protocol):
    """The simulation's interface to a protocol, with its records."""

    generations: list[Generation]
    #: Times of changes of members' tasks, in order; ``None``: those of the generations.
    changes: list[int] | None
    #: Current assignments of the members, as the broker records them; ``None``: the group's broker has none.
    holdings: list[MemberOwnership] | None
    #: Times and reasons of an assignor's failures that the group survived.
    failures: list[tuple[int, str]]

    def end_offsets_fail(self, until_ms: int) -> None: ...

    def is_complete(self) -> bool: ...

    def metadata_changes(self) -> None: ...

    def racks_change(self, *, is_bounce: bool) -> None: ...


@attrs.frozen(eq=False)
class PlayedStreamsEpisode:
    """A simulated episode.

    Args:
        actions: On instances, by time.
        holdings: Changes of the members' current assignments, as the broker records them; ``None``: it has none.
        is_cut: The simulation stopped early at a cycle; ``episode`` ends there.
    """

    episode: StreamsEpisode
    world: SimulatedWorld
    generations: tuple[Generation, ...]
    actions: tuple[GroupEvent, ...]
    first_ms: int
    seed: int
    changes: tuple[int, ...] | None = None
    failures: tuple[tuple[int, str], ...] = ()
    is_cut: bool = False
    holdings: tuple[MemberOwnership, ...] | None = None

    @cached_property
    def history(self) -> GroupHistory:
        """What happened, of the type that readers of recordings make."""
        return played_history(
            GroupName(self.episode.id),
            self.world,
            self.generations,
            self.actions,
            self.first_ms,
            self.world.begin_ms + self.episode.until_ms,
            self.changes,
            self.failures,
        )


def simulate(
    episode: StreamsEpisode,
    assignor: TaskLeader | BrokersAssignor,
    seed: int = 0,
    *,
    keep_log: bool = True,
    most_followups: int | None = None,
    conductor: Conductor | None = None,
) -> PlayedStreamsEpisode:
    """Simulate an episode; the initial instances form their first generation at once.

    Args:
        most_followups: Consecutive immediate follow-ups that count as a cycle, which stops the simulation; ``None``: no
            limit.
        conductor: Applies further events at times that depend on the simulation, and ends it.

    Raises:
        LeaderFailedError: if the assignor of a classic group fails.
        UnknownProtocolError: if the assignor does not support the episode's protocol.
        EndlessEpisodeError: if the group does not reach the end of the episode.
        GivenUpError: if the caller has stopped waiting (:mod:`assignor_lab.simulation.patience`).
    """
    episode = with_accepted_members(episode, assignor)
    world = SimulatedWorld(episode, seed, keep_log=keep_log)
    group = _group(world, assignor)
    player = _EpisodePlay(world, group)
    started = zip(episode.clients, episode.instance_ids, episode.lags, strict=True)
    for place, (client, instance_id, lags) in enumerate(started):
        player.there(episode.name_of(place), client, instance_id, lags)
    player.form()
    for event in episode.events:
        world.clock.at(world.begin_ms + event.at_ms, partial(player.happen, event))
    end_ms = world.begin_ms + episode.until_ms
    if conductor is not None:
        conductor.begin(Stage(world, group, player.happen))
    with seldom_collected():
        cut_ms = _play_on(episode, world, group, end_ms, most_followups, conductor)
    is_cut = cut_ms is not None
    end_ms = end_ms if cut_ms is None else cut_ms
    world.finish(end_ms)
    first = first_event_ms(episode.events, is_empty=not episode.clients)
    changes = None if group.changes is None else tuple(group.changes)
    if is_cut:
        until_ms = end_ms - world.begin_ms
        happened = tuple(event for event in episode.events if event.at_ms <= until_ms)
        episode = attrs.evolve(episode, events=happened, until_ms=until_ms)
    return PlayedStreamsEpisode(
        episode, world, tuple(group.generations), tuple(player.actions), world.begin_ms + first, seed, changes,
        tuple(group.failures), is_cut, None if group.holdings is None else tuple(group.holdings),
    )  # fmt: skip


def _play_on(
    episode: StreamsEpisode,
    world: SimulatedWorld,
    group: SimulatedGroup,
    end_ms: int,
    most_followups: int | None,
    conductor: Conductor | None,
) -> int | None:
    looked = 0
    waited_for = still_waited_for()
    for _ in range(_MOST_STEPS):
        if not world.clock.step(end_ms):
            return None
        if conductor is not None and conductor.is_over():
            return world.clock.now
        if waited_for is not None:
            waited_for(world.clock.now - world.begin_ms, episode.until_ms)
        if most_followups is not None and len(group.generations) > looked:
            looked = len(group.generations)
            if _goes_round(group.generations, most_followups):
                return world.clock.now
    raise EndlessEpisodeError(f"{episode.place}: episode {episode.id!r} took {_MOST_STEPS:,} steps: given up")


def _goes_round(generations: Sequence[Generation], most_followups: int) -> bool:
    latest = generations[-most_followups:]
    return len(latest) == most_followups and all(each.followup == "immediate" for each in latest)


def with_accepted_members(episode: StreamsEpisode, assignor: TaskLeader | BrokersAssignor) -> StreamsEpisode:
    """The episode with dynamic members if its source used the other protocol, and this broker refuses static ones."""
    if not isinstance(assignor, BrokersAssignor) or not episode.is_carried_over or assignor.release.has_static_members:
        return episode
    release = assignor.release.name
    events = tuple(
        attrs.evolve(event, details=attrs.evolve(event.details, instance_id=None)) for event in episode.events
    )
    if not any(episode.instance_ids) and events == episode.events:
        return episode
    sentence = (
        f"static members are played as dynamic ones: brokers of Kafka {release} refuse group.instance.id in the "
        "streams protocol (group_sticky_4_4 accepts it)"
    )
    return attrs.evolve(
        episode,
        instance_ids=(None,) * len(episode.clients),
        events=events,
        assumptions=(*episode.assumptions, sentence),
    )


def _group(world: SimulatedWorld, assignor: TaskLeader | BrokersAssignor) -> SimulatedGroup:
    protocol = world.episode.protocol
    if protocol == "streams" and isinstance(assignor, BrokersAssignor):
        return ProtocolGroup(world, assignor)
    if protocol == "classic" and not isinstance(assignor, BrokersAssignor):
        return ClassicGroup(world, assignor)
    raise UnknownProtocolError(
        f"{world.episode.place}: this assignor cannot decide for a group of protocol {protocol!r}: in the classic "
        "protocol a member's assignor does, in the streams protocol the broker's"
    )


class _EpisodePlay:
    def __init__(self, world: SimulatedWorld, group: SimulatedGroup) -> None:
        self._world = world
        self._group = group
        self._stalls = Stalls(world, group)
        self.actions: list[GroupEvent] = []

    def there(self, name: str, client: StreamsClientState, instance_id: str | None, lags: Mapping[TaskId, int]) -> None:
        world = self._world
        settings = InstanceSettings(
            max(1, client.num_stream_threads),
            client.rack_id,
            client.client_tags,
            client.host_info,
            instance_id,
            # Members' ids decide ties, and the leader of a classic group.
            member_ids=tuple(client.consumers),
        )
        instance = world.there(name, settings, client.process_id)
        threads = dict(zip(client.consumers, instance.threads, strict=False))
        thread_of = {task: thread for name, thread in threads.items() for task in client.previous_tasks_of(name)}
        held = dict.fromkeys(client.previous_active_tasks, True)
        held.update((task, False) for task in client.previous_standby_tasks if task not in held)
        for place, (task, is_active) in enumerate(held.items()):
            thread = thread_of.get(task, instance.threads[place % len(instance.threads)])
            if task in world.number_of:
                world.has_already(thread, world.number_of[task], lags.get(task, 0), is_active=is_active)
        for task, lag in lags.items():
            if task in world.number_of and task not in held:
                world.has_on_disk(instance, world.number_of[task], lag)

    def form(self) -> None:
        for instance in self._world.instances.values():
            for thread in instance.threads:
                self._group.started(thread)

    def happen(self, event: StreamsEvent) -> None:
        details = event.details
        if event.type == "start":
            self._start(event.client, details)
        elif event.type == "stop":
            self._stop(event.client, leaves=details.leave, leaves_ms=details.leaves_ms or ())
        elif event.type == "crash":
            self._done("crash", event.client)
            if self._world.instances[event.client].is_up:
                self._world.crash(event.client, self._group)
        elif event.type in ("pause", "busy"):
            self._stall(event)
        elif event.type in ("add_thread", "remove_thread"):
            self._change_threads(event)
        elif event.type == "corrupt":
            self._done("corrupt", event.client, details.tasks or ())
            self._world.corrupt(event.client, details.tasks or (), self._group)
        elif event.type == "tasks":
            self._world.exist(details.tasks or ())
        elif event.type == "lose_disk":
            self._world.lose_disk(event.client, details.process_id)
        elif event.type == "rolling_restart":
            self._roll(details)
        elif event.type == "metadata_changes":
            self._group.metadata_changes()
        elif event.type == "broker_restart":
            self._restart_broker(details.down_ms)
        elif event.type == "replica_moves":
            self._racks_change(is_bounce=details.rack_is_new is False)
        else:
            self._group.end_offsets_fail(self._world.clock.now + details.for_ms)

    def _restart_broker(self, down_ms: int) -> None:
        """A broker is away, and back. Its replicas are offline meanwhile; the group's coordinator is another broker."""
        self._world.say("application", "broker_down", f"a broker is down for {down_ms / 1000:g} s")
        self._racks_change(is_bounce=True)
        self._world.clock.after(down_ms, partial(self._racks_change, is_bounce=True))

    def _racks_change(self, *, is_bounce: bool) -> None:
        after_ms = self._world.timings.metadata_ms
        self._world.clock.after(after_ms, partial(self._group.racks_change, is_bounce=is_bounce))

    def _done(self, action: str, owner: str, tasks: Sequence[str] = ()) -> None:
        self.actions.append(action_event(action, self._world.clock.now, owner, tasks))

    def _start(self, name: str, details: EventDetails) -> None:
        self._done("start", name)
        instance = self._world.instance(name)
        if instance.is_up:
            # A roll has already restarted it: a fenced instance changed the order.
            return
        self._world.start(name, instance.settings.started(details), details.process_id, self._group)

    def _stop(self, name: str, *, leaves: bool | None, leaves_ms: Sequence[int | None] = ()) -> None:
        self._done("stop", name)
        self._world.instances[name].leaves_ms = leaves_ms
        # An instance with a fenced member has ended itself.
        if self._world.instances[name].is_up:
            self._world.stop(name, self._group, leaves=leaves)

    def _change_threads(self, event: StreamsEvent) -> None:
        self._done(event.type, event.client)
        if not self._world.instances[event.client].is_up:
            return
        if event.type == "add_thread":
            (joins_ms,) = event.details.joins_ms or (None,)
            self._world.add_thread(event.client, joins_ms, self._group, event.details.member_id)
        else:
            self._world.remove_thread(event.client, event.details.thread, self._group)

    def _stall(self, event: StreamsEvent) -> None:
        self._done(event.type, event.client)
        if not self._world.instances[event.client].is_up:
            return
        if event.type == "pause":
            self._stalls.pause(event.client, event.details.for_ms)
        else:
            self._stalls.busy(event.client, event.details.thread or 1, event.details.for_ms)

    def _roll(self, details: EventDetails) -> None:
        up = [name for name, instance in self._world.instances.items() if instance.is_up]
        for index, name in enumerate(up if details.clients is None else details.clients):
            begin = self._world.clock.now + index * details.every_ms
            self._world.clock.at(begin, partial(self._roll_one, name, details))

    def _roll_one(self, name: str, details: EventDetails) -> None:
        instance = self._world.instances[name]
        if instance.is_up and all(thread.stalled_until_ms is None for thread in instance.threads):
            self._stop(name, leaves=details.leave)
            changes = EventDetails(metadata_version=details.metadata_version)
            self._world.clock.after(details.down_ms, partial(self._start_again, name, changes))

    def _start_again(self, name: str, changes: EventDetails) -> None:
        if not self._world.instances[name].is_up:
            self._start(name, changes)
