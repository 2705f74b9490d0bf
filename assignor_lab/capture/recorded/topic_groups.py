"""Group of each record in a coordinators' topic: one group, or all of Streams, Connect and consumers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs

from assignor_lab.capture.recorded.errors import BrokerAnswerError
from assignor_lab.capture.recorded.group_history import GroupRecord
from assignor_lab.capture.recorded.group_records import (
    CONSUMERS,
    GROUP_METADATA,
    GroupKey,
    read_classic_generation,
    read_group_key,
)

__all__ = ["AllGroups", "OneGroup"]

#: Further records are dropped.
_MOST_PENDING, _MOST_UNTOLD = 100, 10_000

#: ``None``: no selected group.
Theirs = tuple[str, Sequence[GroupRecord]] | None


@attrs.frozen
class OneGroup:
    """Selects the records of one group of any kind."""

    group: str

    def of(self, record: GroupRecord) -> Theirs:
        key = _key(record)
        return None if key is None or key.group != self.group else (self.group, (record,))


@attrs.define
class AllGroups:
    """Selects all groups of Streams, Connect and consumers, by the content of records.

    A generation of an empty group shows no kind: it is held until one with members comes.

    Args:
        is_known: True if another source shows that a group is one of these.
    """

    is_known: Callable[[str], bool] = lambda _: False
    _noted: set[str] = attrs.field(factory=set, init=False)
    _untold: dict[str, list[GroupRecord]] = attrs.field(factory=dict, init=False)

    def of(self, record: GroupRecord) -> Theirs:
        """The first record of a known kind comes with the held ones."""
        key = _key(record)
        if key is None:
            return None
        name = key.group
        if name in self._noted or self.is_known(name):
            return name, (record,)
        is_ours = key.type != GROUP_METADATA or _is_ours(name, record.value)
        if is_ours is None:
            held = self._untold.get(name)
            if held is None and len(self._untold) < _MOST_UNTOLD:
                held = self._untold[name] = []
            if held is not None and len(held) < _MOST_PENDING:
                held.append(record)
            return None
        held = self._untold.pop(name, [])
        if not is_ours:
            return None
        self._noted.add(name)
        return name, (*held, record)


def _key(record: GroupRecord) -> GroupKey | None:
    try:
        return read_group_key(record.key)
    except BrokerAnswerError:
        return None


def _is_ours(group: str, value: bytes | None) -> bool | None:
    """``None``: unknown."""
    if value is None:
        return None
    try:
        read = read_classic_generation(group, value)
    except BrokerAnswerError:
        return None
    if read.is_connect:
        return True
    members: Sequence[Any] = read.message.members
    return (read.protocol_type == CONSUMERS) if members else None
