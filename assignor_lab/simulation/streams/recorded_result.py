"""Result of a recorded episode, in the form of a simulated one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

__all__ = ["RECORDED", "recorded_result", "recorded_tasks", "recorded_totals", "shows_downtime"]

#: Replaces the name of the assignor in a result.
RECORDED = "recorded"
#: In place of a cause: a probe from outside sees none.
_SEEN = "seen by a probe"
#: The same if the recording shows each task's owner.
_NO_OWNER = "no owner by the recording"


def recorded_result(document: Mapping[str, Any], recorded: Mapping[str, Any]) -> dict[str, Any]:
    compared = document["compared"]
    tasks, known = recorded_tasks(recorded, document["tasks"]), recorded_totals(recorded, document["tasks"])
    away = {task: sum(to - begin for begin, to, _ in rows) for task, rows in tasks.items()}
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
        "tasks": rows_of if shows_downtime(recorded) else None,
        "totals": {key: known.get(key) for key in document["totals"]},
        "failures": None,
        "compared": None,
    }


def recorded_tasks(recorded: Mapping[str, Any], tasks: Iterable[str]) -> dict[str, list[list[Any]]]:
    """Task to its recorded downtime: from, to, and the evidence.

    Time without output at a probe; without a probe from an owner's loss to the next owner's run.
    """
    windows: Sequence[Mapping[str, Any]] = recorded.get("probe", ())
    if not windows:
        known = recorded.get("downtime", {}).get("tasks", {})
        return {task: [[begin, end, _NO_OWNER] for begin, end in known.get(task, ())] for task in tasks}
    return {
        task: [
            [begin, begin + length, _SEEN]
            for window in windows
            for begin, length in window["tasks"].get(task, ())
        ]
        for task in tasks
    }  # fmt: skip


def recorded_totals(recorded: Mapping[str, Any], tasks: Iterable[str]) -> dict[str, Any]:
    known: dict[str, Any] = {"rebalances": len(recorded.get("generations", ()))}
    windows: Sequence[Mapping[str, Any]] = recorded.get("probe", ())
    if shows_downtime(recorded):
        seen = recorded_tasks(recorded, tasks)
        away = [sum(to - begin for begin, to, _ in rows) for rows in seen.values()]
        known["unavailable_task_s"] = round(sum(away) / 1000, 3)
        known["worst_task_s"] = max(away, default=0) / 1000
    if windows:
        known["restored_bytes"] = sum(map(_restored, windows))
    return known


def shows_downtime(recorded: Mapping[str, Any]) -> bool:
    return bool(recorded.get("probe")) or "downtime" in recorded


def _restored(window: Mapping[str, Any]) -> int:
    return (window.get("restored_bytes") or 0) + (window.get("standby_bytes") or 0)
