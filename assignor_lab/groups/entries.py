"""The entries of the kinds of groups; each kind is imported at its first use.

A new kind is a folder beside these and one entry here.
"""

from __future__ import annotations

import importlib
from typing import Any

import attrs

from assignor_lab.groups.kind import GroupKind
from assignor_lab.scenarios import ScenarioKindError

__all__ = ["KindEntry", "default_kind", "entries", "entry_of", "kind_named", "register_kind"]


@attrs.frozen
class KindEntry:
    """The place of a kind of group.

    Args:
        place: Its :class:`~assignor_lab.groups.kind.GroupKind`, as ``module:attribute``.
    """

    name: str
    place: str
    plugins: str
    is_assigned: bool = True
    is_scored: bool = True

    def load(self) -> GroupKind[Any, Any]:
        module, _, attribute = self.place.partition(":")
        kind: GroupKind[Any, Any] = getattr(importlib.import_module(module), attribute)
        return kind


_ENTRIES: dict[str, KindEntry] = {
    entry.name: entry
    for entry in (
        KindEntry("streams", "assignor_lab.groups.streams.kind:STREAMS", "task-assignor"),
        KindEntry(
            "streams-episode",
            "assignor_lab.groups.streams_episode.kind:STREAMS_EPISODE",
            "task-assignor",
            is_assigned=False,
        ),
        KindEntry("streams-group", "assignor_lab.groups.streams_group.kind:STREAMS_GROUP", "group-assignor"),
        KindEntry("consumer", "assignor_lab.groups.consumer.kind:CONSUMER", "consumer-assignor"),
        KindEntry("consumer-group", "assignor_lab.groups.consumer.kind:CONSUMER_GROUP", "consumer-group-assignor"),
        KindEntry("share-group", "assignor_lab.groups.consumer.kind:SHARE_GROUP", "share-group-assignor"),
        KindEntry("connect", "assignor_lab.groups.connect.kind:CONNECT", "connect-assignor"),
        KindEntry(
            "connect-episode",
            "assignor_lab.groups.connect.episodes:CONNECT_EPISODE",
            "connect-assignor",
            is_assigned=False,
        ),
    )
}


def entries() -> tuple[KindEntry, ...]:
    return tuple(_ENTRIES.values())


def default_kind() -> KindEntry:
    return next(iter(_ENTRIES.values()))


def entry_of(kind: KindEntry | str | None) -> KindEntry:
    """The entry of a kind by name or entry; ``None``: the default one.

    Raises:
        ScenarioKindError: if there is no such kind.
    """
    if isinstance(kind, KindEntry):
        return kind
    if kind is None:
        return default_kind()
    if kind not in _ENTRIES:
        raise ScenarioKindError(f"no kind of group is called {kind!r}: there are {', '.join(_ENTRIES)}")
    return _ENTRIES[kind]


def register_kind(added: KindEntry) -> None:
    """Registers a further kind in this process; the processes that score import it by its entry.

    Its module registers the format of its scenarios (:func:`assignor_lab.scenarios.formats.register_format`).

    Raises:
        ValueError: if there is another kind of this name.
    """
    if _ENTRIES.setdefault(added.name, added) != added:
        raise ValueError(f"there is a kind of group called {added.name!r} already")


def kind_named(name: str) -> GroupKind[Any, Any]:
    return entry_of(name).load()
