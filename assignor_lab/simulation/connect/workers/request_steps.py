"""A herder's requests: validation, forwarding to the leader, writing to the config topic."""

from __future__ import annotations

from assignor_lab.documents.wording import plural
from assignor_lab.simulation.connect.surroundings.config_log import ConfigRecord
from assignor_lab.simulation.connect.workers.herder_steps import Sleep, Steps
from assignor_lab.simulation.connect.workers.requests import Request
from assignor_lab.simulation.connect.workers.worker import WorkerProcess

__all__ = ["run_requests"]

#: Most times that a request is forwarded.
_MOST_HOPS = 2


def run_requests(worker: WorkerProcess) -> Steps:
    for request in worker.requests.take():
        yield from _run(request, worker)


def _run(request: Request, worker: WorkerProcess) -> Steps:
    world = worker.world
    if not request.validated:
        request.validated = True
        worker.requests.add_at(request, world.now + world.timings.validation_ms + world.jitter())
        return
    if request.kind == "tasks" and request.tasks < 0:
        view = worker.view()
        if not view.needs_task_configs(request.connector):
            request.done(True)
            return
        request.tasks = view.wanted[request.connector]
    if not worker.membership.is_leader:
        _pass_on(request, worker)
        return
    if not world.can_read_config(worker.name):
        # The leader cannot read its own write back, and gives up.
        yield Sleep(world.timings.worker_sync_timeout_ms)
        request.done(False)
        return
    half = world.timings.config_write_ms // 2
    yield Sleep(half)
    if _write(request, worker):
        world.written(worker.name, tasks=request.kind == "tasks")
    # Others may read it before the leader does.
    yield Sleep(world.timings.config_write_ms - half + world.jitter())
    worker.read_config(world.config.end)
    request.done(True)


def _pass_on(request: Request, worker: WorkerProcess) -> None:
    leader = worker.membership.leader
    request.validated = request.kind not in ("create", "alter")
    request.hops += 1
    can = leader is not None and leader != worker.name and request.hops <= _MOST_HOPS
    if leader is None or not can or not worker.world.forward(leader, request):
        if request.kind == "tasks":
            request.tasks, request.validated, request.hops = -1, True, 0
        request.done(False)


def _write(request: Request, worker: WorkerProcess) -> bool:
    config = worker.world.config
    view = config.view(config.end)
    name = request.connector
    known = name in view.wanted
    if request.kind == "tasks":
        if not known or view.jobs.task_counts.get(name) == request.tasks:
            return False
        config.append(ConfigRecord("commit", name, request.tasks))
        worker.say("config", f"writes configurations of {plural(request.tasks, 'task')} of {name}")
        return True
    if request.kind == "delete":
        if not known:
            return False
        config.append(ConfigRecord("delete", name))
        worker.say("config", f"deletes connector {name}")
        return True
    if request.kind == "create" and known:
        return False
    config.append(ConfigRecord("connector", name, request.tasks))
    worker.say("config", f"{'changes' if known else 'creates'} connector {name}")
    return True
