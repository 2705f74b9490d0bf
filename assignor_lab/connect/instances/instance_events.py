"""Events that instances of connectors and tasks tell their worker, and how they reach it."""

from __future__ import annotations

import asyncio
from typing import Protocol

import attrs

from assignor_lab.connect.logs.statuses import Job

__all__ = ["InstanceHost", "InstanceListener"]


class InstanceListener(Protocol):
    """Hears of one worker's instances, in order for each, on the event loop."""

    def on_running(self, job: Job) -> None:
        """It has started, or goes on after a pause."""

    def on_paused(self, job: Job) -> None:
        """It has paused."""

    def on_stopped(self, job: Job) -> None:
        """A connector is in its target state STOPPED."""

    def on_failed(self, job: Job, trace: str) -> None:
        """It has failed."""

    def on_shutdown(self, job: Job) -> None:
        """It has ended as it was told to."""

    def on_task_configs_wanted(self, connector: str) -> None:
        """A connector has other configurations for its tasks."""

    def on_topic_used(self, connector: str, topic: str, task: int) -> None:
        """A task has written to or read from a topic."""


@attrs.frozen(eq=False)
class InstanceHost:
    """The worker that an instance runs on.

    Args:
        worker_id: ``host:port`` of the worker.
        listener: Hears what comes of the instance.
        loop: The event loop on which it hears that.
    """

    worker_id: str
    listener: InstanceListener
    loop: asyncio.AbstractEventLoop
