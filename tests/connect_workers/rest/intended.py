"""The reviewed list of intended differences."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import attrs

from tests.connect_workers.rest.recorded import Exchange

LIST = Path(__file__).with_name("intended_differences.txt")


@attrs.frozen
class Intended:
    method: str
    path: str
    difference: str

    def covers(self, exchange: Exchange, found: str) -> bool:
        return (
            exchange.method == self.method
            and re.fullmatch(self.path, exchange.path) is not None
            and re.fullmatch(self.difference, found, re.DOTALL) is not None
        )


@functools.cache
def intended(*, live: bool) -> tuple[Intended, ...]:
    lines = [line for line in LIST.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    parts = [[part.strip() for part in line.split(" | ")] for line in lines]
    return tuple(Intended(*each[:3]) for each in parts if each[3].startswith("live: ") == live)
