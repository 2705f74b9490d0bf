"""Handlers of discovery, metrics, families and observers, in the process of a plugin.

As in :mod:`assignor_lab.runtime.isolation.handlers`, a handler gets the process's memory and the sent values, and
returns JSON.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assignment_api.plugins import PluginError, Policy
from assignment_api.plugins.discovery import ask_here
from assignment_api.plugins.named_code import HERE, kinds_of_code
from assignment_api.plugins.reserved import PARTITION_ASSIGNORS
from assignor_lab.runtime.discovery.descriptions import document_of, fields_of
from assignor_lab.runtime.discovery.passing import unpacked
from assignor_lab.runtime.invocation import checked_figure
from assignor_lab.runtime.isolation.origin import PluginOrigin
from assignor_lab.runtime.isolation.worker import Memory

__all__ = ["describe", "describe_code", "load", "measure", "next_round", "size", "tell"]

#: Histories of families that a process keeps at once: those of one item's contenders.
MAX_KEPT = 256


def describe(memory: Memory, path: list[str], origin: PluginOrigin) -> Mapping[str, Any]:
    load(memory, path, origin)
    return document_of(memory["reply"])


def load(memory: Memory, path: list[str], origin: PluginOrigin) -> Mapping[str, Any]:
    look_in(path)
    (reply,) = ask_here([origin.source()])
    memory.update(reply=reply, entries={(offer.kind, offer.name): offer.entry for offer in reply.offers}, histories={})
    return {}


def look_in(path: list[str]) -> None:
    """Sets the search path of modules to that of the lab's process."""
    sys.path[:] = path
    importlib.invalidate_caches()


def describe_code(_memory: Memory, path: list[str], selector: str) -> Mapping[str, Any]:
    """Imports ``module:attribute``, and returns for each kind the fields of its entry, or the reason against it."""
    look_in(path)
    policy = Policy()
    described: dict[str, Any] = {"kinds": list(kinds_of_code(selector, policy)), "digest": None}
    for kind in ("task-assignor", "connect-assignor", "group-assignor", *PARTITION_ASSIGNORS):
        try:
            entry: Any = _found(kind, selector, policy)
        except PluginError as error:
            described[kind] = str(error)
        else:
            described[kind] = fields_of(kind, entry, entry.name)
            described["digest"] = _digest(entry.factory)
    return described


def _found(kind: str, selector: str, policy: Policy) -> object:
    if kind in PARTITION_ASSIGNORS:
        return HERE.partition_assignor(kind, selector, policy).plugin
    if kind == "task-assignor":
        return HERE.task_assignor(selector, policy).plugin
    if kind == "connect-assignor":
        return HERE.connect_assignor(selector, policy).plugin
    return HERE.group_assignor(selector, policy).plugin


def _digest(factory: Any) -> str | None:
    try:
        file = inspect.getsourcefile(factory)
        return hashlib.sha256(Path(file or "").read_bytes()).hexdigest()
    except (TypeError, OSError):
        return None


def measure(memory: Memory, name: str, packed: tuple[bytes, ...]) -> Mapping[str, Any]:
    figure = _entry(memory, "metric", name).compute(*map(unpacked, packed))
    return {"figure": None if figure is None else checked_figure(figure)}


def size(memory: Memory, name: str, seed: int) -> Mapping[str, Any]:
    return {"figure": float(_entry(memory, "scenario-family", name).size(seed))}


def next_round(
    memory: Memory, name: str, seed: int, key: int, number: int, previous: tuple[bytes, ...]
) -> Mapping[str, Any]:
    """The document of a round of a history.

    Args:
        previous: Answers before each round that this process lacks, including this one: a restarted process generates
            the earlier rounds again.
    """
    histories: dict[int, Any] = memory["histories"]
    history = histories.pop(key, None)
    first = number + 1 - len(previous)
    if history is None or first == 0:
        history = _entry(memory, "scenario-family", name).history(seed)
    histories[key] = history
    while len(histories) > MAX_KEPT:
        del histories[next(iter(histories))]
    document: Any = None
    for offset, answer in enumerate(previous):
        document = history.round(first + offset, unpacked(answer))
    # As text, because it may be invalid JSON: the failure is then raised here, and the process continues.
    return {"document": json.dumps(document, default=_as_json)}


def _as_json(value: object) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a scenario document is JSON, and {type(value).__name__} is nothing of it")


def tell(memory: Memory, kind: str, name: str, packed: Mapping[str, bytes]) -> Mapping[str, Any]:
    """Passes an answer to an observer; an exception there is the failure of this call."""
    _entry(memory, kind, name)(**{key: unpacked(value) for key, value in packed.items()})
    return {}


def _entry(memory: Memory, kind: str, name: str) -> Any:
    try:
        return memory["entries"][kind, name]
    except KeyError:
        reasons = "; ".join(row.reason for row in memory["reply"].problems)
        raise PluginError(f"{kind} {name!r} is not offered here any more{reasons and ': '}{reasons}") from None
