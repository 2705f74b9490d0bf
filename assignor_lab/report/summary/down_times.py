"""Downtime of tasks: a table of a play, worst task first, with a sentence above it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import attrs

from assignor_lab.documents.wording import plural
from assignor_lab.model.pictures import DownTask, DownTimes

__all__ = ["DownInterval", "DownRow", "DownTable", "clock", "down_table", "seconds"]


@attrs.frozen
class DownInterval:
    """An interval of one cause; times in seconds, ``at`` and ``until`` by the clock or ``""``."""

    begin: str
    end: str
    at: str
    until: str
    length: str
    cause: str
    before: str
    after: str


@attrs.frozen
class DownRow:
    """One task."""

    task: DownTask
    down: str
    longest: str
    intervals: tuple[DownInterval, ...]


@attrs.frozen
class DownTable:
    """The table: ``words`` names the worst task, ``parts`` each cause with its task-seconds, largest first."""

    words: str
    total: str
    parts: tuple[tuple[str, str], ...]
    rows: tuple[DownRow, ...]
    tasks_left_out: int
    has_clock: bool


CAUSES = {
    "nobody": "starting: the group has no members",
    "not_noticed": "not noticed yet that its owner is gone",
    "rebalance": "rebalance: not assigned yet",
    "revoked": "revoked and not yet given",
    "restoring": "given, not ready: it starts, state comes back",
}


def down_table(down: DownTimes) -> DownTable:
    parts = sorted(zip(down.by_cause_ms, down.causes, strict=False), key=lambda each: -each[0])
    return DownTable(
        words=_words(down),
        total=seconds(sum(down.by_cause_ms)),
        parts=tuple((CAUSES.get(cause, cause), seconds(length)) for length, cause in parts if length),
        rows=tuple(
            DownRow(each, seconds(each.down_ms), seconds(each.longest_ms), tuple(_intervals(down, each)))
            for each in down.tasks
        ),
        tasks_left_out=down.tasks_left_out,
        has_clock=down.begun_ms is not None,
    )


def seconds(milliseconds: int) -> str:
    """Seconds to a tenth, or exactly if that would be zero."""
    return f"{milliseconds / 1000:,.1f}" if milliseconds >= 100 else f"{milliseconds / 1000:.3f}"


def clock(begun_ms: int | None, since_ms: int) -> str:
    """The time of day in UTC; ``""`` if unknown."""
    if begun_ms is None:
        return ""
    try:
        moment = datetime.fromtimestamp((begun_ms + since_ms) / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return ""
    return f"{moment:%H:%M:%S}.{(begun_ms + since_ms) % 1000 // 100}"


def _intervals(down: DownTimes, task: DownTask) -> list[DownInterval]:
    return [
        DownInterval(
            f"{begin / 1000:,.3f}",
            f"{to / 1000:,.3f}",
            clock(down.begun_ms, begin),
            clock(down.begun_ms, to),
            f"{(to - begin) / 1000:,.3f}",
            CAUSES.get(_named(down.causes, cause), _named(down.causes, cause)),
            _named(down.instances, before) or "nobody",
            _named(down.instances, after) or "nobody",
        )
        for begin, to, cause, before, after in (each for each in task.intervals if len(each) == 5)
    ]


def _named(names: Sequence[str], place: int) -> str:
    return names[place] if 0 <= place < len(names) else ""


def _words(down: DownTimes) -> str:
    if not down.tasks:
        return "No task was ever down."
    worst = down.tasks[0]
    alike = sum(each.down_ms == worst.down_ms for each in down.tasks) - 1
    sentence = f"Task {worst.task} was down for longest: {seconds(worst.down_ms)} s"
    sentence += f" ({plural(alike, 'other task')} as long)" if alike else ""
    stretch = _longest(worst)
    if not stretch:
        return f"{sentence}."
    begin = stretch[0][0]
    at = clock(down.begun_ms, begin)
    since = f"{at} UTC ({seconds(begin)} s after the beginning)" if at else f"{seconds(begin)} s after the beginning"
    main = max(range(len(stretch)), key=lambda place: stretch[place][1] - stretch[place][0])
    # A property of the longest interval is not the cause of all of them.
    mostly = "mostly " if len({each[2] for each in stretch}) > 1 else ""
    because = f"{mostly}because {_because(down, stretch, main)}."
    if worst.times == 1:
        return f"{sentence}, from {since}, {because}"
    often = f"in {plural(worst.times, 'stretch', 'stretches')}. The longest took {seconds(worst.longest_ms)} s"
    return f"{sentence} {often} from {since}, {because}"


def _longest(task: DownTask) -> list[tuple[int, ...]]:
    stretches: list[list[tuple[int, ...]]] = []
    for each in (each for each in task.intervals if len(each) == 5):
        if stretches and stretches[-1][-1][1] == each[0]:
            stretches[-1].append(each)
        else:
            stretches.append([each])
    return max(stretches, key=lambda stretch: stretch[-1][1] - stretch[0][0], default=[])


def _because(down: DownTimes, stretch: Sequence[tuple[int, ...]], place: int) -> str:
    _, _, cause, before, after = stretch[place]
    # An instance in between may have owned it and never become ready: use the owners at both ends.
    old = _named(down.instances, before) if place == 0 else ""
    new = _named(down.instances, after) if place == len(stretch) - 1 else ""
    match _named(down.causes, cause):
        case "nobody":
            return "the group had no members"
        case "not_noticed":
            return f"the group had not noticed yet that {old or 'its owner'} was gone"
        case "rebalance":
            return "the group was rebalancing and had not assigned it yet"
        case "revoked":
            return f"{old or 'its owner'} had given it up and it had no new owner yet"
        case "restoring":
            return f"{new or 'its new owner'} had it and was not ready: it started, its state came back"
        case other:
            return other
