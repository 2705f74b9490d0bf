"""Durations from a group's own logs, in the form of recorded experiments.

Logs have no list of actions. A process starts with its first line of Kafka Streams, and ends when its instance has
closed. Kills and outside probes are not in logs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, tzinfo
from pathlib import Path
from typing import Any

import attrs

from assignor_lab.capture.errors import NothingTimedError
from assignor_lab.capture.logs.import_log import read_decisions
from assignor_lab.capture.logs.rebalance import LogProblem
from assignor_lab.capture.logs.restorations import Restored
from assignor_lab.capture.logs.surroundings import LoggedSurroundings
from assignor_lab.capture.timelines.timeline import (
    MemberChange,
    RecordedTimeline,
    TimelineAction,
    TimelineGeneration,
    Transfer,
)
from assignor_lab.documents.errors import Place

__all__ = ["TimedStore", "logged_timelines"]

#: By group and generation: ``none``, ``immediate`` or ``probing``.
_Followups = dict[tuple[str, int], str]


@attrs.frozen
class TimedStore:
    """A restored store; no duration if the start is not logged."""

    time_ms: int
    client: str
    task: str | None
    store: str
    changelog: str
    records: int
    milliseconds: int | None
    record_bytes: float | None

    @property
    def records_per_s(self) -> float | None:
        return self.records * 1000 / self.milliseconds if self.milliseconds and self.records else None

    @property
    def bytes_per_s(self) -> float | None:
        rate = self.records_per_s
        return None if rate is None or self.record_bytes is None else rate * self.record_bytes

    def document(self) -> dict[str, Any]:
        return {
            "time_ms": self.time_ms, "client": self.client, "task": self.task, "store": self.store,
            "changelog": self.changelog, "records": self.records, "ms": self.milliseconds,
            "records_per_s": None if self.records_per_s is None else round(self.records_per_s),
            "bytes_per_s": None if self.bytes_per_s is None else round(self.bytes_per_s),
        }  # fmt: skip


def logged_timelines(
    files: Sequence[str | Path],
    *,
    zone: tzinfo | None = None,
    record_bytes: float | None = None,
    on_problem: Callable[[LogProblem], None] = lambda _: None,
) -> tuple[list[RecordedTimeline], list[TimedStore]]:
    """Durations of the groups in logs, and restores of their instances.

    Args:
        zone: ``None``: UTC. It changes no duration.
        record_bytes: Of a record in the changelogs.
    """
    around = LoggedSurroundings()
    followups: _Followups = {}

    def note(problem: LogProblem) -> None:
        if not problem.loses_decision:
            on_problem(problem)

    for decision in read_decisions(files, note, surroundings=around):
        if decision.group is not None and decision.generation is not None:
            followup = "immediate" if decision.immediate else "probing" if decision.followup else "none"
            followups[decision.group, decision.generation] = followup
    for epoch in around.epochs:
        for member in epoch.members.values():
            around.group_of.setdefault(_instance(member.client_id), epoch.group)
    zone = zone or UTC
    place = Place(str(files[0]))
    names = _groups(around)
    others = names[0] if len(names) == 1 else None
    timelines = [_timeline(name, others, around, followups, zone, record_bytes, place) for name in names]
    if not any(each.done or each.transfers or each.generations for each in timelines):
        raise NothingTimedError(
            str(place.file) + (f" (and {len(files) - 1} more)" if len(files) > 1 else ""),
            None,
            "no line has a duration",
            "give logs of instances with Kafka Streams' and the consumer's own lines at INFO (loggers "
            "org.apache.kafka.streams and org.apache.kafka.clients.consumer), and that of the group's coordinator",
        )
    return timelines, [_timed(each, zone, record_bytes) for each in around.restorations.stores]


def _instance(consumer: str) -> str:
    return consumer.partition("-StreamThread-")[0]


def _groups(around: LoggedSurroundings) -> list[str]:
    """Coordinators log other groups, too; instances alone may not name their group."""
    clients = {each.client for each in (*around.done, *around.moments)}
    clients |= {each.client for each in around.restorations.stores}
    named = list(dict.fromkeys(group for client, group in around.group_of.items() if client in clients))
    coordinated = list(dict.fromkeys((*around.groups(), *(each.group for each in around.epochs))))
    if named:
        return named
    return coordinated or [""]


def _timeline(
    group: str,
    others: str | None,
    around: LoggedSurroundings,
    followups: _Followups,
    zone: tzinfo,
    record_bytes: float | None,
    place: Place,
) -> RecordedTimeline:
    def is_ours(client: str) -> bool:
        return around.group_of.get(client, others) == group

    done = [each for each in around.done if is_ours(each.client)]
    moments = [each for each in around.moments if is_ours(each.client)]
    members, clients = _members(group, around, zone)
    members += [
        MemberChange(each.time.epoch_ms(zone), f"{each.client}-consumer", "joins", "", (), ())
        for each in moments
        if each.type == "joining"
    ]
    clients |= {f"{each.client}-consumer": f"{each.client}-consumer" for each in moments}
    generations = sorted(_generations(group, around, followups, zone), key=lambda each: each.prepared_ms)
    is_joining = any(each.type == "joining" for each in moments)
    is_streams = around.is_streams_protocol and not generations and not is_joining
    actions = sorted((each.time.epoch_ms(zone), each.type, each.client) for each in done)
    return RecordedTimeline(
        name=group,
        kind="streams-group" if is_streams else "streams-classic",
        group=group,
        done=tuple(TimelineAction(time, action, instance) for time, action, instance in actions if action != "begun"),
        ended=tuple(sorted((each.time.epoch_ms(zone), each.client) for each in moments if each.type == "ended")),
        end_ms=max((time for time, _, _ in actions), default=0),
        generations=tuple(generations),
        members=tuple(sorted(members, key=lambda each: each.time_ms)),
        clients=clients,
        group_config={},
        transfers=tuple(_transfers([each for each in around.restorations.stores if is_ours(each.client)], zone)),
        owned=(),
        begun=tuple((time, instance) for time, action, instance in actions if action == "begun"),
        probe=None,
        document={},
        place=place,
        record_bytes=record_bytes,
    )


def _members(group: str, around: LoggedSurroundings, zone: tzinfo) -> tuple[list[MemberChange], dict[str, str]]:
    """Members that left a streams group, from its coordinator's log."""
    found, clients = [], {}
    for epoch in around.epochs:
        if epoch.group == group:
            for client, kind, time in epoch.gone:
                found.append(MemberChange(time.epoch_ms(zone), client, kind, "", (), ()))
                clients[client] = client
    return found, clients


def _generations(
    group: str, around: LoggedSurroundings, followups: _Followups, zone: tzinfo
) -> Iterator[TimelineGeneration]:
    for number, each in around.generations(group):
        if each.prepared is None or each.joined is None or each.assigned is None:
            continue  # no member was left to complete it, or the log begins or ends there
        prepared, joined, assigned = (time.epoch_ms(zone) for time in (each.prepared, each.joined, each.assigned))
        followup = followups.get((group, number), "none")
        yield TimelineGeneration(number, prepared, joined, assigned, each.reason, 0, followup, {})


def _transfers(stores: Sequence[Restored], zone: tzinfo) -> Iterator[Transfer]:
    for each in sorted(stores, key=lambda each: _begun_ms(each, zone)):
        if (_took(each, zone) or 0) > 0:
            begun_ms = _begun_ms(each, zone)
            yield Transfer(
                each.client, each.topic, each.partition, begun_ms, 0, each.end_offset, begun_ms,
                each.time.epoch_ms(zone), each.records, is_standby=False, machine=each.client, thread=each.thread,
            )  # fmt: skip


def _begun_ms(each: Restored, zone: tzinfo) -> int:
    return (each.begun or each.time).epoch_ms(zone)


def _took(each: Restored, zone: tzinfo) -> int | None:
    took = None if each.begun is None else each.time.epoch_ms(zone) - each.begun.epoch_ms(zone)
    # A clock was set back.
    return None if took is None or took < 0 else took


def _timed(each: Restored, zone: tzinfo, record_bytes: float | None) -> TimedStore:
    changelog = f"{each.topic}-{each.partition}"
    ready_ms, took = each.time.epoch_ms(zone), _took(each, zone)
    return TimedStore(ready_ms, each.client, each.task, each.store, changelog, each.records, took, record_bytes)
