"""Result of a simulated episode as a document (design, section 8)."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from assignor_lab.simulation.streams.comparison import compared_with
from assignor_lab.simulation.streams.generations import Generation
from assignor_lab.simulation.streams.processing import RESTORING
from assignor_lab.simulation.streams.reads import StateRead
from assignor_lab.simulation.streams.simulate import PlayedStreamsEpisode
from assignor_lab.simulation.streams.traffic import TrafficTerms, crossing_bytes, dollars_of

__all__ = ["document_of", "totals_of"]

_DEFAULT_TERMS = TrafficTerms()
#: Default of ``acceptable.recovery.lag``.
_RECOVERY_LAG = 10_000


def document_of(played: PlayedStreamsEpisode, assignor: str, terms: TrafficTerms = _DEFAULT_TERMS) -> dict[str, Any]:
    first, names = played.first_ms, list(map(str, played.world.tasks))
    document: dict[str, Any] = {
        "episode": played.episode.id,
        "assignor": assignor,
        "seed": played.seed,
        "generations": [_generation(each, first, names) for each in played.generations],
        "actions": _actions(played),
        "tasks": {name: _task(played.world.ledger.intervals[number], first) for number, name in enumerate(names)},
        "totals": totals_of(played, terms),
        "failures": [{"t_ms": at_ms - first, "message": message} for at_ms, message in played.failures],
        "compared": None,
    }
    if played.episode.recorded is not None:
        reads = [
            (read.begun_ms - first, read.size if _is_sized(played, read) else None)
            for read in played.world.reads.all
            if not read.follows
        ]
        document["compared"] = compared_with(document, reads, played.episode.recorded)
    return document


def totals_of(played: PlayedStreamsEpisode, terms: TrafficTerms) -> dict[str, Any]:
    """The figures of the whole episode; null if unknown.

    If state of an unknown size was restored, its bytes and all times with restoring are null.

    ``cold_takeovers``: tasks with state assigned to an instance whose copy lacked more than ``acceptable.recovery.lag``
    records, including a group's first start.
    """
    causes, away_s, worst = _unavailable(played)
    is_known = causes.get(RESTORING, 0.0) is not None
    crossing = crossing_bytes(played, terms.reads_from)
    crossed = None if crossing is None else round(crossing)
    stable = [row["until_stable_ms"] for row in _actions(played) if row["until_stable_ms"] is not None]
    lag = int(played.episode.config.get("acceptable.recovery.lag", _RECOVERY_LAG))
    return {
        "unavailable_task_s": away_s if is_known else None,
        "unavailable_without_restoring_task_s": _without_restoring(causes),
        "restored_bytes": _restored(played),
        "cross_zone_bytes": crossed,
        "dollars": dollars_of(crossed, terms.dollars_per_gib),
        "rebalances": len(played.generations),
        "warmups": _warmups(played.generations),
        "worst_task_s": worst if is_known else None,
        "unavailable_by_cause_s": causes,
        "restored_before_processing_bytes": _restored(played, before_processing=True),
        "longest_until_stable_s": max(stable) / 1000 if stable else None,
        "cold_takeovers": sum(each.lag > lag for each in played.world.takeovers),
        "reads_from": terms.reads_from,
    }


def _without_restoring(causes: Mapping[str, float | None]) -> float:
    # Each is an integer in milliseconds.
    return sum(round(1000 * (seconds or 0.0)) for cause, seconds in causes.items() if cause != RESTORING) / 1000


def _is_sized(played: PlayedStreamsEpisode, read: StateRead) -> bool:
    changelog = played.episode.changelogs[read.task]
    return changelog is None or changelog.bytes_per_record is not None


def _restored(played: PlayedStreamsEpisode, *, before_processing: bool = False) -> int | None:
    reads = [each for each in played.world.reads.all if not each.follows and (each.is_active or not before_processing)]
    if not all(_is_sized(played, each) for each in reads):
        return None
    return round(played.world.reads.restored(before_processing=before_processing))


def _restoring_is_known(played: PlayedStreamsEpisode) -> bool:
    changelogs = played.episode.changelogs
    restored = {each.task for each in played.world.reads.all if each.is_active and not each.follows}
    return all(log is None or log.is_known for log in map(changelogs.__getitem__, restored))


def _unavailable(played: PlayedStreamsEpisode) -> tuple[dict[str, float | None], float, float]:
    found: dict[str, int] = {}
    worst = 0
    for intervals in played.world.ledger.intervals:
        away = 0
        for begin, end, cause in intervals:
            length = max(0, end - max(begin, played.first_ms))
            found[cause] = found.get(cause, 0) + length
            away += length
        worst = max(worst, away)
    causes: dict[str, float | None] = {cause: found[cause] / 1000 for cause in sorted(found)}
    if not _restoring_is_known(played):
        causes = dict(sorted({**causes, RESTORING: None}.items()))
    return causes, sum(found.values()) / 1000, worst / 1000


def _generation(generation: Generation, first: int, names: Sequence[str]) -> dict[str, Any]:
    return {
        "t_ms": generation.prepared_ms - first,
        "assignment_t_ms": generation.assigned_ms - first,
        "generation": generation.number,
        "reason": generation.reason,
        "members": generation.members,
        "followup": generation.followup,
        "assigned": {
            name: {"active": [names[task] for task in active], "standby": [names[task] for task in standby]}
            for name, (active, standby) in sorted(generation.assigned.items())
        },
    }


def _actions(played: PlayedStreamsEpisode) -> list[dict[str, Any]]:
    rows = []
    begun = [each.prepared_ms for each in played.generations]
    for index, action in enumerate(played.actions):
        end = played.actions[index + 1].at_ms if index + 1 < len(played.actions) else math.inf
        within = played.generations[bisect_left(begun, action.at_ms) : bisect_left(begun, end)]
        if played.changes is None:
            last = within[-1].assigned_ms if within else None
        else:
            until = bisect_left(played.changes, end)
            last = played.changes[until - 1] if until and played.changes[until - 1] >= action.at_ms else None
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
    begun, before = 0, 0
    for each in generations:
        begun += max(0, each.warmups - before)
        before = each.warmups
    return begun
