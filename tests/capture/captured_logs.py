"""The captured logs of real applications, and ways to write the same events in other layouts."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs

from assignment_api.plugins import config_sources
from assignor_lab.capture.logs.import_log import import_log, read_decisions
from assignor_lab.capture.logs.rebalance import LoggedDecision, LogProblem

CAPTURES = Path(__file__).parents[1] / "data" / "captures"
GOLDEN = Path(__file__).parents[1] / "data" / "golden" / "recorded"
#: Application to the number of decisions of its leaders.
DECISIONS = {"tagged": 24, "plain-ha": 14, "warm": 6, "orders-2": 48, "plain": 6}
LEADER_OF_TAGGED = CAPTURES / "tagged" / "i3.log.gz"

_HEAD = re.compile(r"\[(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d),(\d{3})\] ([A-Z]+) ")
_LOGGER = re.compile(r" \(([a-zA-Z0-9_.$]+)\)\Z")


@attrs.frozen
class Event:
    date: str
    time: str
    millis: str
    level: str
    logger: str
    message: str

    @property
    def epoch_ms(self) -> int:
        from datetime import datetime

        return round(datetime.fromisoformat(f"{self.date}T{self.time}.{self.millis}+00:00").timestamp() * 1000)


def logs(application: str) -> list[Path]:
    return sorted((CAPTURES / application).glob("*.log.gz"))


def text_of(path: Path) -> str:
    return gzip.decompress(path.read_bytes()).decode()


def events(path: Path) -> Iterator[Event]:
    head: re.Match[str] | None = None
    lines: list[str] = []
    for line in [*text_of(path).splitlines(), "[9999-01-01 00:00:00,000] END "]:
        begun = _HEAD.match(line)
        if begun is None:
            lines.append(line)
            continue
        if head is not None:
            text = "\n".join(lines)
            logger = _LOGGER.search(text)
            assert logger, text
            yield Event(head[1], head[2], head[3], head[4], logger[1], text[: logger.start()])
        head, lines = begun, [line[begun.end() :]]


def documents(application: str, files: list[Path] | None = None, **options: Any) -> list[dict[str, Any]]:
    """The scenarios of an application under its own configuration; fails if any decision is left out."""
    config = config_sources(CAPTURES / application / "application.properties", environ={}, start=CAPTURES)
    options.setdefault("config_layers", config.above)
    return list(import_log(files or logs(application), on_problem=refuse, **options))


def decisions(application: str) -> list[LoggedDecision]:
    return sorted(read_decisions(logs(application), refuse), key=lambda decision: decision.generation or 0)


def refuse(problem: LogProblem) -> None:
    raise AssertionError(problem)


def essence(document: dict[str, Any]) -> dict[str, Any]:
    """The parts that do not depend on the layout: all except place, time, and assumptions about them."""
    source = {key: value for key, value in document["source"].items() if key in ("group", "generation")}
    return {**document, "source": source, "assumptions": None}
