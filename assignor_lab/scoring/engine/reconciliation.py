"""Reconciliation of a wave: rows with a guessed exclusion are accepted in order, and only if the guess was right.

Items with a wrong guess are computed again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import attrs
import pyarrow as pa
import pyarrow.compute as pc

from assignor_lab.groups.work import WorkItem
from assignor_lab.scoring.engine.engine import Wave
from assignor_lab.scoring.engine.exclusion import RunExclusions
from assignor_lab.scoring.engine.speculation import MARK
from assignor_lab.scoring.output.tables import KEY_NAMES

__all__ = ["ComputedRows", "settled"]


@attrs.frozen(eq=False)
class ComputedRows:
    """Results of items.

    Args:
        rows: Their rows, sorted, with marks if an exclusion is possible; for rows in pieces, only the columns
            :data:`~assignor_lab.scoring.output.pieces.NOTED`, and the marks.
        pieces: Files that hold all of the rows, without marks; empty if none were written.
        everything: Reads the full rows from the pieces, with marks, and removes the pieces.
    """

    rows: pa.Table
    pieces: tuple[Path, ...] = ()
    everything: Callable[[], pa.Table] | None = None

    def whole(self) -> pa.Table:
        """The full rows; removes the pieces."""
        return self.rows if self.everything is None else self.everything()


#: Computes items again.
Again = Callable[[list[WorkItem]], ComputedRows]


def settled(items: Sequence[WorkItem], came: ComputedRows, exclusions: RunExclusions, again: Again) -> Iterator[Wave]:
    """The correct rows of a wave, in further waves if some items are computed again.

    Args:
        exclusions: The exclusions; all accepted rows are reported to it.
    """
    if not exclusions.can_exclude:
        exclusions.see(came.rows, items[-1].number + 1)
        yield Wave(len(items), came.rows, came.pieces)
        return
    left, rest = _as_done(items, came.rows), came.rows
    taken = _taken(left, rest, exclusions)
    if taken == len(left):
        yield Wave(taken, rest.drop_columns([MARK]), came.pieces)
        return
    rest = came.whole()
    while True:
        if taken:
            end = left[taken - 1].number + 1
            ready, rest = _split(rest, end)
            yield Wave(taken, ready.drop_columns([MARK]))
            left = left[taken:]
        if not left:
            return
        wrong = _wrong(left, exclusions)
        found = again(wrong).whole()
        done = {item.number: item for item in _as_done(wrong, found)}
        left = [done.get(item.number, item) for item in left]
        kept = rest.filter(pc.invert(pc.is_in(rest["item"], pa.array(list(done), rest.schema.field("item").type))))
        rest = pa.concat_tables([kept, found]).sort_by([(key, "ascending") for key in KEY_NAMES])
        taken = _taken(left, rest, exclusions)


def _as_done(items: Sequence[WorkItem], rows: pa.Table) -> list[WorkItem]:
    marked = rows.filter(pc.is_valid(rows[MARK])).select(["item", MARK]).to_pylist()
    marks: Mapping[int, list[str]] = {row["item"]: row[MARK] for row in marked}
    return [attrs.evolve(item, excluded=tuple(marks[item.number])) if item.number in marks else item for item in items]


def _taken(items: Sequence[WorkItem], rows: pa.Table, exclusions: RunExclusions) -> int:
    taken = 0
    while taken < len(items):
        end = exclusions.next_block(items[taken].number)
        block = [item for item in items[taken:] if end is None or item.number < end]
        right = next((place for place, item in enumerate(block) if not _is_right(item, exclusions)), len(block))
        if right:
            ready, rows = _split(rows, block[right - 1].number + 1)
            exclusions.see(ready, block[right - 1].number + 1)
        taken += right
        if right < len(block):
            break
    return taken


def _wrong(items: Sequence[WorkItem], exclusions: RunExclusions) -> list[WorkItem]:
    """The items that are known to be wrong, marked anew."""
    return [exclusions.marked(item) for item in items if not _is_right(item, exclusions)]


def _is_right(item: WorkItem, exclusions: RunExclusions) -> bool:
    due = exclusions.excluded_from(item.number)
    return item.excluded == due if exclusions.may_take(item.number) else set(due) <= set(item.excluded)


def _split(rows: pa.Table, number: int) -> tuple[pa.Table, pa.Table]:
    count = pc.sum(pc.less(rows["item"], number)).as_py() or 0
    return rows.slice(0, count), rows.slice(count)
