"""Connect groups: jobs of each worker before and after, and timelines of episodes."""

from __future__ import annotations

import attrs

from assignor_lab.documents.wording import figure, natural_order, plural
from assignor_lab.model.pictures import ConnectSnapshot, GroupWorker, SnapshotAnswer
from assignor_lab.report import words
from assignor_lab.report.drawings.gantt import GanttDrawing, drawing
from assignor_lab.report.sections.causes import cause_words
from assignor_lab.report.summary.down_times import DownTable, down_table, seconds

__all__ = ["GroupColumn", "GroupPanel", "GroupRow", "group_panel"]

#: From this many workers on, unaffected ones are counted instead of drawn.
MANY_WORKERS = 24
MOST_ROWS = 20


@attrs.frozen
class WorkerLoad:
    """Number of a worker's jobs, with the length of its bar in percent of the busiest worker in the picture."""

    connectors: int
    tasks: int
    length: float

    @property
    def jobs(self) -> int:
        return self.connectors + self.tasks


@attrs.frozen
class After:
    """A worker in one answer."""

    load: WorkerLoad
    worker: GroupWorker


@attrs.frozen
class GroupRow:
    """One worker; ``after`` has an entry for each column, ``None`` without an answer."""

    name: str
    before: WorkerLoad
    after: tuple[After | None, ...]


@attrs.frozen
class GroupColumn:
    """One answer.

    Args:
        why: Causes of its rebalances; empty if unknown.
        opened: True if it is shown without a click.
    """

    answer: SnapshotAnswer
    name: str
    words: str
    gantt: GanttDrawing | None = None
    down: DownTable | None = None
    why: str = ""
    opened: bool = True


@attrs.frozen
class GroupPanel:
    """One rebalance with every answer to it, or one episode with every play of it; ``worst``: its worst measures."""

    number: int
    group: ConnectSnapshot
    name: str
    columns: tuple[GroupColumn, ...]
    rows: tuple[GroupRow, ...]
    unchanged: int
    worst: str = ""

    @property
    def is_episode(self) -> bool:
        return self.group.is_episode

    @property
    def moves(self) -> bool:
        workers = (worker for answer in self.group.answers for worker in answer.workers or ())
        return self.is_episode or any(worker.stops or worker.more_stops for worker in workers)


def group_panel(number: int, group: ConnectSnapshot, names: dict[str, str], worst: str = "") -> GroupPanel:
    plays = [answer for answer in group.answers if answer.gantt is not None]
    # Two small pictures are open for comparison; more or higher ones are one click away.
    side_by_side = len(plays) <= 2 and all(each.gantt and len(each.gantt.rows) <= MOST_ROWS for each in plays)
    columns = tuple(
        GroupColumn(
            answer,
            names.get(answer.assignor, answer.assignor),
            _words_of(answer),
            None if answer.gantt is None else drawing(answer.gantt, answer.down),
            None if answer.down is None else down_table(answer.down),
            "" if answer.gantt is None else cause_words(["; ".join(each.because) for each in answer.rebalances]),
            answer.gantt is None or side_by_side or answer is plays[0],
        )
        for answer in group.answers
    )
    sizes = [worker.connectors + worker.tasks for worker in group.workers]
    sizes += [each.connectors + each.tasks for answer in group.answers for each in answer.workers or ()]
    most = max(sizes, default=0)
    rows = []
    unchanged = 0
    for place in sorted(range(len(group.workers)), key=lambda place: natural_order(group.workers[place].id)):
        worker = group.workers[place]
        after = [answer.workers[place] if answer.workers else None for answer in group.answers]
        if len(group.workers) >= MANY_WORKERS and not any(each and (each.starts or each.stops) for each in after):
            unchanged += 1
            continue
        cells = (None if each is None else After(_load(each.connectors, each.tasks, most), each) for each in after)
        rows.append(GroupRow(worker.id, _load(worker.connectors, worker.tasks, most), tuple(cells)))
    return GroupPanel(
        number, group, words.state_name(group.scenario, group.round), columns, tuple(rows), unchanged, worst
    )


def _load(connectors: int, tasks: int, most: int) -> WorkerLoad:
    return WorkerLoad(connectors, tasks, round(100 * (connectors + tasks) / most, 1) if most else 0.0)


def _words_of(answer: SnapshotAnswer) -> str:
    if answer.error is not None:
        return "no answer"
    if answer.workers is None:
        rebalances = plural(len(answer.rebalances) + answer.rebalances_left_out, "rebalance")
        down = "" if answer.down is None else f", {seconds(sum(answer.down.by_cause_ms))} task-seconds down"
        return f"{rebalances}{down}"
    starts = sum(len(worker.starts) + worker.more_starts for worker in answer.workers)
    stops = sum(len(worker.stops) + worker.more_stops for worker in answer.workers)
    parts = []
    if answer.stops_all:
        parts.append("everything stops for it")
    if starts:
        parts.append(f"{plural(starts, 'job')} {'starts' if starts == 1 else 'start'} on another worker or for the "
                     "first time")  # fmt: skip
    if stops:
        parts.append(f"{plural(stops, 'job')} {'leaves its' if stops == 1 else 'leave their'} worker")
    if answer.delay_ms:
        parts.append(f"all join again after {figure(answer.delay_ms / 1000)} s")
    if answer.rounds is None:
        parts.append("the group does not come to rest")
    elif answer.rounds > 1:
        parts.append(f"at rest after {plural(answer.rounds, 'rebalance')}")
    return "; ".join(parts) or "nothing changes"
