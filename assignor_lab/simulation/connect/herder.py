"""The herder of a worker: one chain of steps, from the start of its process to its end (reference 6.3, 6.4, 6.6).

It says what it waits for and is told when that has come: no thread, no clock, no network in here.
:mod:`assignor_lab.simulation.connect.herder_driver` moves it on.
"""

from __future__ import annotations

import attrs

from assignment_api.connect import NO_JOBS, ConnectProtocol
from assignor_lab.simulation.connect.config_updates import apply_updates, read_to_end, start_jobs
from assignor_lab.simulation.connect.herder_steps import Poll, Sleep, Steps
from assignor_lab.simulation.connect.membership import be_a_member, stop_everything
from assignor_lab.simulation.connect.worker import WorkerProcess

__all__ = ["herder"]


def herder(worker: WorkerProcess, start_ms: int) -> Steps:
    """The chain of all its steps, which ends when the worker is told to stop.

    Args:
        worker: The worker.
        start_ms: From the start of its process until it asks to join.
    """
    yield Sleep(start_ms)
    while not worker.stopping:
        if worker.unreadable:
            worker.unreadable = not (yield from read_to_end(worker))
            if worker.unreadable:
                continue
        yield from be_a_member(worker)
        if not (yield from _complete_rebalance(worker)):
            continue
        yield from worker.requests.run(worker)
        if worker.scheduled_ms is not None:
            worker.resolved = False
        if (yield from apply_updates(worker)):
            continue
        yield Poll(worker.scheduled_ms)
    if not worker.ended:
        yield from _shut_down(worker)


def _shut_down(worker: WorkerProcess) -> Steps:
    jobs = worker.pool.running_jobs(worker.number)
    yield Sleep(worker.pool.stop(worker.number, jobs, worker.world.now))
    if worker.member_id is not None:
        worker.world.leave_group(worker.member_id, "leaves")
    worker.ended = True


def _complete_rebalance(worker: WorkerProcess) -> Steps:
    """Reads what is missing, starts the work; false if the herder has to begin anew (reference 6.4)."""
    told = worker.told
    if worker.stopping or told is None:
        return False
    if worker.resolved:
        return True
    needs_join = needs_read = False
    if told.failed:
        needs_join = True
        needs_read = told.leader_id == worker.member_id or worker.seen < told.offset
    elif worker.seen < told.offset:
        needs_read = True
    if worker.scheduled_ms is not None and worker.scheduled_ms <= worker.world.now:
        needs_join, worker.scheduled_ms = True, None
    if needs_read:
        if (yield from read_to_end(worker)):
            worker.unsync_tries = 5
        else:
            yield from _back_off(worker)
            worker.unreadable = needs_join = True
    if needs_join or worker.seen != told.offset:
        worker.rejoin_requested = True
        return False
    yield from _start_work(worker)
    worker.resolved = True
    if len(told.revoked):
        worker.told = attrs.evolve(told, revoked=NO_JOBS)
        worker.rejoin_requested = True
        return False
    return not worker.rejoin_requested


def _start_work(worker: WorkerProcess) -> Steps:
    assert worker.held is not None
    if worker.restart_tasks:
        again = frozenset(task for task in worker.held.tasks if task.connector in worker.restart_tasks)
        worker.running -= again
        worker.restart_tasks.clear()
    connectors = [name for name in worker.held.connectors if name not in worker.running]
    tasks = [task for task in worker.held.tasks if task not in worker.running]
    if connectors or tasks:
        number = len(connectors) + len(tasks)
        worker.say("start", f"starts {len(connectors)} connectors and {len(tasks)} tasks", jobs=number)
        yield Sleep(start_jobs(worker, connectors, tasks))
    if worker.last_protocol is not None and worker.last_protocol.is_incremental:
        worker.running = frozenset((*worker.held.connectors, *worker.held.tasks))
    else:
        worker.running = frozenset()
    worker.world.work_started(worker.generation)


def _back_off(worker: WorkerProcess) -> Steps:
    """Leaves because the config topic cannot be read, and waits (reference 6.6)."""
    if worker.member_id is not None:
        worker.world.leave_group(worker.member_id, "cannot read the config topic and leaves")
        worker.member_id = None
    reason = "a worker that cannot read the config topic leaves and keeps its jobs for a while (reference 6.6)"
    worker.pool.runs.allow(worker.number, worker.world.now, reason)
    if worker.last_protocol is ConnectProtocol.EAGER:
        yield Sleep(worker.world.timings.worker_unsync_backoff_ms)
        return
    if worker.unsync_tries > 0:
        yield Sleep(worker.settings.max_delay_ms // 10 // worker.unsync_tries)
        worker.unsync_tries -= 1
        return
    yield from stop_everything(worker, "stops everything: the config topic stays unreadable")
    worker.unsync_tries = 5
