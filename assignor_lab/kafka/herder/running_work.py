"""The connectors and tasks that a worker starts and stops with an assignment.

Kafka: ``DistributedHerder.handleRebalanceCompleted``.

It starts what it holds and does not run. Tasks that stopped for new configurations start again where they still
belong. Under ``eager`` everything has stopped before each round, so nothing counts as running.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import attrs

from assignment_api.connect import ConnectorTaskId, ConnectProtocol, Jobs

__all__ = ["RunningWork"]


@attrs.define
class RunningWork:
    """What a worker has started.

    Args:
        running: Connectors, by name, and tasks that it has started with its assignments.
    """

    running: frozenset[str | ConnectorTaskId] = frozenset()
    _restart: dict[ConnectorTaskId, None] = attrs.field(factory=dict, init=False)

    def to_start(self, held: Jobs) -> Jobs:
        """What a worker starts that holds these jobs, in their order."""
        running = self.running.difference(self._restart)
        return Jobs(
            [name for name in held.connectors if name not in running],
            [task for task in held.tasks if task not in running],
        )

    def started(self, held: Jobs, protocol: ConnectProtocol | None) -> None:
        """It was started."""
        self._restart.clear()
        incremental = protocol is not None and protocol.is_incremental
        self.running = frozenset((*held.connectors, *held.tasks)) if incremental else frozenset()

    def stopped(self, jobs: Jobs) -> None:
        """Jobs were stopped that do not belong here any more."""
        self.running = self.running.difference(jobs.connectors, jobs.tasks)

    def stopped_everything(self) -> None:
        """Nothing runs any more."""
        self.running = frozenset()

    def tasks_of(self, connectors: Collection[str], held: Jobs | None) -> list[ConnectorTaskId]:
        """Tasks that run here of connectors with new configurations of tasks: these stop before the rebalance."""
        if held is None or not connectors:
            return []
        return [task for task in held.tasks if task.connector in connectors and task in self.running]

    def stopped_for_new_configs(self, tasks: Iterable[ConnectorTaskId]) -> None:
        """They stopped."""
        self._restart.update(dict.fromkeys(tasks))
