"""Puts what logs tell around the decisions into their documents: reasons, racks of clients, what instances did."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import tzinfo
from operator import itemgetter
from typing import Any

import attrs

from assignor_lab.capture.logs.surroundings import Coordinated, LoggedSurroundings
from assignor_lab.scenarios.told_racks import RACKS_UNKNOWN

__all__ = ["SurroundingsFiller"]


@attrs.define
class SurroundingsFiller:
    """Fills documents of decisions, in the order of time.

    Args:
        surroundings: What the logs tell.
        zone: Taken where a log's times do not name their zone.
    """

    surroundings: LoggedSurroundings
    zone: tzinfo
    _groups: set[str] = attrs.field(factory=set)

    def filled(self, documents: Iterable[tuple[dict[str, Any], str | None]]) -> Iterator[dict[str, Any]]:
        """The documents with what is known of their generations and clients.

        What instances did and restored is put to the first decision after it; what followed the last one, to that.

        Args:
            documents: Each with the client id of the leader's consumer, or ``None``.
        """
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
        """Sentences on coordinators' lines that are about other groups; asked for when all documents were filled."""
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
        told = self.surroundings.of(group, source.get("generation"), leader)
        if told is not None:
            source |= self._coordinated(told, source.get("time_ms"))
        racks = [self._with_rack(client, group) for client in document["clients"]]
        if document["clients"] and all(racks):
            document["assumptions"] = [_without_clients(sentence) for sentence in document["assumptions"]]
        return document

    def _coordinated(self, told: Coordinated, decided_ms: int | None) -> Mapping[str, Any]:
        found: dict[str, Any] = {}
        if told.prepared is not None:
            prepared_ms = told.prepared.epoch_ms(self.zone)
            # Two machines have two clocks.
            found["prepared_ms"] = prepared_ms if decided_ms is None else min(prepared_ms, decided_ms)
        if told.reason:
            found["reason"] = told.reason
        return found

    def _with_rack(self, client: dict[str, Any], group: str | None) -> bool:
        """Fills in the rack of a client; whether it is known then."""
        for consumer in client["consumers"]:
            is_known, rack = self.surroundings.rack(group, consumer)
            if is_known:
                client["rack"] = rack
                return True
        return False


def _add(document: dict[str, Any], key: str, entries: list[dict[str, Any]]) -> None:
    if entries:
        document["source"][key] = [*document["source"].get(key, ()), *entries]


def _without_clients(sentence: str) -> str:
    """The sentence on unknown racks where those of the clients are known."""
    if not sentence.startswith(RACKS_UNKNOWN):
        return sentence
    return (
        f"{RACKS_UNKNOWN} the leader looked at racks, and the log shows those of the clients, but not the brokers' "
        "(give them with --racks); an answer computed without them says nothing of what would really be decided"
    )
