"""Connectors and tasks that a worker starts and stops with an assignment.

Kafka: ``DistributedHerder.handleRebalanceCompleted``.

It starts assigned jobs that do not run. Tasks that stopped for new configurations start again if they are still
assigned here. Under ``eager`` all jobs have stopped before each round, so none counts as running.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import attrs

from assignment_api.connect import ConnectorTaskId, ConnectProtocol, Jobs

__all__ = ["RunningWork"]


@attrs.define
class RunningWork:
    """Started jobs of a worker.

    Args:
        running: Connectors, by name, and tasks that it has started with its assignments.
    """

    running: frozenset[str | ConnectorTaskId] = frozenset()
    _restart: dict[ConnectorTaskId, None] = attrs.field(factory=dict, init=False)

    def to_start(self, held: Jobs) -> Jobs:
        """Jobs among ``held`` that a worker must start, in their order."""
        running = self.running.difference(self._restart)
        return Jobs(
            [name for name in held.connectors if name not in running],
            [task for task in held.tasks if task not in running],
        )

    def started(self, held: Jobs, protocol: ConnectProtocol | None) -> None:
        self._restart.clear()
        incremental = protocol is not None and protocol.is_incremental
        self.running = frozenset((*held.connectors, *held.tasks)) if incremental else frozenset()

    def stopped(self, jobs: Jobs) -> None:
        self.running = self.running.difference(jobs.connectors, jobs.tasks)

    def stopped_everything(self) -> None:
        self.running = frozenset()

    def tasks_of(self, connectors: Collection[str], held: Jobs | None) -> list[ConnectorTaskId]:
        """Running tasks of connectors with new configurations of tasks: these stop before the rebalance."""
        if held is None or not connectors:
            return []
        return [task for task in held.tasks if task.connector in connectors and task in self.running]

    def stopped_for_new_configs(self, tasks: Iterable[ConnectorTaskId]) -> None:
        self._restart.update(dict.fromkeys(tasks))
