"""Adds logged facts to the documents of decisions: reasons, racks of clients, events of instances."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import tzinfo
from operator import itemgetter
from typing import Any

import attrs

from assignor_lab.capture.logs.surroundings import Coordinated, LoggedSurroundings
from assignor_lab.scenarios.consumers import thread_of
from assignor_lab.scenarios.rack_provenance import RACKS_UNKNOWN
from assignor_lab.scenarios.settings import most_frequent, with_given
from assignor_lab.scenarios.version_provenance import shown_release

__all__ = ["SurroundingsFiller"]

_MEMBER = re.compile(r"\A(.+)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\Z")
#: Characters of a UUID and the dash before it.
_UUID_LENGTH = 37


@attrs.define
class SurroundingsFiller:
    """Fills documents of decisions, in the order of time."""

    surroundings: LoggedSurroundings
    zone: tzinfo
    _groups: set[str] = attrs.field(factory=set)

    def filled(self, documents: Iterable[tuple[dict[str, Any], str | None]]) -> Iterator[dict[str, Any]]:
        """Events and restores go to the first decision after them, or to the last one."""
        further: dict[str, list[dict[str, Any]]] = {
            "done": [
                {
                    "time_ms": each.time.epoch_ms(self.zone), "type": each.type, "client": each.client,
                    **({"tasks": list(each.tasks)} if each.tasks else {}),
                }
                for each in self.surroundings.done
            ],
            "restored": [
                {
                    "time_ms": each.time.epoch_ms(self.zone), "client": each.client, "task": each.task,
                    "store": each.store, "records": each.records,
                }
                for each in self.surroundings.restorations.of_tasks
            ],
            "waits": [
                {"time_ms": time_ms, "client": each.client, "type": each.type, "ms": waited_ms}
                for each in self.surroundings.waits.found
                if (waited_ms := (time_ms := each.time.epoch_ms(self.zone)) - each.begun.epoch_ms(self.zone)) >= 0
            ],
        }  # fmt: skip
        for listed in further.values():
            listed.sort(key=itemgetter("time_ms"))
        before: dict[str, Any] | None = None
        for document, leader in documents:
            if before is not None:
                yield before
            before = self._filled(document, leader)
            time_ms = before["source"].get("time_ms")
            if time_ms is not None:
                for key, listed in further.items():
                    passed = [each for each in listed if each["time_ms"] <= time_ms]
                    del listed[: len(passed)]
                    _add(before, key, passed)
        if before is not None:
            for key, listed in further.items():
                _add(before, key, listed if before["source"].get("time_ms") is not None else [])
            yield before

    def unused(self) -> Iterator[str]:
        """Sentences on coordinators' lines about other groups; call it last."""
        known = list(self.surroundings.groups())
        if known and self._groups and self._groups.isdisjoint(known):
            yield (
                f"the coordinator's lines are about {', '.join(sorted(known)[:3])}, and the decisions are those of "
                f"{', '.join(sorted(self._groups)[:3])}: give the log of the broker that coordinated that group"
            )

    def _filled(self, document: dict[str, Any], leader: str | None) -> dict[str, Any]:
        source = document["source"]
        group = source.get("group")
        if group is not None:
            self._groups.add(group)
        coordinated = self.surroundings.of(group, source.get("generation"), leader)
        if coordinated is not None:
            source |= self._coordinated(coordinated, source.get("time_ms"))
        at_ms = source.get("time_ms")
        consumers = [
            self._client_of(consumer, group, at_ms)
            for client in document["clients"]
            for consumer in client["consumers"]
        ]
        racks = [self._with_rack(client, group, at_ms) for client in document["clients"]]
        for client in document["clients"]:
            self._say_members(client, group, at_ms)
        if document["clients"] and all(racks):
            document["assumptions"] = [_without_clients(sentence) for sentence in document["assumptions"]]
        shown, sentences = shown_release(
            self.surroundings.releases(group, consumers, at_ms, self.zone),
            None if leader is None else f"{self._client_of(leader, group, at_ms)}-",
        )
        document["assumptions"] = [*document["assumptions"], *sentences]
        known = document.get("settings", {})
        members = (
            {key: value for key, value in each.items() if key not in known}
            for each in self.surroundings.settings(group)
        )
        return with_given(document, {**shown, **most_frequent(members, document["assumptions"]), **known}, ())

    def _coordinated(self, coordinated: Coordinated, decided_ms: int | None) -> Mapping[str, Any]:
        found: dict[str, Any] = {}
        if coordinated.prepared is not None:
            prepared_ms = coordinated.prepared.epoch_ms(self.zone)
            # Two machines have two clocks.
            found["prepared_ms"] = prepared_ms if decided_ms is None else min(prepared_ms, decided_ms)
        if coordinated.reason:
            found["reason"] = coordinated.reason
        return found

    def _client_of(self, consumer: str, group: str | None, at_ms: int | None) -> str:
        """The consumer's client id or member id; that of a static member as its own log names it."""
        instance = _instance_of(consumer)
        if instance is None:
            return consumer
        return self.surroundings.client_of_static(group, instance, at_ms, self.zone) or consumer

    def _with_rack(self, client: dict[str, Any], group: str | None, at_ms: int | None) -> bool:
        """True if the rack is known then."""
        for consumer in client["consumers"]:
            is_known, rack = self.surroundings.rack(group, f"{self._client_of(consumer, group, at_ms)}-")
            if is_known:
                client["rack"] = rack
                return True
        return False

    def _say_members(self, client: dict[str, Any], group: str | None, at_ms: int | None) -> None:
        """Unless the source has them."""
        instances = {consumer: _instance_of(consumer) for consumer in client["consumers"]}
        if "members" in client or not any(instances.values()):
            return
        client["members"] = {
            consumer: {
                "client_id": consumer[:-_UUID_LENGTH]
                if instance is None
                else self.surroundings.client_of_static(group, instance, at_ms, self.zone),
                "instance_id": instance,
            }
            for consumer, instance in instances.items()
        }


def _instance_of(consumer: str) -> str | None:
    """``None`` for a dynamic member.

    In Kafka a member id is the instance id, or else the client id, and a random UUID. Streams puts the thread's name
    into each client id.
    """
    found = _MEMBER.match(consumer)
    return None if found is None or thread_of(found[1]) != found[1] else found[1]


def _add(document: dict[str, Any], key: str, entries: list[dict[str, Any]]) -> None:
    if entries:
        document["source"][key] = [*document["source"].get(key, ()), *entries]


def _without_clients(sentence: str) -> str:
    if not sentence.startswith(RACKS_UNKNOWN):
        return sentence
    return (
        f"{RACKS_UNKNOWN} the leader used racks, and the log shows those of the clients, but not the brokers' "
        "(give them with --racks); an answer computed without them is not the answer of the real group"
    )
