"""Scenarios as tables for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from assignment_api import ApplicationMetadata
from assignment_api.notebook import names_text, table
from assignment_api.streams import AssignmentConfigs, StreamsClientState, TaskInfo
from assignment_api.streams.task_table import TaskTable
from assignor_lab.documents.wording import figure, moment, plural
from assignor_lab.scenarios.connect_history import ConnectHistory

__all__ = ["application_html", "events_html", "history_html"]


def application_html(tasks: Iterable[TaskInfo] | TaskTable, clients: Sequence[StreamsClientState]) -> str:
    """Clients and tasks, even under a configuration that Kafka refuses."""
    return ApplicationMetadata(AssignmentConfigs(), tasks, clients)._repr_html_()


def history_html(history: ConnectHistory) -> str:
    rows = (
        [
            number,
            moment(each.time_ms),
            len(each.workers),
            names_text((worker.member_id for worker in each.workers), len(each.workers), 4),
            len(each.configured.task_counts),
            sum(each.configured.task_counts.values()),
            "yes" if each.new_leader else "no",
        ]
        for number, each in enumerate(history.rounds)
    )
    columns = ["round", "time", "workers", "who", "connectors", "tasks", "new leader"]
    caption = f"Connect group, protocol {history.protocol.value}: {plural(len(history.rounds), 'round')}"
    return table(caption, columns, rows, len(history.rounds))


def events_html(events: Sequence[Mapping[str, Any]]) -> str:
    rows = (
        [
            f"{figure(each.get('at_ms', 0) / 1000)} s",
            each.get("type"),
            ", ".join(f"{key}={value}" for key, value in each.items() if key not in _SAID and _is_short(value)),
        ]
        for each in events
    )
    return table(f"Episode: {plural(len(events), 'event')}", ["at", "what", "of whom"], rows, len(events))


_SAID = frozenset({"at_ms", "type"})


def _is_short(value: object) -> bool:
    return isinstance(value, (str, int, float)) and not isinstance(value, bool)
