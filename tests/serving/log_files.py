"""Reads the folder of decisions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def states(folder: Path) -> list[dict[str, Any]]:
    return _lines(folder, "states")


def decisions(folder: Path) -> list[dict[str, Any]]:
    return _lines(folder, "decisions")


def _lines(folder: Path, name: str) -> list[dict[str, Any]]:
    parts = sorted(folder.glob(f"{name}-*.jsonl"))
    return [json.loads(line) for part in parts for line in part.read_text().splitlines()]
