"""Documents of small consumer groups for tests of plans."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

__all__ = ["classic_group", "consumer_group", "written"]

_TOPIC_ID = "Sq9dWRLLANI7wHt9d32zRQ"


def _member(number: int, *, static: bool) -> dict[str, Any]:
    return {
        "id": f"c{number}-0c9d2f4a-7b1e-4c55-9a3e-1d2f3a4b5c6{number % 10}",
        "client_id": f"c{number}",
        "instance_id": f"c{number}" if static else None,
        "rack": None,
        "topics": ["t"],
    }


def classic_group(
    size: int = 3, partitions: int = 12, strategies: Sequence[str] = ("range",), *, static: bool = False
) -> dict[str, Any]:
    """A group whose members hold equal ranges of one topic."""
    members = [_member(number, static=static) for number in range(1, size + 1)]
    each = partitions // size
    held = {member["id"]: {"t": list(range(place * each, (place + 1) * each))} for place, member in enumerate(members)}
    more: dict[str, Any] = {"owned": {}, "generation": None, "user_data": None, "strategies": list(strategies)}
    return {
        "format": 1,
        "kind": "consumer",
        "id": "orders",
        "topics": [{"name": "t", "partitions": partitions, "racks": None}],
        "members": [{**member, **more} for member in members],
        "observed": {"assignor": strategies[0], "members": held},
        "source": {"group": "orders", "generation": 7},
    }


def consumer_group(size: int = 3, partitions: int = 12, *, static: bool = False) -> dict[str, Any]:
    """The same under KIP-848."""
    members = [_member(number, static=static) for number in range(1, size + 1)]
    each = partitions // size
    for place, member in enumerate(members):
        member |= {"regex": None, "assigned": {_TOPIC_ID: list(range(place * each, (place + 1) * each))}}
    return {
        "format": 1,
        "kind": "consumer-group",
        "id": "orders",
        "topics": [{"id": _TOPIC_ID, "name": "t", "partitions": partitions}],
        "members": members,
        "source": {"group": "orders", "generation": 7},
    }


def written(path: Path, document: dict[str, Any]) -> Path:
    path.write_text(json.dumps(document) + "\n", "utf-8")
    return path
