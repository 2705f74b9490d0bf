"""One group under both protocols: a ``streams`` scenario in the brokers' form (KIP-1071).

Facts that the classic protocol lacks are assumed, and each assumption is reported beside the document.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from assignment_api.streams import StreamsClientState, TaskId, TaskInfo
from assignment_api.streams.configs import NUM_STANDBY_REPLICAS
from assignor_lab.scenarios.formats.state_parts import state_clients
from assignor_lab.scenarios.scenario import Scenario
from assignor_lab.scenarios.state_parts import StateClient

__all__ = ["GroupDocument", "group_document"]


@attrs.frozen
class GroupDocument:
    """A converted scenario."""

    document: dict[str, Any]
    assumptions: tuple[str, ...]


def group_document(scenario: Scenario) -> GroupDocument:
    """The group of a ``streams`` scenario under the broker-side protocol.

    A member is a thread: its id is that of the consumer, its process that of the client. A sub-topology is stateful if
    one of its tasks has a changelog, and the greatest partition gives its number of tasks; one of a named topology
    is called ``<topology>__<number>``. A consumer's previous tasks are its previous target. Members have the order of
    the clients and, within a client, of its consumers. Settings of time, client ids and instance ids stay. Lags are
    dropped: no client of Kafka 4.3.1 reports offsets.

    Raises:
        ScenarioKindError: if the scenario is of another kind.
    """
    clients = scenario.clients
    settings = scenario.document.get("settings")
    notes: dict[str, None] = dict.fromkeys(scenario.assumptions)
    members: list[dict[str, Any]] = []
    for client, given in zip(clients, state_clients(scenario.document), strict=True):
        # A client's state has its consumers sorted; the document has them in the leader's order.
        members += _members(given, client, notes)
    document = {
        "format": scenario.document["format"],
        "kind": "streams-group",
        "id": scenario.id,
        "config": {NUM_STANDBY_REPLICAS: scenario.config.get(NUM_STANDBY_REPLICAS, 0)},
        **({} if settings is None else {"settings": settings}),
        "subtopologies": _subtopologies(scenario.tasks, notes),
        "members": members,
    }
    return GroupDocument(document, tuple(notes))


def _subtopology_of(task: TaskId) -> str:
    return str(task.subtopology) if task.topology_name is None else f"{task.topology_name}__{task.subtopology}"


def _subtopologies(infos: Sequence[TaskInfo], notes: dict[str, None]) -> list[dict[str, Any]]:
    by_subtopology: dict[str, list[TaskInfo]] = {}
    for info in sorted(infos, key=lambda info: info.id.sort_key()):
        by_subtopology.setdefault(_subtopology_of(info.id), []).append(info)
    subtopologies = []
    for key, members in by_subtopology.items():
        size = members[-1].id.partition + 1
        if (lacking := size - len(members)) != 0:
            notes.setdefault(f"sub-topology {key} lacks {lacking} of the partitions 0 to {size - 1}: it has them here")
        stateful = sum(info.is_logged for info in members)
        if 0 < stateful < len(members):
            notes.setdefault(
                f"sub-topology {key} has tasks with and without a changelog: all of them count as stateful here"
            )
        subtopologies.append({"id": key, "tasks": size, "stateful": stateful > 0})
    return subtopologies


def _members(given: StateClient, client: StreamsClientState, notes: dict[str, None]) -> list[dict[str, Any]]:
    names, known = list(given.consumers), given.members
    if not names:
        names = [f"{client.process_id}-{number}" for number in range(1, client.num_stream_threads + 1)]
        notes["clients without consumers have a member for each thread, named by process id and number"] = None
    had = _previous(names, client, notes)
    return [
        {
            "id": name,
            "instance_id": known[name].instance_id if name in known else None,
            **({"client_id": known[name].client_id} if name in known else {}),
            "rack": client.rack_id,
            "process_id": str(client.process_id),
            "tags": dict(client.client_tags),
            "active": _partitions(had[name], client.previous_active_tasks),
            "standby": _partitions(had[name], client.previous_standby_tasks),
            "warmup": {},
            "task_offsets": {},
            "task_end_offsets": {},
        }
        for name in names
    ]


def _previous(
    names: Sequence[str], client: StreamsClientState, notes: dict[str, None]
) -> Mapping[str, Sequence[TaskId]]:
    """Member to its previous tasks; tasks that no consumer reported go to the members with fewest."""
    had = {name: list(client.previous_tasks_of(name)) for name in names}
    reported = {task for tasks in had.values() for task in tasks}
    for task in (*client.previous_active_tasks, *client.previous_standby_tasks):
        if task not in reported and had:
            had[min(names, key=lambda name: len(had[name]))].append(task)
            notes["which consumer had a previous task is not known everywhere: such tasks were dealt out evenly"] = None
    return had


def _partitions(had: Iterable[TaskId], of_role: Iterable[TaskId]) -> dict[str, list[int]]:
    role = set(of_role)
    by_subtopology: dict[str, list[int]] = {}
    for task in sorted(set(had) & role, key=TaskId.sort_key):
        by_subtopology.setdefault(_subtopology_of(task), []).append(task.partition)
    return by_subtopology
