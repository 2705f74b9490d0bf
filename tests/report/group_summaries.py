"""Summaries of Connect and broker-assigned groups, as `assignor score` wrote them, and hostile ones."""

from __future__ import annotations

import gzip
import json
from typing import Any

from tests.report.summaries import DATA, _spoiled

__all__ = [
    "connect",
    "episodes",
    "hostile_connect",
    "hostile_episodes",
    "hostile_members",
    "members",
    "played_past",
    "recorded_past",
]


def connect() -> dict[str, Any]:
    """Three histories under eager, incremental and static."""
    return _read("connect")


def episodes() -> dict[str, Any]:
    """A worker joins, bounces, leaves for good, under eager and incremental."""
    return _read("episodes")


def members() -> dict[str, Any]:
    """Three broker-assigned groups, with three and four processes and eight members."""
    return _read("streams-group")


def recorded_past() -> dict[str, Any]:
    """The 48 decisions of the recorded group orders-2, without racks, computed by every assignor."""
    return _read("orders-2")


def played_past() -> dict[str, Any]:
    return _read("orders-2-played")


def hostile_members() -> dict[str, Any]:
    """The same with hostile text everywhere."""
    return _hostile(members())


def hostile_connect() -> dict[str, Any]:
    """The histories with hostile text everywhere."""
    return _hostile(connect())


def hostile_episodes() -> dict[str, Any]:
    """The episodes with hostile text everywhere."""
    return _hostile(episodes())


def _read(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(gzip.decompress((DATA / f"{name}.summary.json.gz").read_bytes()))
    return document


def _hostile(document: dict[str, Any]) -> dict[str, Any]:
    spoiled = _spoiled(document, key="")
    assert isinstance(spoiled, dict)
    return spoiled
