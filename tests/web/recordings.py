"""A growing folder of ``assignor record``."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1] / "data" / "captures" / "flight"


class Growing:
    """The recording of a group, as far as it is written.

    Args:
        folder: Its folder, created here.
        group: Name of the recorded group.
    """

    def __init__(self, folder: Path, group: str = "classic") -> None:
        self.records = folder / "records.jsonl"
        self._lines = gzip.decompress((ROOT / group / "records.jsonl.gz").read_bytes()).splitlines(keepends=True)
        folder.mkdir()
        for name in ("brokers.json", "racks.toml"):
            if (ROOT / group / name).is_file():
                (folder / name).write_bytes((ROOT / group / name).read_bytes())
        self.records.write_bytes(self._lines[0])

    @property
    def length(self) -> int:
        return len(self._lines)

    def written_to(self, count: int, at: float, half: bytes = b"") -> None:
        """Writes this number of lines and part of the next one, with a modification time."""
        self.records.write_bytes(b"".join(self._lines[:count]) + half)
        self.seen_at(at)

    def seen_at(self, at: float) -> None:
        for file in self.records.parent.iterdir():
            os.utime(file, (at, at))
