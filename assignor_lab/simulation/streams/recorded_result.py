"""What really happened in a recorded episode, in the form in which the simulation tells what happens in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["RECORDED", "recorded_result"]

#: Stands where a result has the name of its assignor.
RECORDED = "recorded"
#: Stands where a result has a cause: a probe from outside sees none.
_SEEN = "seen by a probe"


def recorded_result(document: Mapping[str, Any], recorded: Mapping[str, Any]) -> dict[str, Any]:
    """The recorded counterpart of a result; what the recording does not tell is null.

    Args:
        document: Any result of the same episode that was compared with the recording: the same things were done in it.
        recorded: The episode's ``recorded``.
    """
    compared = document["compared"]
    windows: Sequence[Mapping[str, Any]] = recorded.get("probe", ())
    tasks = {
        task: [
            [begin, begin + length, _SEEN]
            for window in windows
            for begin, length in window["tasks"].get(task, ())
        ]
        for task in document["tasks"]
    }  # fmt: skip
    away = {task: sum(to - begin for begin, to, _ in rows) for task, rows in tasks.items()}
    known: dict[str, Any] = {"rebalances": len(recorded.get("generations", ()))}
    if windows:
        known["unavailable_task_s"] = round(sum(away.values()) / 1000, 3)
        known["worst_task_s"] = max(away.values(), default=0) / 1000
        known["restored_bytes"] = sum(map(_restored, windows))
    rows_of = {task: {"unavailable_ms": away[task], "intervals": tasks[task]} for task in tasks}
    return {
        "episode": document["episode"],
        "assignor": RECORDED,
        "seed": None,
        "generations": list(recorded.get("generations", ())),
        "actions": [
            {
                "t_ms": row["t_ms"],
                "action": row["action"],
                "who": row["who"],
                "rebalances": row["rebalances"]["recorded"],
                "until_stable_ms": row["until_stable_ms"]["recorded"],
            }
            for row in compared["actions"]
        ],
        "tasks": rows_of if windows else None,
        "totals": {key: known.get(key) for key in document["totals"]},
        "failures": None,
        "compared": None,
    }


def _restored(window: Mapping[str, Any]) -> int:
    return (window.get("restored_bytes") or 0) + (window.get("standby_bytes") or 0)
