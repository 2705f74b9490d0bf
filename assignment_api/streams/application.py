"""Input of an assignor."""

from __future__ import annotations

from collections.abc import Iterable, KeysView, Mapping
from itertools import islice
from types import MappingProxyType

from assignment_api.errors import IllegalAssignmentArgumentError
from assignment_api.streams.client_state import LagGate, StreamsClientState
from assignment_api.streams.configs import AssignmentConfigs
from assignment_api.streams.ids import ProcessID, TaskId
from assignment_api.streams.task_table import TaskTable
from assignment_api.streams.tasks import TaskInfo
from assignment_api.streams.workload import Workload

__all__ = ["ApplicationMetadata", "ApplicationState"]


class ApplicationMetadata:
    """Read-only view of the application at a rebalance.

    Draft KIP-924: ``ApplicationMetadata``; Kafka 4.3: ``ApplicationState``. Clients and tasks are ordered as Kafka's
    leader would have inserted them; hash orders of the sticky family depend on it.

    Args:
        tasks: Each id once; states may share a :class:`~assignment_api.streams.task_table.TaskTable`.
        clients: Each process id once.
        current_time_ms: Epoch milliseconds.
        leader_process_id: ``None``: the first client counts.
        workload: Weights of tasks; ``None``: unknown, as in Kafka.

    Raises:
        IllegalAssignmentArgumentError: if an id occurs twice, the leader is no client, or only some clients have lags.
        IllegalAssignmentStateError: if only some tasks are named.
    """

    __slots__ = ("_clients", "_configs", "_gate", "_leader", "_tasks", "_time_ms", "_workload")

    def __init__(
        self,
        configs: AssignmentConfigs,
        tasks: Iterable[TaskInfo] | TaskTable,
        clients: Iterable[StreamsClientState],
        current_time_ms: int = 0,
        leader_process_id: ProcessID | None = None,
        workload: Workload | None = None,
    ) -> None:
        self._gate = LagGate()
        self._configs = configs
        self._tasks = tasks if isinstance(tasks, TaskTable) else TaskTable(tasks)
        self._clients = _by_process(clients, self._gate)
        self._time_ms = current_time_ms
        self._leader = leader_process_id
        self._workload = workload
        if leader_process_id is not None and leader_process_id not in self._clients:
            raise IllegalAssignmentArgumentError(f"leader {leader_process_id} is none of the clients")

    def streams_client_states(self) -> Mapping[ProcessID, StreamsClientState]:
        """In the order of the input; read-only."""
        return self._clients

    def compute_task_lags(self) -> bool:
        """Open the lag accessors of client states.

        Returns:
            False without end offsets; accessors then still raise ``LagsNotComputedError``.
        """
        if not all(client.has_lags() for client in self._clients.values()):
            return False
        self._gate.is_open = True
        return True

    def assignment_configs(self) -> AssignmentConfigs:
        """The configuration of the assignment."""
        return self._configs

    def all_tasks(self) -> KeysView[TaskId]:
        """Tasks to place: an ordered, read-only set."""
        return self._tasks.infos.keys()

    def stateful_tasks(self) -> KeysView[TaskId]:
        """Stateful *and* logged tasks, as in the KIP: ordered, read-only."""
        return self._tasks.stateful

    def task_infos(self) -> Mapping[TaskId, TaskInfo]:
        """Partitions, racks and stores by task, in the order of the input; read-only (Kafka: ``allTasks()``).

        States with the same tasks may share it.
        """
        return self._tasks.infos

    def current_time_ms(self) -> int:
        """Moment of the rebalance, epoch milliseconds; use no other clock."""
        return self._time_ms

    def leader_process_id(self) -> ProcessID | None:
        """``None`` if unknown: the first client counts."""
        return self._leader

    def workload(self) -> Workload | None:
        """Weights of tasks, or ``None``; unused by Kafka's own assignors."""
        return self._workload

    def for_next_assignor(self) -> ApplicationMetadata:
        """The same with lags not computed, so that all assignors start equally."""
        return self.with_configs(self._configs)

    def with_configs(self, configs: AssignmentConfigs) -> ApplicationMetadata:
        """The same with another configuration, for delegation; lags are not computed."""
        copy = object.__new__(ApplicationMetadata)
        copy._gate = LagGate()
        copy._configs, copy._tasks = configs, self._tasks
        copy._time_ms, copy._leader, copy._workload = self._time_ms, self._leader, self._workload
        gate = copy._gate
        copy._clients = MappingProxyType({process: each.behind(gate) for process, each in self._clients.items()})
        return copy

    def _repr_html_(self) -> str:
        from assignment_api.notebook import names_text, paragraph, table

        rows = (
            [
                client.process_id,
                None if client.host_info is None else client.host_info.host,
                client.rack_id,
                ", ".join(f"{key}={value}" for key, value in islice(client.client_tags.items(), 8)) or None,
                client.num_stream_threads,
                len(client.previous_active_tasks),
                names_text(client.previous_active_tasks, len(client.previous_active_tasks)),
                len(client.previous_standby_tasks),
                names_text(client.previous_standby_tasks, len(client.previous_standby_tasks)),
            ]
            for client in self._clients.values()
        )
        columns = ["client", "host", "rack", "tags", "threads", "ran", "active tasks", "had", "standby tasks"]
        counts = f"{len(self._clients)} clients, {len(self.all_tasks())} tasks, {len(self.stateful_tasks())} with state"
        known = all(client.has_lags() for client in self._clients.values())
        lags = "" if known else paragraph("The lags are not known: the end offsets could not be fetched.")
        clients = table(f"Application: {counts}", columns, rows, len(self._clients))
        return f"<div>{clients}{lags}</div>"


def _by_process(clients: Iterable[StreamsClientState], gate: LagGate) -> Mapping[ProcessID, StreamsClientState]:
    states: dict[ProcessID, StreamsClientState] = {}
    for client in clients:
        if client.process_id in states:
            raise IllegalAssignmentArgumentError(f"client {client.process_id} occurs twice")
        states[client.process_id] = client.behind(gate)
    if len({client.has_lags() for client in states.values()}) > 1:
        raise IllegalAssignmentArgumentError(
            "some clients have lags and some have none: give lags for all, or for none"
        )
    return MappingProxyType(states)


#: The name of released Kafka.
ApplicationState = ApplicationMetadata
