"""Recorded states of plain consumers and of share groups as decisions of a history."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import attrs

from assignor_lab.capture.recorded.partition_states import CLASSIC, PartitionDecision
from assignor_lab.documents.wording import plural
from assignor_lab.model.decision import Decision, InstanceShare
from assignor_lab.model.events import GroupEvent, InstanceGone, InstanceRestartedInSession
from assignor_lab.model.evidence import Evidence, EvidenceKind, InferenceRule
from assignor_lab.model.identity import GroupInstance, InstanceIdentities, InstanceTraits
from assignor_lab.model.moment import Moment

__all__ = ["PartitionPast", "partition_past"]


@attrs.frozen
class PartitionPast:
    """The decisions of one group by time, its instances, and the events that its states note."""

    decisions: tuple[Decision, ...]
    instances: tuple[GroupInstance, ...]
    events: tuple[GroupEvent, ...]
    identities: InstanceIdentities


def partition_past(recorded: Iterable[PartitionDecision]) -> PartitionPast:
    """The past of one group, from its decisions in any order."""
    ordered = sorted(recorded, key=lambda each: each.time_ms)
    identities = InstanceIdentities()
    for each in ordered:
        identities.note_together(_traits(each))
    made: list[Decision] = []
    ran: dict[str, str] = {}
    for each in ordered:
        decision = _decision(each, identities, ran)
        ran |= decision.owners
        made.append(decision)
    events = [event for each in ordered for event in _noted(each)]
    return PartitionPast(tuple(made), identities.instances, tuple(events), identities)


def _traits(recorded: PartitionDecision) -> list[InstanceTraits]:
    return [InstanceTraits(each.id, each.instance_id, each.client_id) for each in recorded.members]


def _decision(recorded: PartitionDecision, identities: InstanceIdentities, ran: Mapping[str, str]) -> Decision:
    names = [identities.name(traits) for traits in _traits(recorded)]
    shares = {
        # A consumer is a process of its own, and a static one stays the same over restarts.
        name: InstanceShare(name, frozenset({member.id}), member.partitions)
        for name, member in sorted(zip(names, recorded.members, strict=True), key=lambda pair: pair[0])
    }
    owners = {task: name for name, share in shares.items() for task in share.active}
    waiting = recorded.partitions - owners.keys() if recorded.protocol == CLASSIC else frozenset[str]()
    return Decision(
        Moment.at(recorded.time_ms),
        Evidence.record(recorded.place),
        recorded.protocol,
        recorded.number,
        shares,
        tasks=recorded.partitions,
        reason=recorded.reason,
        notes=(f"{plural(len(waiting), 'partition')} taken away first",) if waiting else (),
        hands_over=bool(waiting),
        moved=sum(ran.get(task, name) != name and ran[task] in shares for task, name in owners.items()),
        assignor=recorded.assignor,
    )


def _noted(recorded: PartitionDecision) -> Iterator[GroupEvent]:
    for each in recorded.events:
        at = Moment.at(each.time_ms)
        if each.type == "rejoined":
            rewritten = Evidence.inferred(InferenceRule.REWRITTEN, recorded.place)
            yield InstanceRestartedInSession(at, rewritten, each.client)
        else:
            yield InstanceGone(at, Evidence(EvidenceKind.RECORD, recorded.place), each.client)
