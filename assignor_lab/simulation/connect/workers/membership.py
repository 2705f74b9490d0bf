"""Membership of a simulated worker: finding the coordinator, joining, syncing (Kafka: ``WorkerCoordinator``)."""

from __future__ import annotations

from typing import Any

from assignment_api.connect import NO_JOBS, WILDCARD, ConnectProtocol, Jobs
from assignor_lab.kafka.coordinator import JoinReply, JoinRequest, Refused, Synced, SyncRequest
from assignor_lab.simulation.connect.workers.herder_steps import Ask, Sleep, Steps, Subscription
from assignor_lab.simulation.connect.workers.leading import lead
from assignor_lab.simulation.connect.workers.worker import WorkerProcess

__all__ = ["be_a_member", "stop_everything"]


def be_a_member(worker: WorkerProcess) -> Steps:
    """Find the coordinator, and join if needed; stop all jobs without one."""
    while not worker.stopping:
        if worker.lost_coordinator or not worker.world.reachable(worker.name):
            worker.lost_coordinator = True
            yield from _find_coordinator(worker)
        elif not worker.membership.needs_join or (yield from _join(worker)):
            return


def _find_coordinator(worker: WorkerProcess) -> Steps:
    yield Sleep(worker.world.timings.heartbeat_interval_ms)
    if worker.world.reachable(worker.name):
        worker.lost_coordinator = False
        return
    if worker.membership.held is not None and worker.membership.has_assignment:
        # Self-fencing: other workers will get these jobs.
        yield from stop_everything(worker, "stops everything: it cannot reach the coordinator")


def stop_everything(worker: WorkerProcess, why: str) -> Steps:
    jobs = worker.pool.running_jobs(worker.number)
    if len(jobs):
        worker.say("fenced", f"{why} ({len(jobs)} jobs)", jobs=len(jobs))
        yield Sleep(worker.pool.stop(worker.number, jobs, worker.world.now))
    worker.membership.forget_everything()
    worker.work.stopped_everything()


def _join(worker: WorkerProcess) -> Steps:
    membership = worker.membership
    membership.joining()
    if membership.stops_all_to_join:
        yield from _stop_the_world(worker)
    joined = yield Ask(_join_request(worker))
    if not isinstance(joined, JoinReply):
        _refused(worker, joined)
        return False
    membership.joined(joined)
    assignments = None
    if joined.members is not None:
        assignments = yield from lead(worker, joined)
    synced = yield Ask(SyncRequest(joined.member_id, joined.generation, assignments))
    if not isinstance(synced, Synced):
        _refused(worker, synced)
        return False
    if synced.assignment is None:
        # Kafka cannot read an assignment of no bytes. An unexpected error of its herder ends the process, which stops
        # its jobs and leaves (WorkerCoordinator.onJoinComplete, DistributedHerder.run).
        worker.say("refused", "ends: the leader's answer leaves it out")
        worker.stopping = True
        return False
    yield from _take(worker, synced)
    return True


def _stop_the_world(worker: WorkerProcess) -> Steps:
    jobs = _own_first(worker, worker.pool.running_jobs(worker.number))
    if len(jobs):
        worker.say("stop", f"stops all its {len(jobs)} jobs before it joins", jobs=len(jobs))
        yield Sleep(worker.pool.stop(worker.number, jobs, worker.world.now))


def _own_first(worker: WorkerProcess, running: Jobs) -> Jobs:
    """``running`` in the order of the assignment on the wire, in which Kafka stops jobs.

    Tasks without the connector's instance come last.
    """
    place: dict[Any, int] = {}
    for job in (*worker.report().connectors, *worker.report().tasks):
        place[job] = len(place)
    last = len(place)
    return Jobs(
        sorted(running.connectors, key=lambda name: place.get(name, last)),
        sorted(running.tasks, key=lambda task: place.get(task, last)),
    )


def _refused(worker: WorkerProcess, answer: Any) -> None:
    if answer is None:
        worker.lost_coordinator = True
    if worker.membership.refused(answer if isinstance(answer, Refused) else None):
        worker.say("refused", "cannot join: the group speaks none of its protocols, and the worker ends")
        worker.ended = True
        worker.stopping = True


def _join_request(worker: WorkerProcess) -> JoinRequest:
    timings, membership = worker.world.timings, worker.membership
    assignment = membership.assignment
    last = (
        None
        if assignment is None
        else (membership.last_completed, assignment.leader_id, assignment.offset, assignment.delay_ms)
    )
    held = worker.report()
    offers = {
        protocol: Subscription(
            worker.position,
            held if protocol.is_incremental else NO_JOBS,
            worker.settings.static if protocol is ConnectProtocol.STATIC else WILDCARD,
            last if protocol.is_incremental else None,
            worker.settings.url or f"http://{worker.name}/",
            worker.settings.labels,
        )
        for protocol in worker.settings.protocol.offered()
    }
    return JoinRequest(
        worker.name,
        membership.member_id,
        offers,
        timings.rebalance_timeout_ms,
        timings.session_timeout_ms,
        reason=membership.reason,
    )


def _take(worker: WorkerProcess, synced: Synced) -> Steps:
    """Stop the revoked jobs, and keep the rest (Kafka: ``WorkerCoordinator``)."""
    membership, assignment, before = worker.membership, synced.assignment, worker.membership.protocol
    revoked = membership.receive(synced, assignment, worker.settings.downgrade)
    if len(revoked):
        worker.say("stop", f"stops {len(revoked)} revoked jobs", jobs=len(revoked))
        yield Sleep(worker.pool.stop(worker.number, revoked, worker.world.now))
        worker.work.stopped(revoked)
    came_down = before is not None and before.is_incremental and not synced.protocol.is_incremental
    if came_down and worker.settings.downgrade == "kafka":
        worker.pool.runs.allow(worker.number, worker.world.now, "KAFKA-13816: a downgrade to eager stops nothing")
    membership.take(synced, assignment)
    worker.completion.assigned(assignment, worker.world.now)
