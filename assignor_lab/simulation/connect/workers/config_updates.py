"""A herder's reading of the config topic, and its reactions (Kafka: ``DistributedHerder.tick``)."""

from __future__ import annotations

from assignment_api.connect import Jobs
from assignor_lab.documents.wording import plural
from assignor_lab.simulation.connect.workers.herder_steps import Sleep, Steps
from assignor_lab.simulation.connect.workers.worker import WorkerProcess

__all__ = ["apply_updates", "read_to_end", "start_jobs"]


def read_to_end(worker: WorkerProcess) -> Steps:
    """Returns false if it gives up (Kafka: ``DistributedHerder.tick``)."""
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
    """Returns true if the herder must restart its loop (Kafka: ``DistributedHerder.tick``)."""
    if not worker.changes:
        return False
    worker.seen = worker.position
    actions = worker.changes.take(worker.membership.protocol)
    if actions.rejoin:
        worker.membership.request_rejoin("connectors or tasks have changed")
    yield from _restart_connectors(worker, actions.restart_connectors)
    tasks = worker.work.tasks_of(actions.stop_tasks_of, worker.membership.held)
    if tasks:
        worker.say("stop", f"stops {plural(len(tasks), 'task')} with new configurations", jobs=len(tasks))
        yield Sleep(worker.pool.stop(worker.number, Jobs((), tasks), worker.world.now))
        worker.work.stopped_for_new_configs(tasks)
    return actions.rejoin


def _restart_connectors(worker: WorkerProcess, connectors: tuple[str, ...]) -> Steps:
    own = worker.pool.running_jobs(worker.number).connectors
    for name in connectors:
        if name in own:
            worker.say("bounce", f"restarts connector {name}, whose configuration has changed", jobs=1)
            yield Sleep(worker.pool.stop(worker.number, Jobs((name,), ()), worker.world.now))
            yield Sleep(start_jobs(worker, Jobs((name,), ())))


def start_jobs(worker: WorkerProcess, jobs: Jobs) -> int:
    """Returns the herder's wait."""
    view = worker.view()
    took, ready = worker.pool.start(worker.number, worker.name, jobs.connectors, jobs.tasks, worker.world.now)
    for name in jobs.connectors:
        first = 0 if worker.knows_connectors else worker.world.timings.first_connector_ms.get(worker.name, 0)
        worker.knows_connectors = True
        if view.needs_task_configs(name):
            worker.requests.reconfigure_at(name, ready[name] + first)
    return took + worker.world.pause()
