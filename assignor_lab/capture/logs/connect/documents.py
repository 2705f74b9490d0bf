"""JSON output of `assignor connect replay`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assignor_lab.capture.logs.connect.replay import ComparedRound
from assignor_lab.capture.logs.connect.rounds import ReceivedAssignment, WorkerLife

__all__ = ["replay_document"]


def replay_document(
    compared: Sequence[tuple[WorkerLife, Sequence[ComparedRound]]], received: Sequence[tuple[ReceivedAssignment, bool]]
) -> dict[str, Any]:
    rounds = [found for _, listed in compared for found in listed]
    return {
        "rounds": len(rounds),
        "compared": sum(found.is_compared for found in rounds),
        "same": sum(found.is_same for found in rounds),
        "received": len(received),
        "received_as_answered": sum(same for _, same in received),
        "leaders": [
            {
                "file": life.file,
                "worker": life.worker,
                "process": life.number,
                "group": life.group,
                "rounds": [
                    {
                        "line": found.recorded.line,
                        "generation": found.recorded.generation,
                        "protocol": found.recorded.protocol.value,
                        "compared": found.is_compared,
                        "same": found.is_same,
                        "same_bytes": found.same_bytes,
                        "departure": None
                        if found.departure is None
                        else {
                            "name": found.departure.kind.name.lower(),
                            "reason": found.departure.kind.value,
                            "detail": found.departure.detail,
                        },
                    }
                    for found in listed
                ],
            }
            for life, listed in compared
        ],
    }
