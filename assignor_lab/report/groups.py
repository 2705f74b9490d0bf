"""Connect groups: how many jobs each worker runs before and after, and how an episode went."""

from __future__ import annotations

import attrs

from assignor_lab.documents.wording import figure, natural_order, plural
from assignor_lab.report import words
from assignor_lab.report.causes import cause_words
from assignor_lab.report.down_times import DownTable, down_table, seconds
from assignor_lab.report.gantt import GanttDrawing, drawing
from assignor_lab.report.pictures import Group, GroupAnswer, GroupWorker

__all__ = ["GroupColumn", "GroupPanel", "GroupRow", "group_panel"]

#: From so many workers on, those that nothing happens to in any answer are counted instead of drawn.
MANY_WORKERS = 24
#: Most rows of a play that is shown beside another one.
MOST_ROWS = 20


@attrs.frozen
class Load:
    """How many jobs a worker runs, with the length of its bar in percent of the busiest worker's of the picture."""

    connectors: int
    tasks: int
    length: float

    @property
    def jobs(self) -> int:
        """Connector instances and tasks together."""
        return self.connectors + self.tasks


@attrs.frozen
class After:
    """What becomes of one worker in one answer."""

    load: Load
    worker: GroupWorker


@attrs.frozen
class GroupRow:
    """One worker; ``after`` has an entry for each column, ``None`` where there is no answer."""

    name: str
    before: Load
    after: tuple[After | None, ...]


@attrs.frozen
class GroupColumn:
    """One answer.

    Args:
        answer: The answer.
        name: Whose it is.
        told: What it does, in a few words.
        gantt: The picture of the play of an episode with state.
        down: When tasks were down in it.
        why: Why it rebalanced how often; empty if its reasons are not known.
        opened: Whether it is shown before anybody asks for it.
    """

    answer: GroupAnswer
    name: str
    told: str
    gantt: GanttDrawing | None = None
    down: DownTable | None = None
    why: str = ""
    opened: bool = True


@attrs.frozen
class GroupPanel:
    """One rebalance with every answer to it, or one episode with every play of it; ``worst``: what is worst in it."""

    number: int
    group: Group
    name: str
    columns: tuple[GroupColumn, ...]
    rows: tuple[GroupRow, ...]
    unchanged: int
    worst: str = ""

    @property
    def is_episode(self) -> bool:
        """Whether a timeline is shown, and not a rebalance."""
        return self.group.is_episode


def group_panel(number: int, group: Group, names: dict[str, str], worst: str = "") -> GroupPanel:
    """The picture of one state.

    Args:
        number: Counts from 1 and becomes its anchor.
        group: The state with its answers.
        names: Assignor to how it is called.
        worst: The measures in which somebody does worst in it, in words.
    """
    plays = [answer for answer in group.answers if answer.gantt is not None]
    # Two are compared at a glance; of more pictures, or higher ones, the others are one click away.
    side_by_side = len(plays) <= 2 and all(each.gantt and len(each.gantt.rows) <= MOST_ROWS for each in plays)
    columns = tuple(
        GroupColumn(
            answer,
            names.get(answer.assignor, answer.assignor),
            _told(answer),
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


def _load(connectors: int, tasks: int, most: int) -> Load:
    return Load(connectors, tasks, round(100 * (connectors + tasks) / most, 1) if most else 0.0)


def _told(answer: GroupAnswer) -> str:
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
