from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

GOLDEN = Path(__file__).parents[2] / "data" / "golden" / "streams"
KIND_NAMES = ("subscription", "assignment")


def vectors(kind: str) -> list[dict[str, Any]]:
    with gzip.open(GOLDEN / f"wire-{kind}.vectors.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def golden_messages(kind: str) -> list[bytes]:
    return [bytes.fromhex(vector["hex"]) for vector in vectors(kind) if vector["hex"] is not None]
