"""A group's past as a heading, a sentence and a table, for terminals and notebooks."""

from __future__ import annotations

from assignor_lab.capture.histories.timeline import JOBS, GroupTimeline, TimelineEntry
from assignor_lab.documents.wording import moment, plain, plural, without_uuids
from assignor_lab.model.events import GroupEvent
from assignor_lab.model.history import PARTITIONS, number_noun

__all__ = ["head_of", "past_sentence", "table_of"]

#: All columns; :func:`table_of` leaves out those that a kind of group lacks.
_COLUMNS = (
    "TIME",
    "",
    "INSTANCES",
    "MEMBERS",
    "CAME AND WENT",
    "MOVED",
    "TAKEN OVER",
    "COPIES MADE",
    "REASON",
    "NEXT",
)


def head_of(timeline: GroupTimeline) -> str:
    """The group, the number of its decisions, and its protocols."""
    counted = plural(len(timeline.entries), "rebalance" if timeline.moves == JOBS else "decision")
    protocol = f", {' and '.join(timeline.protocols)} protocol" if timeline.protocols else ""
    return f"{timeline.group or 'a group'}: {counted}{protocol}"


def past_sentence(timeline: GroupTimeline) -> str:
    """The moves and causes in a sentence; empty for a single decision."""
    if len(timeline.entries) < 2:
        return ""
    from assignor_lab.report.sections.pasts import past_words

    return past_words(timeline.entries, timeline.moves)


def table_of(timeline: GroupTimeline) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
    """Columns and rows: decisions and the events between them, by time."""
    number = number_noun(timeline.protocol).upper()
    rows = [_event_row(row) if isinstance(row, GroupEvent) else _row(row) for row in timeline.rows]
    if timeline.moves == JOBS:
        # Workers have neither threads nor copies.
        columns: tuple[str, ...] = ("TIME", "GENERATION", "WORKERS", "CAME AND WENT", "JOBS MOVED", "REASON AND NOTES")
        rows = [(*row[:3], *row[4:6], row[8]) for row in rows]
        if all(entry.generation is None for entry in timeline.entries):
            # Descriptions of a group do not number the generations.
            return (columns[0], *columns[2:]), [(row[0], *row[2:]) for row in rows]
        return columns, rows
    if timeline.moves == PARTITIONS:
        # A consumer is one member, and has no copies.
        columns = ("TIME", number, "MEMBERS", "CAME AND WENT", "MOVED", "TAKEN OVER", "REASON")
        return columns, [(*row[:2], *row[3:7], row[8]) for row in rows]
    return tuple(name or number for name in _COLUMNS), rows


def _event_row(event: GroupEvent) -> tuple[object, ...]:
    """An inferred event shows the time by which it had happened."""
    return (moment(event.at.latest_ms), "", "", "", "", "", "", "", plain(event.sentence), "")


def _row(entry: TimelineEntry) -> tuple[object, ...]:
    changes = [f"+{name}" for name in entry.joined] + [f"-{name}" for name in entry.gone]
    changes += [f"{name} anew" for name in entry.restarted]
    reason = "; ".join(each for each in (without_uuids(entry.reason), entry.inferred_reason) if each)
    if entry.missing is not None:
        first, last = entry.missing
        gap = f"{first} is not there" if first == last else f"{first} to {last} are not there"
        reason = f"{gap}; {reason}" if reason else gap
    return (
        moment(entry.time_ms),
        "" if entry.generation is None else entry.generation,
        entry.instances,
        entry.members,
        " ".join(changes),
        entry.active_moved or "",
        entry.active_taken_over or "",
        entry.copies_made or "",
        reason,
        entry.followup if entry.followup != "none" else "",
    )
