"""Edits of a document: entries that are set, added or removed, by their paths."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

__all__ = ["Edit", "changed", "entry_like"]


@attrs.frozen
class Edit:
    """One edit of a document.

    Args:
        remove: Remove the entry instead; positions are those before any other edit.
    """

    path: tuple[str | int, ...]
    value: object = None
    remove: bool = False


def changed(document: Mapping[str, Any], edits: Iterable[Edit]) -> dict[str, Any]:
    """A document after edits; it shares its other parts with the original."""
    result: Any = dict(document)
    removed = []
    for edit in edits:
        if edit.remove:
            removed.append(edit)
        else:
            result = _edited(result, edit.path, edit)
    # Last ones first, so that the positions stay valid.
    for edit in sorted(removed, key=_position, reverse=True):
        result = _edited(result, edit.path, edit)
    return dict(result)


def entry_like(document: Mapping[str, Any], *path: str | int, **fields: object) -> dict[str, object]:
    """An entry like the one at a path, with other fields."""
    entry: Any = document
    for step in path:
        entry = entry[step]
    return {**entry, **fields}


def _position(edit: Edit) -> tuple[bool, int]:
    last = edit.path[-1]
    return isinstance(last, int), last if isinstance(last, int) else 0


def _edited(value: Any, path: tuple[str | int, ...], edit: Edit) -> Any:
    copied: Any = list(value) if isinstance(value, Sequence) else dict(value)
    step, *rest = path
    if rest:
        copied[step] = _edited(copied[step], tuple(rest), edit)
    elif edit.remove:
        del copied[step]
    elif isinstance(copied, list) and step == len(copied):
        copied.append(edit.value)
    else:
        copied[step] = edit.value
    return copied
