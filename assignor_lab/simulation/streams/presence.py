"""Running instances by an episode's events alone, and contradictory events."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Mapping

from assignor_lab.documents.shapes import Mismatch, suggestion
from assignor_lab.model.streams_episodes import EventDetails, StreamsEvent

__all__ = ["RunningInstances", "next_thread", "refuse_contradictions"]


#: Events that are impossible for a stalled instance.
_OF_FREE = ("stop", "pause", "busy", "add_thread", "remove_thread", "corrupt")


class RunningInstances:
    """Running instances, including the steps of rolling restarts."""

    def __init__(self, running: Mapping[str, int]) -> None:
        #: Instance to whether it runs, in the order of first starts.
        self.up = dict.fromkeys(running, True)
        self.threads = {name: list(range(1, count + 1)) for name, count in running.items()}
        self._configured = dict(running)
        self.stalled: dict[str, int] = {}
        #: Steps of rolling restarts: time, number, instance, downtime in milliseconds (``None``: a start).
        self._steps: list[tuple[int, int, str, int | None]] = []
        self._number = 0

    def advance(self, at_ms: int) -> None:
        """Steps at ``at_ms`` itself come after its events."""
        while self._steps and self._steps[0][0] < at_ms:
            at, _, name, down_ms = heapq.heappop(self._steps)
            if down_ms is None:
                self._start(name, EventDetails())
            elif self.up[name] and not self.is_stalled(name, at):
                self.up[name] = False
                self._plan(at + down_ms, name, None)

    def is_stalled(self, name: str, at_ms: int) -> bool:
        return self.up.get(name, False) and at_ms <= self.stalled.get(name, -1)

    def happen(self, event: StreamsEvent) -> None:
        self.advance(event.at_ms)
        if event.type == "start":
            self._start(event.client, event.details)
        elif event.type in ("stop", "crash"):
            self.up[event.client] = False
            self.stalled.pop(event.client, None)
        elif event.type == "add_thread":
            here = self.threads[event.client]
            here.append(next_thread(here))
        elif event.type == "remove_thread":
            here = self.threads[event.client]
            here.remove(event.details.thread or here[0])
        elif event.type in ("pause", "busy"):
            self.stalled[event.client] = event.at_ms + event.details.for_ms
        elif event.type == "rolling_restart":
            running = [name for name, is_up in self.up.items() if is_up]
            for place, name in enumerate(running if event.details.clients is None else event.details.clients):
                self._plan(event.at_ms + place * event.details.every_ms, name, event.details.down_ms)

    def _start(self, name: str, details: EventDetails) -> None:
        self.up[name] = True
        self.stalled.pop(name, None)
        self._configured[name] = details.threads or self._configured.get(name, 1)
        self.threads[name] = list(range(1, self._configured[name] + 1))

    def _plan(self, at_ms: int, name: str, down_ms: int | None) -> None:
        self._number += 1
        heapq.heappush(self._steps, (at_ms, self._number, name, down_ms))


def next_thread(numbers: Collection[int]) -> int:
    """The least unused thread number (Kafka: ``KafkaStreams.getNextThreadIndex``)."""
    return next(number for number in range(1, len(numbers) + 2) if number not in numbers)


def refuse_contradictions(events: Iterable[StreamsEvent], running: Mapping[str, int], until_ms: int) -> None:
    """Raise a mismatch for events out of order or of unsuitable instances."""
    presence = RunningInstances(running)
    before = 0
    for index, event in enumerate(events):
        if event.at_ms < before:
            raise Mismatch(
                f"{event.at_ms} comes after {before} in the list: events stand in the order of time", "events", index,
                "at_ms",
            )  # fmt: skip
        if event.at_ms > until_ms:
            raise Mismatch(f"{event.at_ms} is after the end of the episode, {until_ms}", "events", index, "at_ms")
        before = event.at_ms
        presence.advance(event.at_ms)
        _refuse_contradiction(event, presence.up, index)
        if event.type in _OF_FREE and presence.is_stalled(event.client, event.at_ms):
            raise Mismatch(
                f"{event.client!r:.80} is stalled until {presence.stalled[event.client]}, by a pause or a busy thread: "
                f"it can be killed until then, and no {event.type} can happen to it", "events", index, "at_ms",
            )  # fmt: skip
        _refuse_thread(event, presence.threads, index)
        presence.happen(event)


def _refuse_thread(event: StreamsEvent, threads: Mapping[str, Collection[int]], index: int) -> None:
    if event.type not in ("busy", "remove_thread"):
        return
    here = threads[event.client]
    thread = event.details.thread or (1 if event.type == "busy" else min(here))
    if thread not in here:
        has = "1 thread" if len(here) == 1 else f"{len(here)} threads"
        raise Mismatch(f"{event.client!r:.80} has {has}: there is no thread {thread}", "events", index, "thread")
    if event.type == "remove_thread" and len(here) == 1:
        raise Mismatch(f"{event.client!r:.80} has 1 thread: stop the instance", "events", index, "client")


def _refuse_contradiction(event: StreamsEvent, up: Mapping[str, bool], index: int) -> None:
    name = event.client
    if event.type == "start" and up.get(name):
        raise Mismatch(f"{name!r:.80} runs already: stop it first", "events", index, "client")
    if event.type in (*_OF_FREE, "crash"):
        _refuse_absent(name, up, ("events", index, "client"))
    elif event.type == "lose_disk":
        if name not in up:
            raise _unknown(name, up, ("events", index, "client"))
        if up[name]:
            raise Mismatch(f"{name!r:.80} runs: its disk can be lost while it is down", "events", index, "client")
    for place, each in enumerate(event.details.clients or ()):
        _refuse_absent(each, up, ("events", index, "clients", place))


def _refuse_absent(name: str, up: Mapping[str, bool], path: tuple[str | int, ...]) -> None:
    if name not in up:
        raise _unknown(name, up, path)
    if not up[name]:
        raise Mismatch(f"{name!r:.80} does not run: start it first", *path)


def _unknown(name: str, up: Mapping[str, bool], path: tuple[str | int, ...]) -> Mismatch:
    hint = suggestion(name, up, "instances") if up else "none has been started"
    return Mismatch(f"there is no instance {name!r:.80}: {hint}", *path)
