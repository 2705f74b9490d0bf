from __future__ import annotations

import gzip
from collections.abc import Mapping
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

from assignment_api.connect import ConnectAssignor
from assignment_api.plugins import discover
from assignor_lab.capture.logs.connect.replay import ComparedRound, replay
from assignor_lab.capture.logs.connect.rounds import WorkerLife, read_worker_log

CAPTURES = Path(__file__).parents[2] / "data" / "captures" / "connect"
GROUPS = ("sessioned", "eager", "conflict")


def files(group: str) -> list[Path]:
    return sorted((CAPTURES / group).glob("*.log.gz"))


@cache
def lines(group: str, worker: str) -> tuple[str, ...]:
    with gzip.open(CAPTURES / group / f"{worker}.log.gz", "rt", encoding="utf-8") as log:
        return tuple(log)


def lives_of(changed: list[str]) -> list[WorkerLife]:
    return read_worker_log(BytesIO("".join(changed).encode()))


def configured(name: str, logged: Mapping[str, Any]) -> ConnectAssignor:
    assignor = discover().connect_assignor(name).create()
    assignor.configure(logged)
    return assignor


def compared(changed: list[str]) -> list[ComparedRound]:
    return [found for life in lives_of(changed) for found in replay(life, configured)]
