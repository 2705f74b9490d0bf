"""Events of connectors' and tasks' instances for their worker."""

from __future__ import annotations

import asyncio
from typing import Protocol

import attrs

from connect_workers.logs.statuses import Job

__all__ = ["InstanceHost", "InstanceListener"]


class InstanceListener(Protocol):
    """Receives the events of one worker's instances, in order for each, on the event loop."""

    def on_running(self, job: Job) -> None:
        """It has started, or goes on after a pause."""

    def on_paused(self, job: Job) -> None:
        """It has paused."""

    def on_stopped(self, job: Job) -> None:
        """A connector is in its target state STOPPED."""

    def on_failed(self, job: Job, trace: str) -> None:
        """It has failed."""

    def on_shutdown(self, job: Job) -> None:
        """The instance has stopped in order."""

    def on_task_configs_wanted(self, connector: str) -> None:
        """A connector has other configurations for its tasks."""

    def on_topic_used(self, connector: str, topic: str, task: int) -> None:
        """A task has written to or read from a topic."""


@attrs.frozen(eq=False)
class InstanceHost:
    """The worker that an instance runs on."""

    worker_id: str
    listener: InstanceListener
    loop: asyncio.AbstractEventLoop
