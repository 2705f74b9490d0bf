"""Epochs of groups of the streams protocol (KIP-1071), as their coordinator logs them.

The coordinator says who its members are, when it has worked out a target, and each state that a member is brought to.
What a member is to have is what it has once it has reached that epoch; where the next epoch comes before that, nobody
can tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import attrs

from assignor_lab.capture.logs.messages import Kind
from assignor_lab.capture.logs.records import LogRecord
from assignor_lab.capture.logs.timestamps import LogTime
from assignor_lab.capture.streams_member import StreamsMember

__all__ = ["CoordinatedEpoch", "CoordinatedEpochs", "LoggedTasks"]

#: Active, standby and warm-up tasks: sub-topology to partitions.
LoggedTasks = tuple[Mapping[str, tuple[int, ...]], Mapping[str, tuple[int, ...]], Mapping[str, tuple[int, ...]]]
_NOTHING: LoggedTasks = ({}, {}, {})

_OF = re.compile(r"\[GroupId (.+?)\](?:\[MemberId (.+?)\])? ?")
_MEMBER = re.compile(
    r"StreamsGroupMember\[memberId=(?P<id>.*?), .*?instanceId=Optional(?:\.empty|\[(?P<instance>.*?)\]), "
    r"rackId=Optional(?:\.empty|\[(?P<rack>.*?)\]), clientId=(?P<client>.*?), clientHost=.*?, "
    r"processId=(?P<process>.*?), .*?clientTags=\{(?P<tags>.*?)\}"
)
_TARGET = re.compile(r"Computed a new target assignment for epoch (\d+)")
_STATE = re.compile(
    r"Member's new assignment state: epoch=(-?\d+), previousEpoch=-?\d+, state=(\w+), "
    r"assignedTasks=\(active=\[(.*?)\], standby=\[(.*?)\], warmup=\[(.*?)\]\)"
)
_TASK = re.compile(r"([^\s,]+)-(\d+)(?:@\d+)?(?=,|\Z)")
_FENCED = re.compile(r"Streams member (.+?) fenced from the group because (.*?)\.*(?: \([\w.$]+\))?\s*\Z")
_STABLE = "STABLE"
_TOPICS = "metadata of the topology's topics have changed: created, or other partitions or racks"


@attrs.frozen
class MemberEvent:
    """Something that happened to a member.

    Args:
        member: Its id.
        type: ``joins``, ``left`` or ``fenced``.
        words: The same in words.
        time: When, if the log says.
    """

    member: str
    type: str
    words: str
    time: LogTime | None


@attrs.define
class CoordinatedEpoch:
    """A target that a coordinator worked out.

    Args:
        group: The group.
        number: The epoch.
        file: File of the message.
        line: Its line.
        time: When, if the log says.
        begun: When the group's epoch had been raised, which led to it.
        reason: What had happened to the members; empty if the log does not tell.
        gone: Who has left or was fenced since the epoch before: client id, ``left`` or ``fenced``, and when.
        members: Member id to member, in the order in which they came.
        had: Member id to what it had then.
        was_to_have: Member id to what it was to have before; ``None``: not known of everybody.
        reached: Member id to what it was brought to in this epoch.
        strangers: Members of which the log does not say who they are.
    """

    group: str
    number: int
    file: str
    line: int
    time: LogTime | None
    begun: LogTime | None
    reason: str
    gone: tuple[tuple[str, str, LogTime], ...]
    members: Mapping[str, StreamsMember]
    had: Mapping[str, LoggedTasks]
    was_to_have: Mapping[str, LoggedTasks] | None
    reached: dict[str, LoggedTasks] = attrs.field(factory=dict)
    strangers: set[str] = attrs.field(factory=set)

    @property
    def targets(self) -> Mapping[str, LoggedTasks] | None:
        """Member id to what it is to have; ``None``: it is not known of everybody."""
        if self.strangers or self.reached.keys() != self.members.keys():
            return None
        return {name: self.reached[name] for name in self.members}


@attrs.define
class _Group:
    members: dict[str, StreamsMember] = attrs.field(factory=dict)
    held: dict[str, LoggedTasks] = attrs.field(factory=dict)
    #: What happened to which member and when, since the latest target.
    events: list[MemberEvent] = attrs.field(factory=list)
    #: Member id to client id of everybody who has ever been there.
    clients: dict[str, str] = attrs.field(factory=dict)
    bumped: LogTime | None = None
    #: Whether the coordinator has seen other metadata of the topics since the latest target.
    has_other_topics: bool = False
    #: Members that were there before the log begins.
    strangers: set[str] = attrs.field(factory=set)
    latest: CoordinatedEpoch | None = None


@attrs.define
class CoordinatedEpochs:
    """Takes the coordinator's messages one after another."""

    _groups: dict[str, _Group] = attrs.field(init=False, factory=dict)
    _found: list[CoordinatedEpoch] = attrs.field(init=False, factory=list)

    def take(self, record: LogRecord) -> None:
        """Adds a message, one of ``OF_EPOCHS``; what is cut off is passed over."""
        found = _OF.match(record.text)
        if found is None:
            return
        group, member = self._groups.setdefault(found[1], _Group()), found[2]
        text = record.text[found.end() :]
        if record.kind is Kind.STREAMS_JOINS and member:
            group.events.append(MemberEvent(member, "joins", "joins", record.time))
        elif record.kind is Kind.STREAMS_MEMBER and (told := _MEMBER.search(text)):
            group.members[told["id"]] = StreamsMember(
                told["client"], told["process"], told["instance"], told["rack"], _tags(told["tags"])
            )
            group.clients[told["id"]] = told["client"]
            group.strangers.discard(told["id"])
        elif record.kind is Kind.STREAMS_LEFT and member:
            _gone(group, MemberEvent(member, "left", "left", record.time))
        elif record.kind is Kind.STREAMS_FENCED and (told := _FENCED.match(text)):
            _gone(group, MemberEvent(told[1], "fenced", f"was fenced: {told[2]}", record.time))
        elif record.kind is Kind.STREAMS_TOPICS:
            group.has_other_topics = True
        elif record.kind is Kind.STREAMS_BUMPED:
            group.bumped = group.bumped or record.time
        elif record.kind is Kind.STREAMS_TARGET and (told := _TARGET.match(text)):
            self._target(found[1], group, int(told[1]), record)
        elif record.kind is Kind.STREAMS_STATE and member and (told := _STATE.match(text)):
            _state(group, member, int(told[1]), told[2], tuple(map(_tasks, (told[3], told[4], told[5]))))  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[CoordinatedEpoch]:
        """The epochs in the order of the messages; the latest of a group may still be on its way."""
        yield from self._found

    def _target(self, name: str, group: _Group, number: int, record: LogRecord) -> None:
        before = group.latest
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
            members=dict(group.members),
            had={member: group.held.get(member, _NOTHING) for member in group.members},
            was_to_have=None
            if targets is None or not known
            else {member: targets.get(member, _NOTHING) for member in group.members},
            strangers=set(group.strangers),
        )
        group.events, group.bumped, group.has_other_topics = [], None, False
        self._found.append(group.latest)


def _reason(group: _Group) -> str:
    """What has happened to members; where nothing has, what the coordinator has seen of the topics."""
    if not group.events and group.has_other_topics:
        return _TOPICS
    return "; ".join(f"member {group.clients.get(each.member, each.member)} {each.words}" for each in group.events)


def _gone(group: _Group, event: MemberEvent) -> None:
    group.events.append(event)
    group.members.pop(event.member, None)
    group.held.pop(event.member, None)
    group.strangers.discard(event.member)


def _state(group: _Group, member: str, epoch: int, state: str, tasks: LoggedTasks) -> None:
    group.held[member] = tasks
    is_stranger = member not in group.members
    if is_stranger:
        group.strangers.add(member)
    if group.latest is None or epoch != group.latest.number:
        return
    if is_stranger:
        group.latest.strangers.add(member)
    elif state == _STABLE:
        group.latest.reached[member] = tasks


def _tasks(text: str) -> Mapping[str, tuple[int, ...]]:
    found: dict[str, list[int]] = {}
    for each in _TASK.finditer(text):
        found.setdefault(each[1], []).append(int(each[2]))
    return {name: tuple(numbers) for name, numbers in found.items()}


def _tags(text: str) -> Mapping[str, str]:
    pairs = (each.partition("=") for each in text.split(", ") if each)
    return {name: value for name, _, value in pairs}
