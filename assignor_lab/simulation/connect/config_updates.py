"""What a herder does about the config topic: reading it, and acting on what it read (reference 6.3, step 7)."""

from __future__ import annotations

from typing import Any

from assignment_api.connect import ConnectProtocol, Jobs
from assignor_lab.simulation.connect.herder_steps import Sleep, Steps
from assignor_lab.simulation.connect.worker import WorkerProcess

__all__ = ["apply_updates", "read_to_end", "start_jobs"]


def read_to_end(worker: WorkerProcess) -> Steps:
    """Reads the config topic to its end, or gives up; whether it was read (reference 6.3, step 0)."""
    timings = worker.world.timings
    if not worker.world.can_read_config(worker.name):
        yield Sleep(timings.worker_sync_timeout_ms)
        if not worker.world.can_read_config(worker.name):
            return False
    yield Sleep(timings.config_read_ms)
    if not worker.world.can_read_config(worker.name):
        return False
    worker.read_config(worker.world.config.end)
    worker.seen = worker.position
    return True


def apply_updates(worker: WorkerProcess) -> Steps:
    """Acts on what was read (reference 6.3, step 7); true if the herder has to begin anew."""
    if not (worker.needs_rebalance or worker.changed or worker.retasked):
        return False
    worker.seen = worker.position
    eager = worker.last_protocol is ConnectProtocol.EAGER
    rebalance, worker.needs_rebalance = worker.needs_rebalance, False
    if rebalance:
        worker.rejoin_requested = True
    if eager and rebalance:
        worker.changed.clear()
        worker.retasked.clear()
        return True
    yield from _bounce_changed(worker)
    retasked = list(worker.retasked)
    worker.retasked.clear()
    if not eager and worker.held is not None:
        tasks = [task for task in worker.held.tasks if task.connector in retasked and task in worker.running]
        if tasks:
            worker.say("stop", f"stops {len(tasks)} tasks that have new configurations", jobs=len(tasks))
            yield Sleep(worker.pool.stop(worker.number, Jobs((), tasks), worker.world.now))
            worker.restart_tasks.update(dict.fromkeys(task.connector for task in tasks))
    return rebalance


def _bounce_changed(worker: WorkerProcess) -> Steps:
    own = worker.pool.running_jobs(worker.number).connectors
    names = [name for name in worker.changed if name in own]
    worker.changed.clear()
    for name in names:
        worker.say("bounce", f"restarts connector {name}, whose configuration has changed", jobs=1)
        yield Sleep(worker.pool.stop(worker.number, Jobs((name,), ()), worker.world.now))
        yield Sleep(start_jobs(worker, [name], []))


def start_jobs(worker: WorkerProcess, connectors: list[str], tasks: list[Any]) -> int:
    """Starts jobs; how long the herder waits. New connector instances will write their tasks' configurations."""
    view = worker.view()
    took, ready = worker.pool.start(worker.number, worker.name, connectors, tasks, worker.world.now)
    for name in connectors:
        first = 0 if worker.knows_connectors else worker.world.timings.first_connector_ms.get(worker.name, 0)
        worker.knows_connectors = True
        if view.needs_task_configs(name):
            worker.requests.reconfigure_at(name, ready[name] + first)
    return took + worker.world.pause()
