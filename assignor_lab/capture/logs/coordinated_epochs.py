"""Epochs of streams groups (KIP-1071), as their coordinator logs them.

The coordinator logs its members, each completed target, and each new state of a member. A member's target is the state
that it reaches in that epoch. If the next epoch comes first, the target is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import attrs

from assignor_lab.capture.logs.messages import MessageKind
from assignor_lab.capture.logs.records import LogMessage
from assignor_lab.capture.logs.timestamps import LogTime
from assignor_lab.capture.streams_member import StreamsMember
from assignor_lab.kafka.streams_group.member_table import MemberTable

__all__ = ["CoordinatedEpoch", "CoordinatedEpochs", "LoggedTasks"]

LoggedTasks = tuple[Mapping[str, tuple[int, ...]], Mapping[str, tuple[int, ...]], Mapping[str, tuple[int, ...]]]
_NOTHING: LoggedTasks = ({}, {}, {})

_OF = re.compile(r"\A\[GroupId (.+?)\](?:\[MemberId (.+?)\])? ?")
_MEMBER = re.compile(
    r"\A(?>.*?StreamsGroupMember\[memberId=)(?>(?P<id>.*?), )(?>.*?instanceId=Optional)"
    r"(?>(?:\.empty|\[(?P<instance>.*?)\]), rackId=Optional)(?>(?:\.empty|\[(?P<rack>.*?)\]), clientId=)"
    r"(?>(?P<client>.*?), clientHost=)(?>.*?, processId=)(?>(?P<process>.*?), )(?>.*?clientTags=\{)(?P<tags>.*?)\}"
)
_TARGET = re.compile(
    r"\AComputed a new target assignment for epoch (\d{1,10})(?!\d)(?: with '[^']*' assignor in \d+ ?ms: \{(.*)\})?"
)
_TOLD_TARGET = re.compile(
    r"(?<![^\s={}()])([^\s={}()]++)=\(active=\[([^\[\]]*+)\], standby=\[([^\[\]]*+)\], warmup=\[([^\[\]]*+)\]\)"
)
_STATE = re.compile(
    r"\AMember's new assignment state: epoch=(-?\d{1,10}), previousEpoch=-?\d+, state=(\w+), "
    r"assignedTasks=\(active=\[(?>(.*?)\], standby=\[)(?>(.*?)\], warmup=\[)(.*?)\]\)"
)
_TASK = re.compile(r"(?<![^\s,])([^\s,]+)-(\d{1,10})(?:@\d+)?(?=,|\Z)")
_FENCED = re.compile(
    r"\AStreams member (?>(.+?) fenced from the group because )(.*?)(?:(?<!\.)\.+)?(?: \([\w.$]+\))?\Z"
)
_STABLE = "STABLE"
_TOPICS = "metadata of the topology's topics have changed: created, or other partitions or racks"


@attrs.frozen
class MemberEvent:
    """An event of a member."""

    member: str
    type: str
    words: str
    time: LogTime | None


@attrs.define
class CoordinatedEpoch:
    """A target that a coordinator computed.

    Args:
        begun: Time at which the group's epoch was raised.
        reason: Empty if not logged.
        gone: Members that left or were fenced since the previous epoch: client id, ``left`` or ``fenced``, time.
        members: In the order in which the broker passed them to its assignor.
        had: Tasks at that time.
        was_to_have: Previous target; ``None`` if unknown for a member.
        strangers: Members that the log does not describe.
        joining: Members that joined with the request that computed it; the log can describe them later.
        current: Changes of the members' active tasks until the next epoch. The first epoch of a group also has earlier
        ones.
    """

    group: str
    number: int
    file: str
    line: int
    time: LogTime | None
    begun: LogTime | None
    reason: str
    gone: tuple[tuple[str, str, LogTime], ...]
    members: dict[str, StreamsMember]
    had: dict[str, LoggedTasks]
    was_to_have: dict[str, LoggedTasks] | None
    reached: dict[str, LoggedTasks] = attrs.field(factory=dict)
    strangers: set[str] = attrs.field(factory=set)
    joining: set[str] = attrs.field(factory=set)
    current: list[tuple[LogTime, str, Mapping[str, tuple[int, ...]]]] = attrs.field(factory=list)

    def joined(self, name: str, member: StreamsMember) -> None:
        """A member that joined with the request, described only now: the broker passed it last."""
        self.joining.discard(name)
        self.members[name], self.had[name] = member, _NOTHING
        if self.was_to_have is not None:
            self.was_to_have[name] = _NOTHING

    @property
    def targets(self) -> Mapping[str, LoggedTasks] | None:
        """``None`` if unknown for a member."""
        if self.strangers or self.joining or self.reached.keys() != self.members.keys():
            return None
        return {name: self.reached[name] for name in self.members}


@attrs.define
class _Group:
    members: dict[str, StreamsMember] = attrs.field(factory=dict)
    #: The latest message about a member is its present state.
    table: MemberTable = attrs.field(factory=MemberTable)
    held: dict[str, LoggedTasks] = attrs.field(factory=dict)
    joining: set[str] = attrs.field(factory=set)
    events: list[MemberEvent] = attrs.field(factory=list)
    clients: dict[str, str] = attrs.field(factory=dict)
    bumped: LogTime | None = None
    #: True if the topics changed since the latest target.
    has_other_topics: bool = False
    #: Members from before the start of the log.
    strangers: set[str] = attrs.field(factory=set)
    latest: CoordinatedEpoch | None = None
    #: Changes of the members' active tasks before the first epoch.
    current: list[tuple[LogTime, str, Mapping[str, tuple[int, ...]]]] = attrs.field(factory=list)

    def note_current(self, time: LogTime | None, member: str, active: Mapping[str, tuple[int, ...]]) -> None:
        if time is not None and active != self.held.get(member, _NOTHING)[0]:
            (self.current if self.latest is None else self.latest.current).append((time, member, active))


@attrs.define
class CoordinatedEpochs:
    """Builds epochs from the coordinator's messages."""

    _groups: dict[str, _Group] = attrs.field(init=False, factory=dict)
    _found: list[CoordinatedEpoch] = attrs.field(init=False, factory=list)

    def take(self, record: LogMessage) -> None:
        """A truncated message is ignored."""
        found = _OF.match(record.text)
        if found is None:
            return
        group, member = self._groups.setdefault(found[1], _Group()), found[2]
        text = record.text[found.end() :]
        if record.kind is MessageKind.STREAMS_JOINS and member:
            group.events.append(MemberEvent(member, "joins", "joins", record.time))
            group.joining.add(member)
        elif record.kind is MessageKind.STREAMS_MEMBER and (matched := _MEMBER.search(text)):
            new = StreamsMember(
                matched["client"], matched["process"], matched["instance"], matched["rack"], _tags(matched["tags"])
            )
            group.members[matched["id"]] = new
            group.joining.discard(matched["id"])
            if group.latest is not None and matched["id"] in group.latest.joining:
                group.latest.joined(matched["id"], new)
            group.clients[matched["id"]] = matched["client"]
            group.strangers.discard(matched["id"])
        elif record.kind is MessageKind.STREAMS_LEFT and member:
            _gone(group, MemberEvent(member, "left", "left", record.time))
        elif record.kind is MessageKind.STREAMS_FENCED and (matched := _FENCED.match(text.rstrip())):
            _gone(group, MemberEvent(matched[1], "fenced", f"was fenced: {matched[2]}", record.time))
        elif record.kind is MessageKind.STREAMS_TOPICS:
            group.has_other_topics = True
        elif record.kind is MessageKind.STREAMS_BUMPED:
            group.bumped = group.bumped or record.time
        elif record.kind is MessageKind.STREAMS_TARGET and (matched := _TARGET.match(text)):
            self._target(found[1], group, int(matched[1]), record)
            _set_target(group, matched[2] or "")
        elif record.kind is MessageKind.STREAMS_STATE and member and (matched := _STATE.match(text)):
            tasks = _tasks(matched[3]), _tasks(matched[4]), _tasks(matched[5])
            _state(group, record, member, int(matched[1]), matched[2], tasks)

    def __iter__(self) -> Iterator[CoordinatedEpoch]:
        """The latest epoch of a group may be incomplete."""
        yield from self._found

    def _target(self, name: str, group: _Group, number: int, record: LogMessage) -> None:
        before = group.latest
        in_order = {member: group.members[member] for member in group.table if member in group.members}
        targets = {} if before is None else before.targets
        known = before is not None or not group.strangers
        group.latest = CoordinatedEpoch(
            group=name,
            number=number,
            file=record.file,
            line=record.line,
            time=record.time,
            begun=group.bumped,
            reason=_reason(group),
            gone=tuple(
                (group.clients[each.member], each.type, each.time)
                for each in group.events
                if each.type != "joins" and each.time is not None and each.member in group.clients
            ),
            members={**in_order, **group.members},
            had={member: group.held.get(member, _NOTHING) for member in group.members},
            was_to_have=None
            if targets is None or not known
            else {member: targets.get(member, _NOTHING) for member in group.members},
            strangers=set(group.strangers),
            joining=set(group.joining),
            current=group.current if before is None else [],
        )
        group.events, group.bumped, group.has_other_topics = [], None, False
        # Requests are sequential: a member without a description so far joined with this one, or not at all.
        group.joining.clear()
        self._found.append(group.latest)


def _set_target(group: _Group, text: str) -> None:
    if group.latest is not None and text:
        group.latest.joining.clear()
        for each in _TOLD_TARGET.finditer(text):
            if each[1] not in group.latest.members and each[1] not in group.strangers:
                group.latest.joining.add(each[1])
            if each[1] not in group.strangers:
                group.latest.reached[each[1]] = tuple(map(_tasks, each.group(2, 3, 4)))  # type: ignore[assignment]


def _reason(group: _Group) -> str:
    if not group.events and group.has_other_topics:
        return _TOPICS
    return "; ".join(f"member {group.clients.get(each.member, each.member)} {each.words}" for each in group.events)


def _gone(group: _Group, event: MemberEvent) -> None:
    group.events.append(event)
    group.members.pop(event.member, None)
    group.joining.discard(event.member)
    group.table.remove(event.member)
    group.note_current(event.time, event.member, {})
    group.held.pop(event.member, None)
    group.strangers.discard(event.member)


def _state(group: _Group, record: LogMessage, member: str, epoch: int, state: str, tasks: LoggedTasks) -> None:
    group.note_current(record.time, member, tasks[0])
    group.held[member] = tasks
    is_stranger = member not in group.members
    if is_stranger:
        group.strangers.add(member)
    else:
        group.table.write_down(member)
    if group.latest is None or epoch != group.latest.number:
        return
    if is_stranger:
        group.latest.strangers.add(member)
    elif state == _STABLE and member in group.latest.members:
        # Members that joined since are in that epoch, too, but not in its target.
        group.latest.reached[member] = tasks


def _tasks(text: str) -> Mapping[str, tuple[int, ...]]:
    found: dict[str, list[int]] = {}
    for each in _TASK.finditer(text):
        found.setdefault(each[1], []).append(int(each[2]))
    return {name: tuple(numbers) for name, numbers in found.items()}


def _tags(text: str) -> Mapping[str, str]:
    pairs = (each.partition("=") for each in text.split(", ") if each)
    return {name: value for name, _, value in pairs}
