"""The recordings of plain consumer groups in the test data."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

from tests.capture.captured_logs import CAPTURES

__all__ = ["CONSUMERS", "recorded_groups", "write_consumers"]

CONSUMERS = CAPTURES / "consumers"


def recorded_groups() -> list[str]:
    return sorted(each.parent.name for each in CONSUMERS.glob("*/records.jsonl.gz"))


def write_consumers(folder: Path, group: str) -> Path:
    """Unpacks the recording of one group, and returns its folder."""
    made = folder / group
    made.mkdir(parents=True)
    for packed in (CONSUMERS / group).iterdir():
        if packed.suffix == ".gz":
            (made / packed.stem).write_bytes(gzip.decompress(packed.read_bytes()))
        else:
            shutil.copy(packed, made)
    return made
