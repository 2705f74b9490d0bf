"""Recorded states of plain consumers and of share groups as decisions of a history."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from assignor_lab.capture.histories.moments import CLASSIC
from assignor_lab.documents.errors import Place
from assignor_lab.documents.wording import plural
from assignor_lab.model.decision import Decision, InstanceShare
from assignor_lab.model.events import GroupEvent, InstanceGone, InstanceRestartedInSession
from assignor_lab.model.evidence import Evidence, EvidenceKind, InferenceRule
from assignor_lab.model.identity import GroupInstance, InstanceIdentities, InstanceTraits
from assignor_lab.model.moment import Moment

__all__ = ["CONSUMER", "SHARE", "PartitionPast", "is_partition_past", "partition_past", "partition_protocol"]

#: Protocols of decisions beside the classic one.
CONSUMER, SHARE = "consumer", "share"
_NUMBERED = "generation"


@attrs.frozen
class PartitionPast:
    """The decisions of one group by time, its instances, and the events that its states note."""

    decisions: tuple[Decision, ...]
    instances: tuple[GroupInstance, ...]
    events: tuple[GroupEvent, ...]
    identities: InstanceIdentities


def is_partition_past(document: Mapping[str, Any]) -> bool:
    """True of a recorded decision about partitions, with its time."""
    has_time = "time_ms" in (document.get("source") or {})
    return partition_protocol(document) is not None and "observed" in document and has_time


def partition_protocol(document: Mapping[str, Any]) -> str | None:
    """``None`` if the state is not about partitions of members.

    Topics of a broker's input have ids, and members of a share group have no expressions.
    """
    if "topics" not in document or "members" not in document:
        return None
    members = document["members"]
    if any("assigned" in member for member in members):
        return CONSUMER if any("regex" in member for member in members) else SHARE
    return CLASSIC


def partition_past(documents: Iterable[Mapping[str, Any]]) -> PartitionPast:
    """The past of one group, from its documents in any order."""
    ordered = sorted(documents, key=lambda document: document["source"]["time_ms"])
    identities = InstanceIdentities()
    for document in ordered:
        identities.note_together(_traits(document))
    made: list[Decision] = []
    ran: dict[str, str] = {}
    for document in ordered:
        decision = _decision(document, identities, ran)
        ran |= decision.owners
        made.append(decision)
    events = [event for document in ordered for event in _noted(document["source"])]
    return PartitionPast(tuple(made), identities.instances, tuple(events), identities)


def _traits(document: Mapping[str, Any]) -> list[InstanceTraits]:
    return [
        InstanceTraits(member["id"], member["instance_id"], member["client_id"]) for member in document["members"]
    ]


def _decision(document: Mapping[str, Any], identities: InstanceIdentities, ran: Mapping[str, str]) -> Decision:
    source, observed = document["source"], document["observed"]
    names = {topic.get("id", topic["name"]): topic["name"] for topic in document["topics"]}
    shares: dict[str, InstanceShare] = {}
    for traits, member in zip(_traits(document), document["members"], strict=True):
        held = observed["members"].get(member["id"], {})
        active = tuple(
            f"{names.get(topic, topic)}-{number}" for topic in sorted(held) for number in sorted(set(held[topic]))
        )
        shares[identities.name(traits)] = InstanceShare(member["id"], frozenset({member["id"]}), active)
    owners = {task: name for name, share in shares.items() for task in share.active}
    tasks = frozenset(_every_partition(document["topics"]))
    waiting = tasks - owners.keys()
    protocol = partition_protocol(document) or CLASSIC
    place = Place(source.get("file", "-"), source.get("line"))
    notes = [f"{plural(len(waiting), 'partition')} taken away first"] if waiting and protocol == CLASSIC else []
    return Decision(
        Moment.at(source["time_ms"]),
        Evidence.record(place),
        protocol,
        source.get(_NUMBERED),
        dict(sorted(shares.items())),
        tasks=tasks,
        reason=source.get("reason", ""),
        notes=tuple(notes),
        hands_over=bool(waiting) and protocol == CLASSIC,
        moved=sum(ran.get(task, name) != name and ran[task] in shares for task, name in owners.items()),
        assignor=str(source.get("assignor") or observed.get("assignor") or ""),
    )


def _every_partition(topics: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for topic in topics:
        yield from (f"{topic['name']}-{number}" for number in range(topic["partitions"] or 0))


def _noted(source: Mapping[str, Any]) -> Iterator[GroupEvent]:
    place = Place(source.get("file", "-"), source.get("line"))
    done: Sequence[Mapping[str, Any]] = source.get("done", ())
    for each in done:
        at = Moment.at(each["time_ms"])
        if each["type"] == "rejoined":
            rewritten = Evidence.inferred(InferenceRule.REWRITTEN, place)
            yield InstanceRestartedInSession(at, rewritten, each["client"])
        elif each["type"] == "gone":
            yield InstanceGone(at, Evidence(EvidenceKind.RECORD, place), each["client"])
