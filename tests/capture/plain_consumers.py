"""The recordings of plain consumer groups in the test data."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

from tests.capture.captured_logs import CAPTURES

__all__ = ["CONSUMERS", "OWN_RULES", "recorded_groups", "write_consumers"]

CONSUMERS = CAPTURES / "consumers"
#: Options for groups that another library than Java's led, where it decides by rules of its own.
OWN_RULES = {"kafka-python-sticky": ("--assignor", "kafka_python_sticky")}


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
