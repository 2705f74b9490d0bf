from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[2] / "data"
GOLDEN = DATA / "golden" / "connect"
GROUPS = ("sessioned", "eager", "conflict")


def _lines(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def round_trips() -> list[dict[str, Any]]:
    return _lines(GOLDEN / "wire.vectors.jsonl.gz")


def lenient() -> list[dict[str, Any]]:
    """Vectors to decode only: other versions, missing and surplus bytes, null arrays; some are refused."""
    return _lines(GOLDEN / "wire-lenient.vectors.jsonl.gz")


def recorded(group: str) -> list[dict[str, Any]]:
    """Distinct messages of a real group, as members' ``hex`` and ``kafka`` = the result of Kafka's classes."""
    return _lines(DATA / "captures" / "connect" / group / "members.jsonl.gz")
