"""The formats of scenario documents, one for each kind; a plugin's kind of group registers its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from assignor_lab.documents.shapes import Mismatch, described, suggestion
from assignor_lab.scenarios.formats.connect import read_connect
from assignor_lab.scenarios.formats.consumer import read_consumer, read_consumer_group, read_share_group
from assignor_lab.scenarios.formats.other_kinds import check_connect_episode, read_streams_episode
from assignor_lab.scenarios.formats.streams import read_streams
from assignor_lab.scenarios.formats.streams_group import read_streams_group

__all__ = ["Format", "Read", "format_of", "register_format"]

#: Checks a document of one kind, raising ``Mismatch``, and returns its content; ``None``: it is not read yet.
Read = Callable[[Any], Any]


@attrs.frozen
class Format:
    """The format of the documents of one kind.

    Args:
        line: Keys of a result line of this kind, besides the common ones; null in the line of a failure.
    """

    kind: str
    read: Read
    line: tuple[str, ...] = ()


def _unread(check: Callable[[Any], object]) -> Read:
    def read(document: Any) -> None:
        check(document)

    return read


_FORMATS: dict[str, Format] = {
    known.kind: known
    for known in (
        Format("streams", read_streams, line=("assignment", "followup", "threads")),
        Format("connect", read_connect, line=("rounds",)),
        Format("streams-group", read_streams_group, line=("members",)),
        Format("consumer", read_consumer, line=("members",)),
        Format("consumer-group", read_consumer_group, line=("members",)),
        Format("share-group", read_share_group, line=("members",)),
        Format("streams-episode", read_streams_episode),
        Format("connect-episode", _unread(check_connect_episode)),
    )
}


def register_format(added: Format) -> None:
    """Makes documents of a further kind readable, in this process.

    Raises:
        ValueError: if there is another format of this kind.
    """
    if _FORMATS.setdefault(added.kind, added) is not added:
        raise ValueError(f"documents of kind {added.kind!r} have a format already")


def format_of(kind: object) -> Format:
    """The format of a kind.

    Raises:
        Mismatch: if there is no such kind.
    """
    known = _FORMATS.get(kind) if type(kind) is str else None
    if known is None:
        hint = suggestion(kind if type(kind) is str else "", tuple(_FORMATS), "kinds")
        raise Mismatch(f"unknown kind {described(kind)}: {hint}", "kind")
    return known
