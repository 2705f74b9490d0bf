"""Leader of a simulated round: reads the config log, calls its assignor, sends the assignments."""

from __future__ import annotations

from assignment_api.connect import ConnectAssignor, ConnectProtocol, Worker
from assignor_lab.kafka.coordinator import JoinReply
from assignor_lab.kafka.herder.assignors import assignor_configs
from assignor_lab.kafka.herder.config_log.end import offset_of_round
from assignor_lab.kafka.herder.leading import assignments_to_members, round_to_decide
from assignor_lab.simulation.connect.workers.config_updates import read_to_end
from assignor_lab.simulation.connect.workers.herder_steps import Sleep, Steps
from assignor_lab.simulation.connect.workers.worker import WorkerProcess

__all__ = ["lead"]


def lead(worker: WorkerProcess, joined: JoinReply) -> Steps:
    world = worker.world
    assert joined.members is not None
    furthest = max(subscription.offset for subscription in joined.members.values())
    joined_with = worker.position
    if joined_with < furthest:
        yield from read_to_end(worker)
    offset = offset_of_round(furthest, joined_with, worker.position)
    rebalance, answer = None, None
    if offset is None:
        worker.say("mismatch", f"has not read the config topic as far as others ({worker.position} < {furthest})")
    else:
        yield Sleep(world.timings.assignor_ms)
        workers = [
            Worker(member, each.owned, each.static, url=each.url, labels=each.labels)
            for member, each in joined.members.items()
        ]
        jobs = world.config.view(worker.position).jobs
        rebalance = round_to_decide(worker.membership, joined, workers, jobs, world.now)
        answer = _assignor(worker, joined.protocol).assign(rebalance)
        worker.membership.wants_another_round = answer.rejoin
    world.assigned(joined.generation, rebalance, answer)
    assignments = assignments_to_members(
        joined.members, joined.member_id, worker.name, furthest if offset is None else offset, answer
    )
    if answer is None:
        return assignments
    # The coordinator sends no bytes to members missing in the answer.
    return {member: each for member, each in assignments.items() if member in answer.workers}


def _assignor(worker: WorkerProcess, protocol: ConnectProtocol) -> ConnectAssignor:
    # In Kafka compatible and sessioned share one assignor: its state survives a change between them.
    kind = ConnectProtocol.SESSIONED if protocol is ConnectProtocol.COMPATIBLE else protocol
    if kind not in worker.assignors:
        settings = worker.settings
        made = worker.world.assignor(kind)
        made.configure(assignor_configs(settings.max_delay_ms, settings.downgrade, settings.configs))
        worker.assignors[kind] = made
    return worker.assignors[kind]
