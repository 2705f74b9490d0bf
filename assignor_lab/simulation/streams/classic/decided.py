"""Conversion of a leader's decision to a generation of the simulation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from assignment_api import TaskAssignment
from assignor_lab.kafka.coordinator import Round
from assignor_lab.kafka.leader.member_messages import MemberMessage
from assignor_lab.kafka.wire import NO_REBALANCE
from assignor_lab.simulation.streams.classic.leader import LeaderDecision
from assignor_lab.simulation.streams.generations import Followup, Generation
from assignor_lab.simulation.streams.world import SimulatedWorld

__all__ = ["decided_generation"]


def decided_generation(
    decision: LeaderDecision, round_: Round, client_reason: str, world: SimulatedWorld
) -> Generation:
    wanted = int(world.episode.config.get("num.standby.replicas", 0))
    reason = "; ".join((*round_.reasons, *filter(None, (client_reason,))))
    return Generation(
        round_.generation, round_.prepared_ms, round_.joined_ms, world.clock.now, reason, len(round_.members),
        _followup(decision.messages), _placement(decision, world), _warmups(decision.assignment, wanted),
        round_.leader,
    )  # fmt: skip


def _followup(messages: Mapping[str, MemberMessage]) -> Followup:
    dues = [message.info.next_rebalance_ms for message in messages.values()]
    if 0 in dues:
        return "immediate"
    return "none" if all(due == NO_REBALANCE for due in dues) else "probing"


def _placement(decision: LeaderDecision, world: SimulatedWorld) -> dict[str, tuple[tuple[int, ...], tuple[int, ...]]]:
    placed: dict[str, tuple[set[int], set[int]]] = {name: (set(), set()) for name in decision.instances.values()}
    for member, message in decision.messages.items():
        active, standby = placed[decision.instances[member]]
        given = (*message.info.active_tasks, *message.held_back)
        active.update(world.number_of[task] for task in given if task in world.number_of)
        standby.update(world.number_of[task] for task in message.info.standby_tasks)
    return {name: (tuple(sorted(active)), tuple(sorted(standby))) for name, (active, standby) in placed.items()}


def _warmups(assignment: TaskAssignment, wanted: int) -> int:
    copies = Counter(task for client in assignment.assignments for task in client.standby_tasks())
    return sum(max(0, count - max(0, wanted)) for count in copies.values())
