"""An episode at one moment: the placement under each contender, and the neighbouring rebalances."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping

import attrs

from assignor_lab.model.pictures import ConnectSnapshot, Gantt, Picture
from assignor_lab.web.address import View

__all__ = ["EpisodeMoment", "moment_of"]

_HINT = "this is an error of the page: please report how to reproduce it"
#: Speeds as multiples of real time; the default plays an episode in about half a minute.
SPEEDS = (1, 2, 5, 10, 30, 60, 300, 1_800)
_WHOLE_S = 30


@attrs.frozen
class EpisodeMoment:
    """An episode at one moment.

    Args:
        speed: Default speed as a multiple of real time.
    """

    at_ms: int
    until_ms: int
    who: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]
    before: str | None
    after: str | None
    speed: int

    @property
    def speeds(self) -> tuple[int, ...]:
        return SPEEDS


def moment_of(picture: Picture, view: View, names: Mapping[str, str]) -> EpisodeMoment | None:
    """The moment of a view; ``None``: the episode has no single tasks.

    Args:
        names: Name of each contender for people.
    """
    answers = picture.answers if isinstance(picture, ConnectSnapshot) else ()
    drawn = [(each.assignor, each.gantt) for each in answers if each.gantt is not None]
    drawings = [gantt for _, gantt in drawn]
    if not drawings:
        return None
    until = max(gantt.until_ms for gantt in drawings)
    at = min(view.at_ms or 0, until)
    rows: dict[str, list[str]] = {}
    for number, gantt in enumerate(drawings):
        for name, tasks in _running(gantt, at).items():
            rows.setdefault(name, [""] * len(drawings))[number] = " ".join(tasks)
    marks = sorted({mark for gantt in drawings for mark in gantt.marks if 0 <= mark <= until})
    earlier, later = bisect_left(marks, at), bisect_right(marks, at)
    return EpisodeMoment(
        at,
        until,
        tuple(names[assignor] for assignor, _ in drawn),
        tuple((name, tuple(cells)) for name, cells in sorted(rows.items())),
        view.url(at_ms=marks[earlier - 1]) if earlier else None,
        view.url(at_ms=marks[later]) if later < len(marks) else None,
        next((speed for speed in SPEEDS if until / 1_000 / speed <= _WHOLE_S), SPEEDS[-1]),
    )


def _running(gantt: Gantt, at: int) -> dict[str, list[str]]:
    running: dict[str, list[str]] = {name: [] for name in gantt.instances}
    last = gantt.until_ms
    for row in gantt.rows:
        # The last moment belongs to the last interval.
        run = next((owner for begin, to, owner in row.runs if begin <= at < to or at == to == last), None)
        waits = next((bool(state) for begin, to, state in row.waits if begin <= at < to or at == to == last), None)
        name = "no owner, state is restored" if waits else "no owner" if run is None else gantt.instances[run]
        running.setdefault(name, []).append(row.task)
    return running
