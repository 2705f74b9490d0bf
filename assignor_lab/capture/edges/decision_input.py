"""The input of a recorded decision: typed facts of its document, each read when it is needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from assignment_api.streams.client_state import UNTOLD_LAG
from assignor_lab.model.decision import CLASSIC, STREAMS
from assignor_lab.scenarios.formats.state_parts import state_clients, state_members
from assignor_lab.scenarios.state_parts import StateClient, StateMember

__all__ = ["DecisionInput", "ActiveTasks", "RestoredStore", "SeenWait", "named_tasks", "protocol_of"]


@attrs.frozen
class RestoredStore:
    """A completed restore of one store.

    Args:
        client: Client id of the instance.
    """

    time_ms: int
    client: str
    task: str
    store: str
    records: int


@attrs.frozen
class SeenWait:
    """A wait of a member, with the types of :class:`~assignor_lab.capture.logs.member_waits.MemberWait`."""

    client: str
    type: str
    ms: int


@attrs.frozen
class ActiveTasks:
    """The active tasks of a member of a streams group from a time on."""

    time_ms: int
    member: str
    active: frozenset[str]


@attrs.frozen(eq=False)
class DecisionInput:
    """Facts of a checked scenario of a Streams group in either protocol."""

    document: Mapping[str, Any]

    @property
    def protocol(self) -> str | None:
        return protocol_of(self.document)

    @property
    def is_classic(self) -> bool:
        return self.protocol == CLASSIC

    @property
    def tasks(self) -> Mapping[str, bool]:
        """Task to true if it has a changelog."""
        if self.is_classic:
            return {task["id"]: task["logged"] for task in self.document["tasks"]}
        return {
            f"{each['id']}_{number}": each["stateful"]
            for each in self.document["subtopologies"]
            for number in range(each["tasks"])
        }

    @property
    def clients(self) -> tuple[StateClient, ...]:
        """Of the classic protocol."""
        return state_clients(self.document)

    @property
    def members(self) -> tuple[StateMember, ...]:
        """Of the streams protocol."""
        return state_members(self.document)

    @property
    def by_thread(self) -> Mapping[str, list[str]]:
        """Consumer to the tasks and copies that the decision gives it; empty: unknown."""
        threads = self.document["observed"].get("threads") or {}
        return {name: [*held["active"], *held["standby"]] for name, held in threads.items()}

    @property
    def targets(self) -> Mapping[str, tuple[list[str], list[str], list[str]]]:
        """Member to its target: tasks, standbys, warm-ups."""
        members: Mapping[str, Mapping[str, Mapping[str, Iterable[int]]]] = self.document["observed"]["members"]
        return {
            name: (named_tasks(held["active"]), named_tasks(held["standby"]), named_tasks(held["warmup"]))
            for name, held in members.items()
        }

    @property
    def has_owners(self) -> bool:
        """True if a member had a task or a copy before the decision."""
        if self.is_classic:
            return any(each["previous_active"] or each["previous_standby"] for each in self.document["clients"])
        return any(each["active"] or each["standby"] for each in self.document["members"])

    @property
    def previous_owners(self) -> Mapping[str, str]:
        """Active task to the process that had it before the decision."""
        if self.is_classic:
            clients = self.document["clients"]
            return {task: client["process_id"] for client in clients for task in client["previous_active"]}
        return {task: each["process_id"] for each in self.document["members"] for task in named_tasks(each["active"])}

    @property
    def changelog_ends(self) -> Mapping[str, int]:
        """From samples, or from the lag of a client without any of a task's state."""
        found: dict[str, int] = {}
        if not self.is_classic:
            weights = self._weights
            return {task: round(each["state_records"]) for task, each in weights.items() if "state_records" in each}
        for client in self.document["clients"]:
            has = {*client["previous_active"], *client["previous_standby"]}
            found |= {
                task: lag for task, lag in (client["lags"] or {}).items() if 0 <= lag < UNTOLD_LAG and task not in has
            }
        return found

    @property
    def state_bytes(self) -> Mapping[str, float]:
        return {task: each["state_bytes"] for task, each in self._weights.items() if each.get("state_bytes")}

    @property
    def restored(self) -> Iterator[RestoredStore]:
        """In the order of the source."""
        for each in self._source.get("restored", ()):
            yield RestoredStore(each["time_ms"], each["client"], each["task"], each["store"], each["records"])

    @property
    def waits(self) -> Iterator[SeenWait]:
        """In the order of the source."""
        for each in self._source.get("waits", ()):
            yield SeenWait(each["client"], each["type"], each["ms"])

    @property
    def member_tasks(self) -> Iterator[ActiveTasks]:
        """Changes of the members' current assignments up to the decision."""
        for each in self._source.get("current", ()):
            yield ActiveTasks(each["time_ms"], each["member"], frozenset(named_tasks(each["active"])))

    def lags_of(self, process_id: str) -> Mapping[str, int]:
        """Lags that the process reported, by task; empty if it reported none."""
        clients = self.document.get("clients", ())
        lags: Mapping[str, int] | None = next(
            (each["lags"] for each in clients if each["process_id"] == process_id), None
        )
        return lags or {}

    def owned_by(self, process_id: str) -> frozenset[str]:
        """Active tasks that the process still had before the decision of a classic group."""
        return self._previous(process_id, "previous_active")

    def copies_of(self, process_id: str) -> frozenset[str]:
        """Other tasks of which the process had state before the decision of a classic group."""
        return self._previous(process_id, "previous_standby")

    def _previous(self, process_id: str, kind: str) -> frozenset[str]:
        clients = self.document.get("clients", ())
        return frozenset(task for each in clients if each["process_id"] == process_id for task in each[kind])

    @property
    def settings(self) -> Mapping[str, Any]:
        """Settings of the group, by Kafka's keys."""
        found: Mapping[str, Any] = self.document.get("settings", {})
        return found

    @property
    def assumptions(self) -> Iterable[str]:
        found: Iterable[str] = self.document.get("assumptions", ())
        return found

    @property
    def _source(self) -> Mapping[str, Any]:
        return self.document.get("source") or {}

    @property
    def _weights(self) -> Mapping[str, Mapping[str, Any]]:
        found: Mapping[str, Mapping[str, Any]] = self.document.get("workload", {}).get("tasks", {})
        return found


def protocol_of(document: Mapping[str, Any]) -> str | None:
    """``None`` if the scenario is no decision of a Streams group.

    A classic leader's input is ``clients``; a broker's input has sub-topologies.
    """
    if "clients" in document:
        return CLASSIC
    return STREAMS if "subtopologies" in document else None


def named_tasks(tasks: Mapping[str, Iterable[int]]) -> list[str]:
    """Of partitions by sub-topology."""
    return [f"{subtopology}_{number}" for subtopology, numbers in tasks.items() for number in numbers]
