"""What the leader of a group does: it decides who gets what (reference 3.2)."""

from __future__ import annotations

from assignment_api.connect import MAX_DELAY_KEY, ConnectAssignor, ConnectProtocol, Rebalance, Worker
from assignor_lab.kafka.coordinator import Joined
from assignor_lab.simulation.connect.config_updates import read_to_end
from assignor_lab.simulation.connect.herder_steps import Sleep, Steps, Told
from assignor_lab.simulation.connect.worker import WorkerProcess

__all__ = ["lead"]


def lead(worker: WorkerProcess, joined: Joined) -> Steps:
    """Decides; the mapping of member ids to what they are told."""
    world = worker.world
    assert joined.members is not None
    offset = max(memory.offset for memory in joined.members.values())
    if worker.position < offset:
        yield from read_to_end(worker)
        if worker.position < offset:
            world.assigned(joined.generation, None)
            worker.say("mismatch", f"has not read the config topic as far as others ({worker.position} < {offset})")
            failed = Told(worker.member_id or "", worker.name, offset, failed=True)
            return dict.fromkeys(joined.members, failed)
        offset = worker.position
    yield Sleep(world.timings.assignor_ms)
    rebalance = Rebalance(
        world.config.view(worker.position).jobs,
        tuple(
            Worker(member, memory.owned, memory.static) for member, memory in joined.members.items()
        ),
        joined.protocol,
        world.now,
        joined.generation,
        worker.last_completed,
        worker.last_protocol,
    )  # fmt: skip
    answer = _assignor(worker, joined.protocol).assign(rebalance)
    world.assigned(joined.generation, answer)
    told = {
        member: Told(worker.member_id or "", worker.name, offset, each.assigned, each.revoked, answer.delay_ms)
        for member, each in answer.workers.items()
    }
    worker.wants_another_round = answer.rejoin
    return told


def _assignor(worker: WorkerProcess, protocol: ConnectProtocol) -> ConnectAssignor:
    # compatible and sessioned are one assignor in Kafka: what it remembers survives the change between them.
    kind = ConnectProtocol.SESSIONED if protocol is ConnectProtocol.COMPATIBLE else protocol
    if kind not in worker.assignors:
        made = worker.world.assignor(kind)
        made.configure({
            MAX_DELAY_KEY: worker.settings.max_delay_ms,
            "assignor.connect_eager.downgrade": worker.settings.downgrade,
            **worker.settings.configs,
        })  # fmt: skip
        worker.assignors[kind] = made
    return worker.assignors[kind]
