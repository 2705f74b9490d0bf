"""Events of connectors' and tasks' instances for their worker."""

from __future__ import annotations

import asyncio
from typing import Protocol

import attrs

from connect_workers.logs.statuses import Job

__all__ = ["InstanceHost", "InstanceListener"]


class InstanceListener(Protocol):
    """Receives the events of one worker's instances, in order for each, on the event loop."""

    def on_running(self, job: Job) -> None: ...

    def on_paused(self, job: Job) -> None: ...

    def on_stopped(self, job: Job) -> None: ...

    def on_failed(self, job: Job, trace: str) -> None: ...

    def on_shutdown(self, job: Job) -> None: ...

    def on_task_configs_wanted(self, connector: str) -> None: ...

    def on_topic_used(self, connector: str, topic: str, task: int) -> None: ...


@attrs.frozen(eq=False)
class InstanceHost:
    """The worker that an instance runs on."""

    worker_id: str
    listener: InstanceListener
    loop: asyncio.AbstractEventLoop
