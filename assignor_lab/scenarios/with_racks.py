"""Fills racks of a file into scenarios without them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from assignment_api import AssignorLabError
from assignor_lab.documents.errors import Place, printable
from assignor_lab.scenarios.consumers import client_of
from assignor_lab.scenarios.formats.state_parts import (
    state_clients,
    state_members,
    state_starts,
    state_tasks,
    with_client_racks,
    with_partition_racks,
    with_start_racks,
)
from assignor_lab.scenarios.rack_provenance import NOT_USED, RACKS_UNKNOWN, racks_known
from assignor_lab.scenarios.racks import ANY_TOPIC, Racks
from assignor_lab.scenarios.reader import scenario_from_document
from assignor_lab.scenarios.scenario import Scenario
from assignor_lab.scenarios.state_parts import StateClient, StateMember, StatePartition, StateStart, StateTask

__all__ = ["RackContradictionError", "RackFiller"]

Document = Mapping[str, Any]
#: Most names in a sentence.
_MOST_NAMED = 3


class RackContradictionError(AssignorLabError):
    """A file of racks contradicts a scenario, or itself, about one client or partition."""


@attrs.define
class RackFiller:
    """Fills racks into documents, and records the used parts of the file."""

    racks: Racks
    _used: set[str] = attrs.field(factory=set)
    #: True if some task's partitions are unknown: topics of the file may be theirs.
    _has_unknown_partitions: bool = False
    #: True if a filled state's assignor uses racks of partitions; True if a state had no racks at all.
    _has_tasks: bool = False
    _has_none: bool = False
    #: Contradictions to recorded decisions, whose own racks stay: sentences, each once.
    _contradictions: dict[str, None] = attrs.field(factory=dict)

    def filled(self, document: Document) -> dict[str, Any]:
        """The document with its missing racks filled in; known ones stay, and unknown ones are reported in it.

        Groups of Connect have no racks: their documents stay unchanged.

        A recorded decision that the file contradicts keeps its own racks. :meth:`unused` and :meth:`foreign` report it,
        and results that rest on the file get no verdict.

        Raises:
            RackContradictionError: if the file gives a client two racks, or contradicts a state without a recorded
                decision.
        """
        kind = document.get("kind")
        if kind == "streams":
            return self._streams(document)
        is_recorded = document.get("observed") is not None
        if kind == "streams-group":
            members = state_members(document)
            racks = [self._rack(each.rack, _names_of_member(each), is_recorded=is_recorded) for each in members]
            return with_client_racks(document, "members", racks)
        if kind == "streams-episode":
            starts = [self._rack(each.rack, _names_of_start(each)) for each in state_starts(document)]
            return {**with_start_racks(document, starts), "initial": self._streams(document["initial"])}
        self._has_none = True
        return dict(document)

    def filled_scenario(self, scenario: Scenario) -> Scenario:
        """As :meth:`filled`, checked again."""
        return scenario_from_document(self.filled(scenario.document), scenario.place)

    def unused(self) -> Iterator[str]:
        """Sentences on contradictions to documents, and on names of the file that no document had."""
        yield from (f"{sentence}: the state's is used" for sentence in [*self._contradictions][:_MOST_NAMED])
        if self._has_none and not self._has_tasks and not self._used:
            yield f"{self._file()}: groups of Connect have no racks: it is not used"
            return
        for client in self.racks.clients:
            if client not in self._used:
                where = self.racks.where.get(client, ", ".join(self.racks.files))
                yield f"{where}: {printable(client)} is no client of any state: it is not used"
        topics = [topic for topic in self.racks.topics if topic != ANY_TOPIC and topic not in self._used]
        if not topics or not self._has_tasks:
            # Brokers' assignors use racks of members alone.
            return
        named = f"{_listed(topics)} {'is no topic' if len(topics) == 1 else 'are no topics'} of any state"
        remedy = " (the tasks' partitions are unknown: give --topology)" if self._has_unknown_partitions else ""
        yield f"{self._file()}: {named}: {'it is' if len(topics) == 1 else 'they are'} not used{remedy}"

    def foreign(self) -> str | None:
        """A sentence on a file of another cluster; ``None``: nothing shows that it is one.

        It contradicts a recorded decision, or names no client and no topic of any classic group.
        """
        if self._contradictions:
            return next(iter(self._contradictions))
        named = {*self.racks.clients, *self.racks.topics}
        if not named or not self._has_tasks or self._has_unknown_partitions or named & {*self._used, ANY_TOPIC}:
            return None
        return f"{self._file()} names no client and no topic of the group"

    # --- Streams ----------------------------------------------------------------------------------

    def _streams(self, document: Document) -> dict[str, Any]:
        self._has_tasks = True
        is_recorded = document.get("observed") is not None
        clients = [
            attrs.evolve(each, rack=self._rack(each.rack, _names_of_client(each), is_recorded=is_recorded))
            for each in state_clients(document)
        ]
        tasks = [self._task(task, is_recorded=is_recorded) for task in state_tasks(document)]
        filled = with_client_racks(with_partition_racks(document, tasks), "clients", [each.rack for each in clients])
        assumptions = document.get("assumptions", ())
        if racks_known(assumptions):
            return filled
        sentences = [sentence for sentence in assumptions if not sentence.startswith((RACKS_UNKNOWN, NOT_USED))]
        return {**filled, "assumptions": [*sentences, self._what_is_known(clients, tasks)]}

    def _task(self, task: StateTask, *, is_recorded: bool) -> StateTask:
        if task.partitions is None:
            self._has_unknown_partitions = True
            return task
        return attrs.evolve(
            task, partitions=[self._partition(each, is_recorded=is_recorded) for each in task.partitions]
        )

    def _partition(self, partition: StatePartition, *, is_recorded: bool) -> StatePartition:
        topic, known = partition.topic, partition.racks
        self._used.add(topic)
        found = self.racks.of_partition(topic, partition.partition)
        if known and found and set(known) != set(found):
            self._contradicts(
                f"{self._file()}: partition {printable(topic)}-{partition.partition} is in {_listed(found)} there, "
                f"and in {_listed(known)} in the state",
                is_recorded=is_recorded,
            )
        return partition if known or not found else attrs.evolve(partition, racks=found)

    # --- clients ----------------------------------------------------------------------------------

    def _rack(self, known: str | None, names: Iterable[str], *, is_recorded: bool = False) -> str | None:
        """The rack of a client; ``known`` is that of the state."""
        found = {name: self.racks.clients[name] for name in names if name in self.racks.clients}
        self._used.update(found)
        racks = {rack: name for name, rack in found.items()}
        if known is not None:
            racks.setdefault(known, "the state")
        if len(racks) > 1:
            values = " and ".join(f"{printable(rack)} by {printable(name)}" for rack, name in racks.items())
            is_its_own = is_recorded and known is not None
            self._contradicts(f"{self._file()}: one client is in {values}", is_recorded=is_its_own)
            return known
        return next(iter(racks), None)

    def _contradicts(self, sentence: str, *, is_recorded: bool) -> None:
        if not is_recorded:
            raise RackContradictionError(f"{sentence}: correct the one that is wrong")
        self._contradictions[sentence] = None

    # --- facts known afterwards -------------------------------------------------------------------

    def _what_is_known(self, clients: Iterable[StateClient], tasks: Iterable[StateTask]) -> str:
        missing = [f"client {client.host or client.process_id}" for client in clients if client.rack is None]
        hidden = any(task.partitions is None for task in tasks)
        lacking = {
            f"partition {each.topic}-{each.partition}"
            for task in tasks
            for each in task.partitions or ()
            if not each.racks
        }
        missing += sorted(lacking)
        if hidden:
            missing.append("the partitions, which --topology names where the log is read")
        if not missing:
            return f"racks of clients and partitions are those in {self._file()}"
        return f"{RACKS_UNKNOWN} {self._file()} does not have those of {_listed(missing)}"

    def _file(self) -> str:
        return ", ".join(str(Place(name)) for name in self.racks.files)


def _names_of_client(client: StateClient) -> Iterator[str]:
    yield client.process_id
    if client.host is not None:
        yield client.host
    # Kafka Streams names its consumers <client.id>-StreamThread-<number>-consumer-<uuid>.
    yield from dict.fromkeys(map(client_of, client.consumers))
    yield from _names_of_tags(client.tags)


def _names_of_member(member: StateMember) -> Iterator[str]:
    yield member.id
    yield member.process_id
    if member.instance_id is not None:
        yield member.instance_id
    if member.client_id:
        yield from dict.fromkeys((client_of(member.client_id), member.client_id))
    yield from _names_of_tags(member.tags)


def _names_of_start(start: StateStart) -> Iterator[str]:
    yield start.client
    yield from (each for each in (start.process_id, start.host, start.instance_id) if each is not None)
    yield from _names_of_tags(start.tags)


def _names_of_tags(tags: Mapping[str, str]) -> Iterator[str]:
    each = [f"{key}={value}" for key, value in sorted(tags.items())]
    yield from each
    if len(each) > 1:
        yield ",".join(each)


def _listed(names: Iterable[str]) -> str:
    every = [printable(name) for name in names]
    more = f" and {len(every) - _MOST_NAMED} more" if len(every) > _MOST_NAMED else ""
    return ", ".join(every[:_MOST_NAMED]) + more
