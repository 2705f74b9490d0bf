"""Conversion of a streams group's target to a generation of the simulation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from assignor_lab.kafka.streams_group.tasks import TasksByRole
from assignor_lab.simulation.streams.generations import Generation
from assignor_lab.simulation.streams.streams_protocol.members import StreamsProtocolMember

__all__ = ["decided_generation"]


def decided_generation(
    epoch: int,
    targets: Mapping[str, TasksByRole],
    members: Mapping[str, StreamsProtocolMember],
    reasons: Iterable[str],
    count: int,
    now_ms: int,
) -> Generation:
    placed: dict[str, tuple[set[int], set[int]]] = {}
    for member, target in targets.items():
        active, standby = placed.setdefault(members[member].thread.instance.name, (set(), set()))
        active |= target.active
        standby |= target.standby | target.warmup
    return Generation(
        epoch, now_ms, now_ms, now_ms, "; ".join(reasons) or "state is warm", count, "none",
        {name: (tuple(sorted(active)), tuple(sorted(standby))) for name, (active, standby) in placed.items()},
        sum(len(target.warmup) for target in targets.values()),
    )  # fmt: skip
