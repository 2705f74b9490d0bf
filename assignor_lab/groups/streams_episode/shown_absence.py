"""Times without an owner of a play, as a recording would show them.

A recording shows decisions, ends of instances and, in logs, ends of restores. Its times without an owner are a function
of these (``model.unowned``), so those of a play beside it are the same function of the play. A task that moves between
two threads of one instance, for example, is away in a play, and no decision shows that.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence

import attrs

from assignor_lab.model.events import GroupEvent, InstanceCrashed, InstanceRestartedInSession, InstanceStopped
from assignor_lab.model.evidence import Evidence
from assignor_lab.model.history import GroupHistory
from assignor_lab.model.moment import Moment
from assignor_lab.model.streams_episodes import StreamsEvent
from assignor_lab.model.unowned import unowned_by_decisions, unowned_by_members
from assignor_lab.simulation.streams.actions import ENDS, START
from assignor_lab.simulation.streams.episode import StreamsEpisode
from assignor_lab.simulation.streams.simulate import PlayedStreamsEpisode

__all__ = ["shown_absence"]


def shown_absence(played: PlayedStreamsEpisode, *, shows_restoring: bool) -> Mapping[str, Sequence[tuple[int, int]]]:
    """Task to its times without an owner.

    Args:
        shows_restoring: True if the recording shows when a restore was complete.
    """
    history, episode = played.history, played.episode
    if played.holdings is not None:
        # The broker's records show the end of a member that leaves.
        static = {each.client for each in episode.events if each.details.instance_id}
        ends = tuple(each for each in _ends(episode) if each.subject in static or isinstance(each, InstanceCrashed))
        return unowned_by_members(attrs.evolve(history, events=ends), played.holdings)
    seen = attrs.evolve(history, events=tuple(_with_restarts(episode, history)))
    owners = {
        str(task): episode.name_of(place)
        for place, client in enumerate(episode.clients)
        for task in client.previous_active_tasks
    }
    return unowned_by_decisions(seen, owners, _restored_ms(played) if shows_restoring else {})


def _ends(episode: StreamsEpisode) -> Iterator[GroupEvent]:
    return (_end(each, episode.start_ms + each.at_ms) for each in episode.events if each.type in ENDS)


def _end(event: StreamsEvent, at_ms: int) -> GroupEvent:
    made = InstanceStopped if event.type == "stop" else InstanceCrashed
    return made(Moment.at(at_ms), Evidence.played(), event.client)


def _with_restarts(episode: StreamsEpisode, history: GroupHistory) -> Iterator[GroupEvent]:
    """A static member's end and start are one restart if no decision came between them."""
    decided = [each.at.latest_ms for each in history.decisions]
    ended: dict[str, StreamsEvent] = {}
    for event in episode.events:
        at_ms = episode.start_ms + event.at_ms
        if event.type in ENDS:
            if event.client in ended:
                yield _end(ended[event.client], episode.start_ms + ended[event.client].at_ms)
            ended[event.client] = event
        elif event.type == START and event.client in ended:
            end = ended.pop(event.client)
            end_ms = episode.start_ms + end.at_ms
            if event.details.instance_id and bisect_left(decided, end_ms) == bisect_left(decided, at_ms):
                back = Moment(end_ms, at_ms + episode.startup_ms(event) + episode.timings.join_ms)
                yield InstanceRestartedInSession(back, Evidence.played(), event.client)
            else:
                yield _end(end, end_ms)
    for event in ended.values():
        yield _end(event, episode.start_ms + event.at_ms)


def _restored_ms(played: PlayedStreamsEpisode) -> dict[tuple[str, str], list[int]]:
    """Instance and task with a changelog to the times at which the instance began to run it."""
    logged = {str(each.id) for each in played.episode.tasks if each.is_logged}
    found: dict[tuple[str, str], list[int]] = {}
    for task, course in played.history.courses.items():
        for run in course.runs if task in logged else ():
            found.setdefault((run.instance, task), []).append(run.begin_ms)
    return found
