"""Settling a wave: rows that rest on a guess who is excluded are taken in order, and only where the guess was right.

What is settled follows from the items alone (:mod:`assignor_lab.scoring.exclusion`); who guessed wrong works on those
items once more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import attrs
import pyarrow as pa
import pyarrow.compute as pc

from assignor_lab.groups.work import WorkItem
from assignor_lab.scoring.engine import Wave
from assignor_lab.scoring.exclusion import RunExclusions
from assignor_lab.scoring.schema import KEY_NAMES
from assignor_lab.scoring.speculation import MARK

__all__ = ["Came", "settled"]


@attrs.frozen(eq=False)
class Came:
    """What came of items.

    Args:
        rows: Their rows, sorted, with marks where anybody can be excluded; where they are in pieces, only the columns
            :data:`~assignor_lab.scoring.output.pieces.NOTED` of them, and the marks.
        pieces: Files that hold all of the rows, without marks; none: nobody wrote them down.
        everything: Reads the rows in full from the pieces, with marks, and removes these.
    """

    rows: pa.Table
    pieces: tuple[Path, ...] = ()
    everything: Callable[[], pa.Table] | None = None

    def whole(self) -> pa.Table:
        """The rows in full; pieces are gone then."""
        return self.rows if self.everything is None else self.everything()


#: Works on items once more.
Again = Callable[[list[WorkItem]], Came]


def settled(items: Sequence[WorkItem], came: Came, exclusions: RunExclusions, again: Again) -> Iterator[Wave]:
    """The rows of a wave as they have to be, in waves of their own where some items are worked on once more.

    Args:
        items: Its items, in order, as they were sent.
        came: Their rows; where no item is worked on once more, they stay in their pieces.
        exclusions: Says who is; it is told of all rows that are taken.
        again: Works on items once more.
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
    """The items with who was left out of them in fact."""
    marked = rows.filter(pc.is_valid(rows[MARK])).select(["item", MARK]).to_pylist()
    marks: Mapping[int, list[str]] = {row["item"]: row[MARK] for row in marked}
    return [attrs.evolve(item, excluded=tuple(marks[item.number])) if item.number in marks else item for item in items]


def _taken(items: Sequence[WorkItem], rows: pa.Table, exclusions: RunExclusions) -> int:
    """How many of the items are as they have to be, from the first on; the exclusions have been told of their rows."""
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
    """The items that are not as they have to be, as far as that is known, marked anew."""
    return [exclusions.marked(item) for item in items if not _is_right(item, exclusions)]


def _is_right(item: WorkItem, exclusions: RunExclusions) -> bool:
    due = exclusions.excluded_from(item.number)
    # Of an item that nobody can decide about yet, it is known only who is out in any case.
    return item.excluded == due if exclusions.may_take(item.number) else set(due) <= set(item.excluded)


def _split(rows: pa.Table, number: int) -> tuple[pa.Table, pa.Table]:
    """The rows of items before ``number``, and the others; they are sorted."""
    count = pc.sum(pc.less(rows["item"], number)).as_py() or 0
    return rows.slice(0, count), rows.slice(count)
