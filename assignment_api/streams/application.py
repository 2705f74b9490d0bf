"""The whole input of an assignor: clients, tasks, configuration."""

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

__all__ = ["ApplicationMetadata"]


class ApplicationMetadata:
    """Read-only view of the application at the moment of a rebalance.

    Draft KIP-924: ``ApplicationMetadata``; Kafka 4.3: ``ApplicationState``. All collections are ordered. Clients and
    tasks come in the order in which Kafka's leader would have inserted them, and the hash orders of the sticky family
    depend on it.

    Args:
        tasks: All tasks, each id once; states with the same :class:`~assignment_api.streams.task_table.TaskTable`
            object share it.
        clients: All clients, each process id once.
        current_time_ms: Epoch milliseconds; an assignor never reads a clock.
        leader_process_id: Client that leads the group, or ``None``: the first client counts as the leader.
        workload: Weights of the tasks, or ``None``: unknown, as in Kafka.

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
        """The clients in the order of the input; read-only."""
        return self._clients

    def compute_task_lags(self) -> bool:
        """Open the lag accessors of the client states.

        Returns:
            False if the end offsets could not be fetched. The accessors then still raise ``LagsNotComputedError``.
        """
        if not all(client.has_lags() for client in self._clients.values()):
            return False
        self._gate.is_open = True
        return True

    def assignment_configs(self) -> AssignmentConfigs:
        """The configuration of the assignment."""
        return self._configs

    def all_tasks(self) -> KeysView[TaskId]:
        """All tasks that must be placed: an ordered, read-only set."""
        return self._tasks.infos.keys()

    def stateful_tasks(self) -> KeysView[TaskId]:
        """The tasks that are stateful *and* logged to a changelog, as in the KIP: an ordered, read-only set."""
        return self._tasks.stateful

    def task_infos(self) -> Mapping[TaskId, TaskInfo]:
        """Partitions, racks and stores of each task, in the order of the input; read-only (Kafka: ``allTasks()``).

        States of one application with the same tasks may return the same object.
        """
        return self._tasks.infos

    def current_time_ms(self) -> int:
        """Moment of the rebalance, epoch milliseconds."""
        return self._time_ms

    def leader_process_id(self) -> ProcessID | None:
        """The client that leads the group, or ``None`` if unknown (then the first client counts)."""
        return self._leader

    def workload(self) -> Workload | None:
        """Weights of the tasks, or ``None`` if unknown. Kafka's own assignors do not use them; yours may."""
        return self._workload

    def for_next_assignor(self) -> ApplicationMetadata:
        """The same application with its lags not yet computed, so that every assignor starts from the same state."""
        return self.with_configs(self._configs)

    def with_configs(self, configs: AssignmentConfigs) -> ApplicationMetadata:
        """The same application under another configuration, for an assignor that delegates to another one.

        Its lags are not yet computed.
        """
        copy = object.__new__(ApplicationMetadata)
        copy._gate = LagGate()
        copy._configs, copy._tasks = configs, self._tasks
        copy._time_ms, copy._leader, copy._workload = self._time_ms, self._leader, self._workload
        gate = copy._gate
        copy._clients = MappingProxyType({process: each.behind(gate) for process, each in self._clients.items()})
        return copy

    def _repr_html_(self) -> str:
        """A table for notebooks: a row for each client, in order, with its previous tasks."""
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
