"""How a worker becomes and stays a member of its group (reference 6.2, 6.7)."""

from __future__ import annotations

from typing import Any

from assignment_api.connect import NO_JOBS, WILDCARD, ConnectProtocol, Jobs
from assignor_lab.kafka.coordinator import Joined, JoinRequest, Refused, Synced, SyncRequest
from assignor_lab.simulation.connect.herder_steps import Ask, Memory, Sleep, Steps, Told
from assignor_lab.simulation.connect.leading import lead
from assignor_lab.simulation.connect.worker import WorkerProcess

__all__ = ["be_a_member", "stop_everything"]


def _needs_join(worker: WorkerProcess) -> bool:
    return (
        worker.group_says_rejoin
        or worker.rejoin_requested
        or worker.member_id is None
        or worker.told is None
        or worker.told.failed
    )


def be_a_member(worker: WorkerProcess) -> Steps:
    """Finds the coordinator, and joins where that is needed; stops everything while there is none."""
    while not worker.stopping:
        if worker.lost_coordinator or not worker.world.reachable(worker.name):
            worker.lost_coordinator = True
            yield from _find_coordinator(worker)
        elif not _needs_join(worker) or (yield from _join(worker)):
            return


def _find_coordinator(worker: WorkerProcess) -> Steps:
    yield Sleep(worker.world.timings.heartbeat_interval_ms)
    if worker.world.reachable(worker.name):
        worker.lost_coordinator = False
        return
    if worker.held is not None and worker.told is not None and not worker.told.failed:
        # Self-fencing: others will be given these jobs.
        yield from stop_everything(worker, "stops everything: it cannot reach the coordinator")


def stop_everything(worker: WorkerProcess, why: str) -> Steps:
    """Stops all it runs and forgets that it was ever assigned anything; ``why`` is for the log."""
    jobs = worker.pool.running_jobs(worker.number)
    if len(jobs):
        worker.say("fenced", f"{why} ({len(jobs)} jobs)", jobs=len(jobs))
        yield Sleep(worker.pool.stop(worker.number, jobs, worker.world.now))
    worker.held, worker.running, worker.told = None, frozenset(), None


def _join(worker: WorkerProcess) -> Steps:
    """One attempt to join and sync; true if it succeeded."""
    worker.group_says_rejoin = False
    if worker.last_protocol is ConnectProtocol.EAGER and worker.held is not None and worker.assigned_once:
        jobs = _own_first(worker, worker.pool.running_jobs(worker.number))
        if len(jobs):
            worker.say("stop", f"stops all its {len(jobs)} jobs before it joins", jobs=len(jobs))
            yield Sleep(worker.pool.stop(worker.number, jobs, worker.world.now))
        worker.assigned_once = False
    joined = yield Ask(_join_request(worker))
    if not isinstance(joined, Joined):
        _failed(worker, joined)
        return False
    worker.member_id, worker.generation = joined.member_id, joined.generation
    assignments = None
    if joined.members is not None:
        assignments = yield from lead(worker, joined)
    synced = yield Ask(SyncRequest(joined.member_id, joined.generation, assignments))
    if not isinstance(synced, Synced) or synced.assignment is None:
        _failed(worker, synced)
        return False
    yield from _take(worker, synced)
    return True


def _own_first(worker: WorkerProcess, running: Jobs) -> Jobs:
    """``running`` in the order of the assignment as it came over the wire, which is that in which Kafka stops it.

    A connector's tasks come behind those of all connectors whose instance the worker has, if it has not its instance.
    """
    place: dict[Any, int] = {}
    for job in (*worker.report().connectors, *worker.report().tasks):
        place[job] = len(place)
    last = len(place)
    return Jobs(
        sorted(running.connectors, key=lambda name: place.get(name, last)),
        sorted(running.tasks, key=lambda task: place.get(task, last)),
    )


def _failed(worker: WorkerProcess, answer: Any) -> None:
    if answer is None:
        worker.lost_coordinator = True
    elif isinstance(answer, Refused):
        if answer.reason in ("unknown_member", "illegal_generation"):
            worker.member_id = None
        elif answer.reason == "inconsistent_protocol":
            worker.say("refused", "cannot join: the group speaks none of its protocols, and the worker ends")
            worker.ended = True
            worker.stopping = True
    worker.rejoin_requested = True


def _join_request(worker: WorkerProcess) -> JoinRequest:
    timings = worker.world.timings
    told = worker.told
    last = None if told is None else (worker.last_completed, told.leader_id, told.offset, told.delay_ms)
    held = worker.report()
    offers = {
        protocol: Memory(
            worker.position,
            held if protocol.is_incremental else NO_JOBS,
            worker.settings.static if protocol is ConnectProtocol.STATIC else WILDCARD,
            last if protocol.is_incremental else None,
        )
        for protocol in worker.settings.protocol.offered()
    }
    return JoinRequest(worker.name, worker.member_id, offers, timings.rebalance_timeout_ms, timings.session_timeout_ms)


def _take(worker: WorkerProcess, synced: Synced) -> Steps:
    """Takes an assignment: stops what is revoked, and keeps the rest (reference 6.2)."""
    told: Told = synced.assignment
    # What heartbeats said on the way here has been done.
    worker.group_says_rejoin = False
    before, worker.last_protocol = worker.last_protocol, synced.protocol
    worker.rejoin_requested, worker.wants_another_round = worker.wants_another_round, False
    if synced.protocol.is_incremental:
        if len(told.revoked):
            yield from _revoke(worker, told.revoked)
        if worker.held is not None:
            kept = worker.held.minus(told.revoked)
            worker.held = told.assigned.plus(kept) if len(told.assigned) else kept
        else:
            worker.held = told.assigned
    else:
        came_down = before is not None and before.is_incremental
        if came_down and worker.settings.downgrade == "kip415" and worker.held is not None:
            yield from _revoke(worker, worker.held.minus(told.assigned))
        if came_down and worker.settings.downgrade == "kafka":
            worker.pool.runs.allow(worker.number, worker.world.now, "KAFKA-13816: a downgrade to eager stops nothing")
        worker.held = told.assigned
    worker.told, worker.last_completed = told, synced.generation
    worker.assigned_once = True
    worker.scheduled_ms = worker.world.now + told.delay_ms if told.delay_ms > 0 else None
    worker.resolved = False


def _revoke(worker: WorkerProcess, jobs: Jobs) -> Steps:
    worker.say("stop", f"stops {len(jobs)} revoked jobs", jobs=len(jobs))
    yield Sleep(worker.pool.stop(worker.number, jobs, worker.world.now))
    worker.running -= frozenset((*jobs.connectors, *jobs.tasks))
