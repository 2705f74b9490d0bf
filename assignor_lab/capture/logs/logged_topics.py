"""Topics of a group in its instances' logs: assigned source partitions, and changelogs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs

from assignor_lab.capture.logs.restorations import Restored
from assignor_lab.capture.topology.group_topology import Topic

__all__ = ["LoggedTopics", "restored_changelogs"]

_BEFORE_LIST = "partitions=["
_DIGITS = 7


@attrs.define
class LoggedTopics:
    """Source topics from the leaders' assignments."""

    _partitions: dict[tuple[str | None, str], set[int]] = attrs.field(init=False, factory=dict)

    def take(self, group: str | None, text: str) -> None:
        """From ``Finished assignment for group at generation 3: {member=Assignment(partitions=[a-0],``."""
        for topic, number in _assigned(text):
            self._partitions.setdefault((group, topic), set()).add(number)

    def sources(self, group: str | None) -> dict[str, Topic]:
        return {
            topic: Topic(dict.fromkeys(sorted(numbers), ()))
            for (of, topic), numbers in self._partitions.items()
            if of == group
        }


def restored_changelogs(restored: Iterable[Restored], clients: Iterable[str]) -> dict[str, str | None]:
    """Store to its changelog; ``None``: from two."""
    ours = frozenset(clients)
    found: dict[str, set[str]] = {}
    for each in restored:
        if each.client in ours:
            found.setdefault(each.store, set()).add(each.topic)
    return {store: next(iter(topics)) if len(topics) == 1 else None for store, topics in found.items()}


def _assigned(text: str) -> Iterator[tuple[str, int]]:
    _, *lists = text.split(_BEFORE_LIST)
    for each in lists:
        listed, is_whole, _ = each.partition("]")
        for partition in listed.split(", ") if is_whole else ():
            topic, _, number = partition.rpartition("-")
            if topic and number.isascii() and number.isdecimal() and len(number) <= _DIGITS:
                yield topic, int(number)
