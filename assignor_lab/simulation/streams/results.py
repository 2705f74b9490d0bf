"""The result of a played episode as a document (design, section 8)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from assignor_lab.simulation.streams.comparison import compared_with
from assignor_lab.simulation.streams.generations import Generation
from assignor_lab.simulation.streams.simulate import Played

__all__ = ["document_of", "restored_bytes", "unavailable_by_cause_s"]


def document_of(played: Played, assignor: str) -> dict[str, Any]:
    """What came of an episode. Times are milliseconds since its first event.

    Args:
        played: The episode after it was played.
        assignor: Name of the assignor.
    """
    first = played.first_ms
    document: dict[str, Any] = {
        "episode": played.episode.id,
        "assignor": assignor,
        "seed": played.seed,
        "generations": [_generation(played, each) for each in played.generations],
        "actions": _actions(played),
        "tasks": {
            str(task): _task(played.world.ledger.intervals[number], first)
            for number, task in enumerate(played.world.tasks)
        },
        "totals": _totals(played),
        "compared": None,
    }
    if played.episode.recorded is not None:
        reads = [(read.begun_ms - first, read.size) for read in played.world.reads]
        document["compared"] = compared_with(document, reads, played.episode.recorded)
    return document


def unavailable_by_cause_s(played: Played) -> dict[str, float]:
    """Cause to task-seconds without anybody, sorted by cause."""
    found: dict[str, int] = {}
    for intervals in played.world.ledger.intervals:
        for begin, end, cause in intervals:
            found[cause] = found.get(cause, 0) + max(0, end - max(begin, played.first_ms))
    return {cause: found[cause] / 1000 for cause in sorted(found)}


def restored_bytes(played: Played, *, before_processing: bool = False) -> int:
    """Bytes that were read from changelogs; those that an active task waited for, or all."""
    return round(sum(read.size for read in played.world.reads if read.is_active or not before_processing))


def _totals(played: Played) -> dict[str, Any]:
    """The figures of the whole episode. Traffic across zones is not simulated yet, and null."""
    return {
        "unavailable_task_s": round(sum(unavailable_by_cause_s(played).values()), 3),
        "restored_bytes": restored_bytes(played),
        "cross_zone_bytes": None,
        "dollars": None,
        "rebalances": len(played.generations),
        "warmups": _warmups(played.generations),
    }


def _generation(played: Played, generation: Generation) -> dict[str, Any]:
    first, tasks = played.first_ms, played.world.tasks
    return {
        "t_ms": generation.prepared_ms - first,
        "assignment_t_ms": generation.assigned_ms - first,
        "generation": generation.number,
        "reason": generation.reason,
        "members": generation.members,
        "followup": generation.followup,
        "assigned": {
            name: {"active": [str(tasks[task]) for task in active], "standby": [str(tasks[task]) for task in standby]}
            for name, (active, standby) in sorted(generation.assigned.items())
        },
    }


def _actions(played: Played) -> list[dict[str, Any]]:
    rows = []
    for index, action in enumerate(played.actions):
        later = played.actions[index + 1 :]
        end = later[0].at_ms if later else None
        within = [
            each
            for each in played.generations
            if action.at_ms <= each.prepared_ms and (end is None or each.prepared_ms < end)
        ]
        if played.changes is None:
            last = within[-1].assigned_ms if within else None
        else:
            changes = [each for each in played.changes if action.at_ms <= each and (end is None or each < end)]
            last = changes[-1] if changes else None
        rows.append(
            {
                "t_ms": action.at_ms - played.first_ms,
                "action": action.action,
                "who": action.who,
                "rebalances": len(within),
                "until_stable_ms": None if last is None else last - action.at_ms,
            }
        )
    return rows


def _task(intervals: Iterable[tuple[int, int, str]], first: int) -> dict[str, Any]:
    shown = [(max(begin, first) - first, end - first, cause) for begin, end, cause in intervals if end > first]
    return {"unavailable_ms": sum(end - begin for begin, end, _ in shown), "intervals": [list(row) for row in shown]}


def _warmups(generations: Sequence[Generation]) -> int:
    """Warm-ups that were begun: those of a generation that the one before did not have."""
    begun, before = 0, 0
    for each in generations:
        begun += max(0, each.warmups - before)
        before = each.warmups
    return begun
