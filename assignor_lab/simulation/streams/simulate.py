"""Plays an episode on a simulated Streams group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Protocol

import attrs

from assignment_api import AssignorLabError
from assignment_api.streams import StreamsClientState, TaskId
from assignor_lab.runtime.garbage import seldom_collected
from assignor_lab.simulation.patience import still_waited_for
from assignor_lab.simulation.streams.classic.group import ClassicGroup
from assignor_lab.simulation.streams.episode import Event, InstanceSettings, StreamsEpisode
from assignor_lab.simulation.streams.episode_format import instance_settings
from assignor_lab.simulation.streams.generations import Generation
from assignor_lab.simulation.streams.leading import BrokersAssignor, TaskLeader
from assignor_lab.simulation.streams.stalls import StalledGroup, Stalls
from assignor_lab.simulation.streams.streams_protocol.group import ProtocolGroup
from assignor_lab.simulation.streams.world import World

__all__ = ["Action", "EndlessEpisodeError", "Group", "Played", "UnknownProtocolError", "simulate"]

#: Steps of the clock after which a group that finds no end is given up.
_MOST_STEPS = 20_000_000


class UnknownProtocolError(AssignorLabError):
    """An assignor is not of the protocol of an episode."""


class EndlessEpisodeError(AssignorLabError):
    """An episode takes more steps than any real group would."""


class Group(StalledGroup, Protocol):
    """A protocol as episodes use it: the world's view of it, and what it writes down."""

    generations: list[Generation]
    #: When tasks of members changed, by time; ``None``: that is when generations are assigned.
    changes: list[int] | None
    #: When an assignor had no answer and the group went on without, and why.
    failures: list[tuple[int, str]]

    def end_offsets_fail(self, until_ms: int) -> None:
        """Whoever assigns cannot learn end offsets until then."""

    def metadata_changes(self) -> None:
        """Metadata of the group's topics change, racks of replicas for instance: it rebalances."""


@attrs.frozen
class Action:
    """Something that was done to an instance.

    Args:
        at_ms: When, by the group's clock.
        action: ``start``, ``stop``, ``crash``, ``pause``, ``busy``, ``add_thread``, ``remove_thread`` or
            ``corrupt``.
        who: The instance's name.
    """

    at_ms: int
    action: str
    who: str


@attrs.frozen(eq=False)
class Played:
    """An episode after it was played.

    Args:
        episode: The episode.
        world: Its instances, its ledger and its log.
        generations: What the protocol decided, by time.
        actions: What was done, by time; rolling restarts are in it step by step.
        first_ms: When the first event happened, by the group's clock.
        seed: The seed that it was played with.
        changes: When tasks of members changed, where the protocol has no generations of its own for that.
        failures: When the assignor had no answer and the group went on without, and why.
        is_cut: The group went round, and was not played to the episode's end; ``episode`` ends where it was left.
    """

    episode: StreamsEpisode
    world: World
    generations: tuple[Generation, ...]
    actions: tuple[Action, ...]
    first_ms: int
    seed: int
    changes: tuple[int, ...] | None = None
    failures: tuple[tuple[int, str], ...] = ()
    is_cut: bool = False


def simulate(
    episode: StreamsEpisode,
    assignor: TaskLeader | BrokersAssignor,
    seed: int = 0,
    *,
    keep_log: bool = True,
    most_followups: int | None = None,
) -> Played:
    """Plays an episode.

    Instances that are there at the beginning run what they had, and form their first generation at once.

    Args:
        episode: The episode.
        assignor: Who decides.
        seed: Seed of every draw.
        keep_log: Whether to write down what happens.
        most_followups: Generations in a row, each of which asks for the next one at once, after which the group counts
            as one that goes round and is played no further; ``None``: it is played to the end.

    Raises:
        LeaderFailedError: if the assignor of a classic group gives no answer.
        UnknownProtocolError: if the assignor is not of the episode's protocol.
        EndlessEpisodeError: if the group does not come to the end of the episode.
        GivenUpError: if nobody waits for it any longer (:mod:`assignor_lab.simulation.patience`).
    """
    world = World(episode, seed, keep_log=keep_log)
    group = _group(world, assignor)
    player = _Player(world, group)
    for client, lags in zip(episode.clients, episode.lags, strict=True):
        player.there(client, lags)
    player.form()
    for event in episode.events:
        world.clock.at(world.begin_ms + event.at_ms, partial(player.happen, event))
    end_ms = world.begin_ms + episode.until_ms
    with seldom_collected():
        cut_ms = _play_on(episode, world, group, end_ms, most_followups)
    is_cut = cut_ms is not None
    end_ms = end_ms if cut_ms is None else cut_ms
    world.finish(end_ms)
    first = min((event.at_ms for event in episode.events), default=0) if not episode.clients else 0
    changes = None if group.changes is None else tuple(group.changes)
    if is_cut:
        until_ms = end_ms - world.begin_ms
        happened = tuple(event for event in episode.events if event.at_ms <= until_ms)
        episode = attrs.evolve(episode, events=happened, until_ms=until_ms)
    return Played(
        episode, world, tuple(group.generations), tuple(player.actions), world.begin_ms + first, seed, changes,
        tuple(group.failures), is_cut,
    )  # fmt: skip


def _play_on(
    episode: StreamsEpisode, world: World, group: Group, end_ms: int, most_followups: int | None
) -> int | None:
    """Plays to the end, or until the group goes round: returns when that was."""
    looked = 0
    waited_for = still_waited_for()
    for _ in range(_MOST_STEPS):
        if not world.clock.step(end_ms):
            return None
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


def _group(world: World, assignor: TaskLeader | BrokersAssignor) -> Group:
    protocol = world.episode.protocol
    if protocol == "streams" and isinstance(assignor, BrokersAssignor):
        return ProtocolGroup(world, assignor)
    if protocol == "classic" and not isinstance(assignor, BrokersAssignor):
        return ClassicGroup(world, assignor)
    raise UnknownProtocolError(
        f"{world.episode.place}: this assignor cannot decide for a group of protocol {protocol!r}: in the classic "
        "protocol a member's assignor does, in the streams protocol the broker's"
    )


class _Player:
    """Does to a world what an episode says."""

    def __init__(self, world: World, group: Group) -> None:
        self._world = world
        self._group = group
        self._stalls = Stalls(world, group)
        self.actions: list[Action] = []

    def there(self, client: StreamsClientState, lags: Mapping[TaskId, int]) -> None:
        """An instance that runs already, with what it had and what lies on its disk."""
        world = self._world
        settings = InstanceSettings(
            max(1, client.num_stream_threads), client.rack_id, client.client_tags, client.host_info
        )
        instance = world.there(str(client.process_id), settings, client.process_id)
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
        """All that is there joins, and is not waited for any longer than that."""
        for instance in self._world.instances.values():
            for thread in instance.threads:
                self._group.started(thread)

    def happen(self, event: Event) -> None:
        """Does one event."""
        details = event.details
        if event.type == "start":
            self._start(event.client, details)
        elif event.type == "stop":
            self._stop(event.client, leaves=details.get("leave"), leaves_ms=details.get("leaves_ms", ()))
        elif event.type == "crash":
            self._done("crash", event.client)
            if self._world.instances[event.client].is_up:
                self._world.crash(event.client, self._group)
        elif event.type in ("pause", "busy"):
            self._stall(event)
        elif event.type in ("add_thread", "remove_thread"):
            self._change_threads(event)
        elif event.type == "corrupt":
            self._done("corrupt", event.client)
            self._world.corrupt(event.client, event.details["tasks"], self._group)
        elif event.type == "lose_disk":
            self._world.lose_disk(event.client, details.get("process_id"))
        elif event.type == "rolling_restart":
            self._roll(details)
        elif event.type == "metadata_changes":
            self._group.metadata_changes()
        else:
            self._group.end_offsets_fail(self._world.clock.now + details["for_ms"])

    def _done(self, action: str, who: str) -> None:
        self.actions.append(Action(self._world.clock.now, action, who))

    def _start(self, name: str, details: Mapping[str, Any]) -> None:
        self._done("start", name)
        instance = self._world.instance(name)
        if instance.is_up:
            # A roll has started it again already: another one was fenced and closed, which changed the order.
            return
        known = instance.settings
        self._world.start(name, instance_settings(known, details), details.get("process_id"), self._group)

    def _stop(self, name: str, *, leaves: bool | None, leaves_ms: Sequence[int | None] = ()) -> None:
        self._done("stop", name)
        self._world.instances[name].leaves_ms = leaves_ms
        # One whose member was fenced has ended itself.
        if self._world.instances[name].is_up:
            self._world.stop(name, self._group, leaves=leaves)

    def _change_threads(self, event: Event) -> None:
        self._done(event.type, event.client)
        if not self._world.instances[event.client].is_up:
            return
        if event.type == "add_thread":
            details = event.details
            self._world.add_thread(event.client, details.get("joins_ms"), self._group, details.get("member_id"))
        else:
            self._world.remove_thread(event.client, event.details.get("thread"), self._group)

    def _stall(self, event: Event) -> None:
        self._done(event.type, event.client)
        if not self._world.instances[event.client].is_up:
            return
        if event.type == "pause":
            self._stalls.pause(event.client, event.details["for_ms"])
        else:
            self._stalls.busy(event.client, event.details.get("thread", 1), event.details["for_ms"])

    def _roll(self, details: Mapping[str, Any]) -> None:
        up = [name for name, instance in self._world.instances.items() if instance.is_up]
        for index, name in enumerate(details.get("clients", up)):
            begin = self._world.clock.now + index * details["every_ms"]
            self._world.clock.at(begin, partial(self._roll_one, name, details))

    def _roll_one(self, name: str, details: Mapping[str, Any]) -> None:
        instance = self._world.instances[name]
        if instance.is_up and all(thread.stalled_until_ms is None for thread in instance.threads):
            self._stop(name, leaves=details.get("leave"))
            changes = {key: details[key] for key in ("metadata_version",) if key in details}
            self._world.clock.after(details["down_ms"], partial(self._start_again, name, changes))

    def _start_again(self, name: str, changes: Mapping[str, Any]) -> None:
        if not self._world.instances[name].is_up:
            self._start(name, changes)
