"""The flight recording of the test data: its records and decisions."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from assignor_lab.capture.histories.flight_recordings import recorded_decisions
from assignor_lab.capture.recorded.group_history import GroupRecord
from assignor_lab.cli.app import build_app
from assignor_lab.documents.writer import canonical_line
from tests.capture.captured_logs import CAPTURES
from tests.capture.live.recorded_lives import ASSIGNMENT, CLASSIC, CONNECT, STREAMS

__all__ = ["ASSIGNORS", "FLIGHT", "GROUPS", "answers", "decisions", "records", "write_recording"]

FLIGHT = CAPTURES / "flight"
GROUPS = (CLASSIC, STREAMS, CONNECT)
ASSIGNORS = {CLASSIC: "high_availability", STREAMS: "group_sticky_4_4", CONNECT: "connect_incremental"}


def records(group: str) -> list[GroupRecord]:
    with gzip.open(FLIGHT / group / "records.jsonl.gz", "rt") as stream:
        lines = [json.loads(line) for line in stream]
    by_offset = {line["offset"]: line for line in lines if "offset" in line}
    return [
        GroupRecord(
            each["offset"], each["t"], bytes.fromhex(each["key_hex"]),
            None if each["value_hex"] is None else bytes.fromhex(each["value_hex"]),
        )
        for each in by_offset.values()
    ]  # fmt: skip


def samples(group: str) -> list[dict[str, Any]]:
    path = FLIGHT / group / "samples.jsonl.gz"
    if not path.exists():
        return []
    with gzip.open(path, "rt") as stream:
        return [json.loads(line) for line in stream]


def write_recording(folder: Path, group: str) -> None:
    folder.mkdir()
    for name in ("records.jsonl", "samples.jsonl"):
        packed = FLIGHT / group / f"{name}.gz"
        if packed.exists():
            (folder / name).write_bytes(gzip.decompress(packed.read_bytes()))
    for name in ("racks.toml", "brokers.json"):
        if (FLIGHT / group / name).exists():
            shutil.copy(FLIGHT / group / name, folder)


def decisions(folder: Path) -> list[dict[str, Any]]:
    problems: list[str] = []
    found = list(recorded_decisions(folder / "records.jsonl", on_problem=problems.append))
    assert problems == []
    return found


def answers(assignor: str, documents: Iterable[dict[str, Any]], folder: Path) -> list[dict[str, Any]]:
    """Answers of one of our assignors, with the configuration of the classic group."""
    file = folder / "decisions.jsonl"
    file.write_bytes(b"".join(map(canonical_line, documents)))
    config = [option for key, value in ASSIGNMENT.items() for option in ("-c", f"{key}={value}")]
    arguments = ["assign", "--assignor", assignor, str(file), *config]
    told = CliRunner().invoke(build_app(arguments), arguments, catch_exceptions=False)
    assert told.exit_code == 0, told.stderr
    return [json.loads(line) for line in told.stdout.splitlines()]
