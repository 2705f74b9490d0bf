"""Changes of a Streams group's state: reported offsets, previous owners, tags, settings, members."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from assignment_api.group import TaskId
from assignment_api.plugins.keys import read_value
from assignment_api.plugins.selection import EffectiveConfig
from assignment_api.streams.configs import NUM_STANDBY_REPLICAS, RACK_AWARE_ASSIGNMENT_TAGS
from assignor_lab.documents.edits import Edit, entry_like
from assignor_lab.groups.changes import (
    InputChange,
    InputTrial,
    Knob,
    fresh,
    number_knob,
    number_trials,
    single,
    tag_knobs,
)
from assignor_lab.groups.deciding_release import answers_of
from assignor_lab.groups.streams_group.assignor_calls import StreamsGroupState
from assignor_lab.scenarios import Scenario
from assignor_lab.scenarios.formats.state_parts import state_members
from assignor_lab.scenarios.state_parts import StateMember

__all__ = ["CHANGES", "streams_group_trials"]

_Labels = Callable[[str], str]
_NOTHING: Mapping[str, Mapping[str, object]] = {
    role: {} for role in ("active", "standby", "warmup", "task_offsets", "task_end_offsets")
}


class _Changes:
    def knobs(
        self, scenario: Scenario, number: int, state: StreamsGroupState, task: str, label: _Labels
    ) -> Iterator[Knob]:
        members, wanted = state_members(scenario.document), TaskId.parse(task)
        for place, member in enumerate(members):
            knob = _offset_knob(place, member, members, wanted, label)
            if knob is not None:
                yield knob
        yield from _owner_knobs(members, wanted, label)
        tags = scenario.content.config.get(RACK_AWARE_ASSIGNMENT_TAGS, ())
        yield from tag_knobs("members", {each.id: each.tags for each in members}, tags, label)
        yield from _thread_knobs(scenario, members)
        standbys = state.group.configs.num_standby_replicas
        yield number_knob(NUM_STANDBY_REPLICAS, standbys, (standbys + 1, standbys - 1, 0, standbys + 2))
        yield from _less_knobs(members, label)

    def one_more(self, scenario: Scenario, number: int, state: StreamsGroupState) -> InputChange | None:
        members = state_members(scenario.document)
        if not members:
            return None
        name = fresh((member.id for member in members), "one-more-{}")
        process = fresh((member.process_id for member in members), "process-one-more-{}")
        own = {"id": name, "instance_id": None, "process_id": process}
        added = entry_like(scenario.document, "members", 0, **_NOTHING, **own)
        return InputChange("client", f"there were a process {process} more", (Edit(("members", len(members)), added),))

    def facts(self, state: StreamsGroupState, task: str) -> Mapping[str, str]:
        wanted = TaskId.parse(task)
        found = {}
        for member_id, member in state.group.members.items():
            held, parts = member.state, []
            for words, tasks in (
                ("ran it", held.active_tasks),
                ("had a copy", held.standby_tasks),
                ("warmed it up", held.warmup_tasks),
            ):
                if wanted.partition in tasks.get(wanted.subtopology_id, ()):
                    parts.append(words)
            if wanted in held.task_offsets:
                parts.append(f"reported offset {held.task_offsets[wanted]:,}")
            if parts:
                found[member_id] = ", ".join(parts)
        return found


def _offset_knob(
    place: int,
    member: StateMember,
    members: Sequence[StateMember],
    task: TaskId,
    label: _Labels,
) -> Knob | None:
    group, partition = task.subtopology_id, str(task.partition)
    reported = [each.task_offsets.get(group, {}).get(partition) for each in members]
    known = [offset for offset in reported if offset is not None]
    if not known:
        return None
    now, name = reported[place], label(member.id)
    targets = {offset + step for offset in known for step in (-1, 1)} - {now}

    def at(offset: int) -> InputChange:
        instead = "none" if now is None else f"{now:,}"
        edit = (
            Edit(("members", place, "task_offsets", group, partition), offset)
            if group in member.task_offsets
            else Edit(("members", place, "task_offsets", group), {partition: offset})
        )
        return InputChange("lag", f"{name} reported offset {offset:,} for {task} instead of {instead}", (edit,))

    ordered = sorted(targets, key=lambda value: abs(value - (now or 0)))
    return Knob("lag", ordered, at, now=now, concerns=member.id)


def _owner_knobs(members: Sequence[StateMember], task: TaskId, label: _Labels) -> Iterator[Knob]:
    group, partition = task.subtopology_id, task.partition
    owners = [place for place, member in enumerate(members) if partition in member.active.get(group, ())]

    def at(chosen: int | None) -> InputChange:
        owner = "no present member" if chosen is None else label(members[chosen].id)
        instead = ", ".join(label(members[place].id) for place in owners) or "no present member"
        edits = [edit for place in {*owners, *([] if chosen is None else [chosen])} for edit in edits_of(place, chosen)]
        return InputChange("previous owner", f"{owner} had run {task} before instead of {instead}", tuple(edits))

    def edits_of(place: int, chosen: int | None) -> Iterator[Edit]:
        member = members[place]
        active = [number for number in member.active.get(group, ()) if number != partition]
        if place == chosen:
            active.append(partition)
            for role, held in (("standby", member.standby), ("warmup", member.warmup)):
                if partition in held.get(group, ()):
                    left = [number for number in held[group] if number != partition]
                    yield Edit(("members", place, role, group), left)
        yield Edit(("members", place, "active", group), active)

    for place, member in enumerate(members):
        if place not in owners:
            yield Knob("previous owner", [place], at, concerns=member.id)
    if owners:
        yield Knob("previous owner", [None], at)


def _thread_knobs(scenario: Scenario, members: Sequence[StateMember]) -> Iterator[Knob]:
    """A further member in a process, which is a further thread: it is the last one and has no tasks."""
    ids = {member.id for member in members}
    for process, own in _processes(members).items():
        name = next(name for number in range(len(ids) + 1) if (name := f"{process}-further-{number}") not in ids)
        further = entry_like(scenario.document, "members", own[0], **_NOTHING, id=name, instance_id=None)
        words = f"process {process} had a thread more, {len(own) + 1} instead of {len(own)}"
        change = InputChange("threads", words, (Edit(("members",), [*scenario.document["members"], further]),))
        yield single(change, members[own[0]].id)


def _less_knobs(members: Sequence[StateMember], label: _Labels) -> Iterator[Knob]:
    processes = _processes(members)
    for process, own in processes.items():
        if len(own) > 1:
            for place in own:
                words = f"{label(members[place].id)}, a thread of process {process}, were not there"
                change = InputChange("threads", words, (Edit(("members", place), remove=True),))
                yield single(change, members[place].id)
    if len(processes) > 1:
        for process, own in processes.items():
            edits = tuple(Edit(("members", place), remove=True) for place in own)
            change = InputChange("client", f"process {process} were not there", edits)
            yield single(change, members[own[0]].id)


def _processes(members: Sequence[StateMember]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for place, member in enumerate(members):
        found.setdefault(member.process_id, []).append(place)
    return found


CHANGES = _Changes()


_MOST_STANDBYS = 3
_RELEASES = {"group_sticky@4.3": "of brokers before 4.4", "group_sticky_4_4": "of brokers of 4.4"}


def streams_group_trials(config: EffectiveConfig, assignor: str) -> Iterator[InputTrial]:
    now = read_value(NUM_STANDBY_REPLICAS, config[NUM_STANDBY_REPLICAS].value)
    values = {value: None for value in range(_MOST_STANDBYS + 1) if value != now}
    yield from number_trials(NUM_STANDBY_REPLICAS, values)
    for name, words in _RELEASES.items():
        if answers_of(name, config) != answers_of(assignor, config):
            yield InputTrial("version", f"with the assignor {words} ({name})", assignor=name)
