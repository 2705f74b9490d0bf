"""Changes of a consumer group's state: former owners, racks, subscriptions, members."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from assignment_api.consumer import ConsumerGroupState, PartitionsByTopic
from assignor_lab.documents.edits import Edit
from assignor_lab.groups.changes import InputChange, Knob, fresh, single
from assignor_lab.groups.consumer.assignor_calls import PartitionGroup
from assignor_lab.groups.consumer.placement import state_of
from assignor_lab.groups.consumer.rounds import PartitionState
from assignor_lab.scenarios import Scenario

__all__ = ["CHANGES"]

_Labels = Callable[[str], str]
_NEW_MEMBER: Mapping[str, object] = {
    "instance_id": None,
    "owned": {},
    "generation": None,
    "user_data": None,
    "assigned": {},
}


class _Changes:
    def knobs(
        self, scenario: Scenario, number: int, state: PartitionState, task: str, label: _Labels
    ) -> Iterator[Knob]:
        topic, _, partition = task.rpartition("-")
        yield from _owner_knobs(state.group, topic, int(partition), label)
        if isinstance(state.group, ConsumerGroupState):
            yield from _rack_knobs(state.group, label)
        yield from _subscription_knobs(state.group, topic, label)
        for place, member in enumerate(state.group.members):
            if len(state.group.members) > 1:
                words = f"{label(member)} were not there"
                yield single(InputChange("client", words, (Edit(("members", place), remove=True),)), member)

    def one_more(self, scenario: Scenario, number: int, state: PartitionState) -> InputChange | None:
        members: Sequence[Mapping[str, object]] = scenario.document.get("members", ())
        if not members:
            return None
        name = fresh(state.group.members, "one-more-{}")
        added = {key: _NEW_MEMBER.get(key, held) for key, held in members[0].items()} | {"id": name}
        return InputChange("client", f"there were a member {name} more", (Edit(("members", len(members)), added),))

    def facts(self, state: PartitionState, task: str) -> Mapping[str, str]:
        known = state_of(state)
        names = known.every_name()
        if task not in names:
            return {}
        partition = names.index(task)
        found: dict[str, list[str]] = {}
        for member in known.before[partition]:
            found.setdefault(known.members[member], []).append("held it")
        for member, rack in enumerate(known.rack):
            if rack is not None and known.racks is not None and rack in known.racks[partition]:
                found.setdefault(known.members[member], []).append(f"is in rack {rack} of a replica")
        return {member: ", ".join(parts) for member, parts in found.items()}


def _owner_knobs(group: PartitionGroup, topic: str, partition: int, label: _Labels) -> Iterator[Knob]:
    held: list[PartitionsByTopic]
    if isinstance(group, ConsumerGroupState):
        field, key = "owned", topic
        held = [member.owned for member in group.members.values()]
        generations = [member.generation for member in group.members.values()]
    else:
        field, key = "assigned", next(each.id for each in group.topics.values() if each.name == topic)
        held = [member.assigned for member in group.members.values()]
        generations = []
    ids = list(group.members)
    owners = [place for place, own in enumerate(held) if partition in own.get(key, ())]

    def at(chosen: int) -> InputChange:
        edits: list[Edit] = []
        for place in sorted({*owners, chosen}):
            rest = [each for each in held[place].get(key, ()) if each != partition]
            edits.append(Edit(("members", place, field, key), rest + [partition] * (place == chosen)))
        if generations and generations[chosen] is None:
            edits.append(Edit(("members", chosen, "generation"), max(each or 0 for each in generations)))
        instead = ", ".join(label(ids[place]) for place in owners) or "no present member"
        words = f"{label(ids[chosen])} had held {topic}-{partition} before instead of {instead}"
        return InputChange("previous owner", words, tuple(edits))

    for place, member in enumerate(ids):
        if place not in owners:
            yield Knob("previous owner", [place], at, concerns=member)


def _rack_knobs(group: ConsumerGroupState, label: _Labels) -> Iterator[Knob]:
    racks = list(dict.fromkeys(member.rack_id for member in group.members.values() if member.rack_id))
    for place, (name, member) in enumerate(group.members.items()):

        def at(rack: str, place: int = place, name: str = name, now: str | None = member.rack_id) -> InputChange:
            words = f"the rack of {label(name)} were {rack} instead of {now or 'none'}"
            return InputChange("rack", words, (Edit(("members", place, "rack"), rack),))

        others = [rack for rack in racks if rack != member.rack_id]
        if others:
            yield Knob("rack", others, at, concerns=name)


def _subscription_knobs(group: PartitionGroup, topic: str, label: _Labels) -> Iterator[Knob]:
    listed: list[tuple[str, ...]] = [member.topics for member in group.members.values()]
    for place, (name, topics) in enumerate(zip(group.members, listed, strict=True)):
        if topic in topics:
            left, words = [each for each in topics if each != topic], f"{label(name)} did not subscribe {topic}"
        else:
            left, words = [*topics, topic], f"{label(name)} subscribed {topic}, too"
        yield single(InputChange("setting", words, (Edit(("members", place, "topics"), left),)), name)


CHANGES = _Changes()
