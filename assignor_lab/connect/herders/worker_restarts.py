"""A restart as each worker carries it out, for what is its own (reference 7.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assignment_api.connect import Jobs
from assignor_lab.connect.herders.herder import RestartRequest
from assignor_lab.connect.herders.restarts import connector_to_restart, restart_plan, tasks_to_restart

if TYPE_CHECKING:
    from assignor_lab.connect.herders.herder_loop import HerderLoop

__all__ = ["restart_on_worker"]


async def restart_on_worker(loop: HerderLoop, request: RestartRequest) -> None:
    """Stops and starts what a request means and this worker has, by its own view of the statuses.

    The connector stops first, then all tasks together; they start again in the same order.

    Args:
        loop: The worker's herder.
        request: What was asked for.
    """
    name = request.connector
    plan = restart_plan(request, loop.logs.statuses, "unknown")
    if plan is None or name not in loop.snapshot.connectors:
        return
    held = loop.membership.held or Jobs()
    connector = connector_to_restart(plan, held.connectors)
    tasks = tasks_to_restart(plan, held.tasks)
    if connector:
        await loop.instances.stop_connector(name)
        loop.instances.on_restarting(name)
    if tasks:
        await loop.instances.stop_tasks(tasks)
        for task in tasks:
            loop.instances.on_restarting(task)
    # Stopping takes time, and the work may be somebody else's by now.
    held = loop.membership.held or Jobs()
    if connector and name in held.connectors:
        loop.start_connector(name)
    for task in tasks:
        if task in held.tasks:
            loop.start_task(task)
