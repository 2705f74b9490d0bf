"""Pickled states and answers on their way to a plugin's process, which can trust the lab.

Nothing comes back in this form. Objects of the contract and read-only views of every kind of group can be transferred.
"""

from __future__ import annotations

import copyreg
import io
import pickle
from collections.abc import KeysView
from types import MappingProxyType
from typing import Any

__all__ = ["Packer", "unpacked"]


def _read_only(held: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(held)


def _keys(keys: list[Any]) -> KeysView[Any]:
    return dict.fromkeys(keys).keys()


class _Pickler(pickle.Pickler):
    dispatch_table = copyreg.dispatch_table.copy()
    dispatch_table[MappingProxyType] = lambda view: (_read_only, (dict(view),))
    dispatch_table[type({}.keys())] = lambda keys: (_keys, (list(keys),))


class Packer:
    """Packs objects, and caches the last ones, because several metrics and observers get the same objects."""

    #: Cached objects: state and answer, in up to three parts, and their references.
    KEPT = 4

    def __init__(self) -> None:
        self._kept: list[tuple[object, bytes]] = []

    def packed(self, value: object) -> bytes:
        for known, content in self._kept:
            if known is value:
                return content
        target = io.BytesIO()
        _Pickler(target, protocol=5).dump(value)
        content = target.getvalue()
        self._kept = [*self._kept[-self.KEPT + 1 :], (value, content)]
        return content


def unpacked(content: bytes) -> Any:
    return pickle.loads(content)  # noqa: S301 - from the lab: see above
