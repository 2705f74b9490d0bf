"""The golden wire vectors: what Kafka 4.3.1's classes read and write."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

GOLDEN = Path(__file__).parents[2] / "data" / "golden" / "streams"
KIND_NAMES = ("subscription", "assignment")


def vectors(kind: str) -> list[dict[str, Any]]:
    """All vectors of a kind, in order: 60 that go both ways, 11 damaged ones, 4 that cannot be encoded."""
    with gzip.open(GOLDEN / f"wire-{kind}.vectors.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def golden_messages(kind: str) -> list[bytes]:
    """The bytes of the vectors that have some."""
    return [bytes.fromhex(vector["hex"]) for vector in vectors(kind) if vector["hex"] is not None]
