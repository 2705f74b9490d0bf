"""Herder of a worker: one generator of steps, from the start of its process to its end (Kafka: ``DistributedHerder``).

It yields each wait and receives the result, without thread, clock or network.
:mod:`assignor_lab.simulation.connect.workers.herder_driver` advances it.
"""

from __future__ import annotations

from assignor_lab.documents.wording import plural
from assignor_lab.simulation.connect.workers.config_updates import apply_updates, read_to_end, start_jobs
from assignor_lab.simulation.connect.workers.herder_steps import Poll, Sleep, Steps
from assignor_lab.simulation.connect.workers.membership import be_a_member, stop_everything
from assignor_lab.simulation.connect.workers.request_steps import run_requests
from assignor_lab.simulation.connect.workers.worker import WorkerProcess

__all__ = ["herder"]


def herder(worker: WorkerProcess, start_ms: int) -> Steps:
    yield Sleep(start_ms)
    while not worker.stopping:
        if worker.unreadable:
            worker.unreadable = not (yield from read_to_end(worker))
            if worker.unreadable:
                continue
        yield from be_a_member(worker)
        if not (yield from _complete_rebalance(worker)):
            continue
        yield from run_requests(worker)
        worker.completion.look_again()
        if (yield from apply_updates(worker)):
            continue
        yield Poll(worker.completion.rejoin_at_ms)
    if not worker.ended:
        yield from _shut_down(worker)


def _shut_down(worker: WorkerProcess) -> Steps:
    jobs = worker.pool.running_jobs(worker.number)
    stopped_in = worker.pool.stop(worker.number, jobs, worker.world.now)
    yield Sleep(stopped_in + worker.world.timings.worker_stop_ms)
    if worker.membership.member_id is not None:
        worker.world.leave_group(worker.membership.member_id, "leaves")
    worker.ended = True


def _complete_rebalance(worker: WorkerProcess) -> Steps:
    """Returns false if the herder must restart its loop (Kafka: ``DistributedHerder.handleRebalanceCompleted``)."""
    membership, assignment = worker.membership, worker.membership.assignment
    if worker.stopping or assignment is None:
        return False
    if worker.completion.resolved:
        return True
    missing = worker.completion.missing(assignment, membership.member_id, worker.seen, worker.world.now)
    must_join = missing.join
    if missing.read:
        if (yield from read_to_end(worker)):
            worker.unsync.read()
        else:
            yield from _back_off(worker)
            worker.unreadable = must_join = True
    if must_join or worker.seen != assignment.offset:
        cause = "the scheduled delay has ended" if missing.is_over else "its position in the config topic differs"
        membership.request_rejoin(cause)
        return False
    yield from _start_work(worker)
    worker.completion.resolved = True
    return not (membership.follow_revocations() or membership.rejoin_requested)


def _start_work(worker: WorkerProcess) -> Steps:
    held = worker.membership.held
    assert held is not None
    jobs = worker.work.to_start(held)
    if len(jobs):
        text = f"starts {plural(len(jobs.connectors), 'connector')} and {plural(len(jobs.tasks), 'task')}"
        worker.say("start", text, jobs=len(jobs))
        yield Sleep(start_jobs(worker, jobs))
    worker.work.started(held, worker.membership.protocol)
    worker.world.work_started(worker.membership.generation)


def _back_off(worker: WorkerProcess) -> Steps:
    """The config topic cannot be read: leave and wait (Kafka: ``DistributedHerder.backoff``)."""
    membership = worker.membership
    if membership.member_id is not None:
        worker.world.leave_group(membership.member_id, "cannot read the config topic and leaves")
        membership.member_id = None
    reason = "a worker that cannot read the config topic leaves and keeps its jobs for a while"
    worker.pool.runs.allow(worker.number, worker.world.now, reason)
    pause = worker.unsync.next_pause_ms(
        membership.protocol, worker.settings.max_delay_ms, worker.world.timings.worker_unsync_backoff_ms
    )
    if pause is None:
        yield from stop_everything(worker, "stops everything: the config topic stays unreadable")
    else:
        yield Sleep(pause)
