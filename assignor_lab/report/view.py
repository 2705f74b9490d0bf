"""The page as values, built from a summary without any markup."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import attrs

from assignor_lab.documents.wording import figure, listed, natural_order, plural
from assignor_lab.groups.metrics.life_cycle import GROUP as LIFE_CYCLE_GROUP
from assignor_lab.model.explanations import NO_EXPLANATIONS, Explanations
from assignor_lab.model.pictures import SnapshotPlacement
from assignor_lab.model.run_summary import (
    Aggregate,
    Assignor,
    AssignTime,
    MetricRanking,
    Results,
    RunSummary,
    SummaryMetric,
    metrics_by_group,
)
from assignor_lab.report import words
from assignor_lab.report.drawings.charts import Histogram, Spread, spreads
from assignor_lab.report.drawings.pareto import Pareto, pareto
from assignor_lab.report.sections.exploration import choices, histograms
from assignor_lab.report.sections.headline import (
    HeadlineCard,
    NotMeasured,
    equal_sentence,
    folded,
    headline_cards,
    not_measured,
)
from assignor_lab.report.sections.pasts import PastPicture, pasts
from assignor_lab.report.summary.explanations import NO_WHYS, PanelWhys, panel_whys
from assignor_lab.report.summary.placement import (
    AnswerColumn,
    ClientRow,
    Slot,
    TaskChange,
    client_labels,
    column,
    runs_before,
    task_ranges,
)

__all__ = [
    "RoleCell",
    "MetricGroup",
    "MetricTable",
    "MetricRow",
    "Page",
    "Panel",
    "PanelColumn",
    "PanelRow",
    "page",
    "panel",
]

#: From this many unchanged tasks of one role on a client, they are shown as ranges.
MANY = 24
#: Most changed tasks of one role on a client that are drawn individually.
MOST_CHANGED = 120
#: From this many clients on, clients without a change in any answer are counted instead of drawn.
MANY_CLIENTS = 24
MOST_MOVES = 100


@attrs.frozen
class MetricRow:
    """One assignor in the table of one metric."""

    assignor: Assignor
    name: str
    place: int | None
    aggregate: Aggregate
    spread: Spread | None
    place_in_parts: int | None = None
    histogram: Histogram | None = None

    @property
    def telling(self) -> bool:
        return self.aggregate.min != self.aggregate.max


@attrs.frozen
class MetricTable:
    """One metric with the figures of every assignor; ``ranking`` is ``None`` if it is not ranked.

    Args:
        counted: States of the ranking if only a part has a figure, such as ``in 43 of 60 histories``; else empty.
    """

    metric: SummaryMetric
    label: str
    better: str
    ranking: MetricRanking | None
    rows: tuple[MetricRow, ...]
    counted: str = ""


@attrs.frozen
class MetricGroup:
    """Metrics of one kind; those of ``folded`` are one click away."""

    name: str
    tables: tuple[MetricTable, ...]
    folded: tuple[MetricTable, ...] = ()


@attrs.frozen
class Page:
    """The whole page without the pictures of placements."""

    summary: RunSummary
    names: dict[str, str]
    opening: str
    verified: tuple[str, ...]
    banner: tuple[str, ...]
    not_comparable: tuple[str, ...]
    verdict: str
    remarks: tuple[str, ...]
    reading: tuple[str, ...]
    agreement: tuple[str, ...]
    variants: str
    trust: str
    cards: tuple[HeadlineCard, ...]
    equal: str
    not_measured: tuple[NotMeasured, ...]
    pareto: Pareto | None
    ranked: tuple[Assignor, ...]
    groups: tuple[MetricGroup, ...]
    without_value: tuple[str, ...]
    times: tuple[tuple[AssignTime, str], ...]
    pasts: tuple[PastPicture, ...]

    @property
    def results(self) -> Results:
        return self.summary.results

    @property
    def single(self) -> bool:
        """True if there is only one state, so that every figure is one number and no distribution."""
        return self.results.states == 1

    @property
    def counts_alike(self) -> int:
        """Number of states behind every figure; 0 if it differs, or if a part of the run can be chosen."""
        counts = {row.aggregate.n for group in self.groups for table in group.tables for row in table.rows}
        counts |= {row.aggregate.n for group in self.groups for table in group.folded for row in table.rows}
        parts = choices(self.results.slices)
        return counts.pop() if len(counts) == 1 and not (parts and (parts.families or parts.sizes)) else 0


def page(summary: RunSummary) -> Page:
    results = summary.results
    verified = summary.verified
    banner = () if verified is None else verified.banner
    names = {each.name: words.display_name(each) for each in results.assignors}
    cards = headline_cards(results, names)
    by_name = {each.name: each for each in results.assignors}
    observed = {each.name for each in results.assignors if each.kind == "observed"}
    return Page(
        summary=summary,
        names=names,
        opening=words.opening(results),
        verified=() if verified is None else tuple(each for each in verified.sentences if each not in banner),
        banner=banner,
        not_comparable=tuple(words.not_comparable(results)),
        verdict="" if banner else words.verdict(results),
        remarks=tuple(words.remarks(results)),
        agreement=tuple(words.agreement_sentences(results)),
        variants=words.variants(results),
        trust=words.trust(results),
        reading=() if banner else tuple(words.reading(results)),
        cards=tuple(each for each in cards if not each.is_equal),
        equal=equal_sentence([each for each in cards if each.is_equal], results.states),
        not_measured=not_measured(results),
        pareto=None if banner else pareto(results, names),
        ranked=_ranked(results, by_name),
        groups=_groups(results, names, by_name),
        without_value=_without_value(results),
        times=tuple(
            (each, names.get(each.assignor, each.assignor))
            for each in summary.run_metrics.assign_ms
            if each.assignor not in observed
        ),
        pasts=pasts(results, names),
    )


def _ranked(results: Results, by_name: dict[str, Assignor]) -> tuple[Assignor, ...]:
    compared = {place.assignor for ranking in results.ranking.by_metric for place in ranking.places}
    baseline = results.baseline if results.headline is None else results.headline.baseline
    found = [assignor for name, assignor in by_name.items() if name in compared]
    return tuple(sorted(found, key=lambda assignor: assignor.name != baseline))


def _without_value(results: Results) -> tuple[str, ...]:
    known = {each.metric for each in results.aggregates if each.n}
    return tuple(words.label(metric) for metric in results.metrics if metric.name not in known)


def _groups(results: Results, names: dict[str, str], by_name: dict[str, Assignor]) -> tuple[MetricGroup, ...]:
    rankings = {each.metric: each for each in results.ranking.by_metric}
    of_metric: dict[str, list[Aggregate]] = {}
    for each in results.aggregates:
        if each.assignor in by_name:
            of_metric.setdefault(each.metric, []).append(each)
    drawn = histograms(results)
    groups = []
    for name, metrics in metrics_by_group(results):
        tables = []
        for metric in metrics:
            ranking = rankings.get(metric.name)
            places = {each.assignor: each.place for each in ranking.places} if ranking else {}
            aggregates = [each for each in of_metric.get(metric.name, []) if each.n]
            if not aggregates:
                continue
            rows = tuple(
                MetricRow(
                    by_name[each.assignor],
                    names[each.assignor],
                    places.get(each.assignor),
                    each,
                    spread,
                    *drawn.get((each.assignor, each.metric), (None, None)),
                )
                for each, spread in zip(aggregates, spreads(aggregates), strict=True)
            )
            label, better, counted = words.label(metric), words.better(metric), _counted(metric, ranking, results)
            tables.append(MetricTable(metric, label, better, ranking, rows, counted))
        if tables:
            groups.append(MetricGroup(name, *folded(name, tuple(tables), results)))
    return tuple(groups)


def _counted(metric: SummaryMetric, ranking: MetricRanking | None, results: Results) -> str:
    if ranking is None:
        return ""
    if metric.group == LIFE_CYCLE_GROUP:
        # One row of each history has the figures of this group.
        of_group = {each.name for each in results.metrics if each.group == metric.group}
        histories = max(each.n for each in results.ranking.by_metric if each.metric in of_group)
        whole, counted = histories, plural(histories, "history", "histories")
    else:
        whole, counted = results.ranking.states, results.counted(results.ranking.states)
    return "" if ranking.n == whole else f"in {figure(ranking.n)} of {counted}"


# --- placements -----------------------------------------------------------------------------------


@attrs.frozen
class RoleCell:
    """One role of one client: tasks drawn individually, and the unchanged ones as a text if they are many."""

    slots: tuple[Slot, ...]
    staying: int
    staying_ranges: str
    more: int
    more_ranges: str


@attrs.frozen
class PanelRow:
    """One client; ``before`` and each of ``after`` are (active, standby, leaving).

    ``further``: a member of the process in the row before, which has the location.
    """

    row: ClientRow
    label: str
    before: tuple[RoleCell, RoleCell, RoleCell]
    after: tuple[tuple[RoleCell, RoleCell, RoleCell] | None, ...]
    further: bool = False


@attrs.frozen
class PanelColumn:
    """One answer: ``key`` is its assignor's in every panel, ``words`` summarises its moves."""

    column: AnswerColumn
    key: int
    name: str
    words: str


@attrs.frozen
class Panel:
    """One state with every answer to it.

    Args:
        unknown: Assignors without a picture, because they are not comparable.
        happened: The event before the decision; empty if unknown.
    """

    number: int
    placement: SnapshotPlacement
    name: str
    labels: dict[str, str]
    columns: tuple[PanelColumn, ...]
    rows: tuple[PanelRow, ...]
    unchanged: tuple[str, ...]
    most_moves: int = MOST_MOVES
    whys: PanelWhys = NO_WHYS
    unknown: tuple[str, ...] = ()
    happened: str = ""

    @property
    def event(self) -> str:
        """The event before the decision, and the fewest and most moved tasks of the answers."""
        return "; ".join(part for part in (self.happened, self._moved) if part)

    @property
    def _moved(self) -> str:
        counts = [
            sum(move.source is not None and not move.within for move in each.column.moves)
            for each in self.columns
            if each.column.rows
        ]
        if not any(counts):
            return "no task moves" if counts else ""
        low, high = min(counts), max(counts)
        moves = f"{plural(high, 'task')} {'moves' if high == 1 else 'move'}"
        return moves if low == high else f"{figure(low)} to {moves}"

    @property
    def size(self) -> str:
        clients = self.placement.clients
        processes = {client.process for client in clients if client.process is not None}
        tasks = plural(len(self.placement.tasks), "task")
        if not processes:
            return f"{plural(len(clients), 'client')}, {tasks}"
        return f"{plural(len(processes), 'process', 'processes')} with {plural(len(clients), 'member')}, {tasks}"

    @property
    def members(self) -> bool:
        """True if a row is a member of a process, and not a process."""
        return any(client.process is not None for client in self.placement.clients)

    @property
    def moves(self) -> bool:
        return any(move.source is not None for each in self.columns for move in each.column.moves)


def panel(
    number: int,
    placement: SnapshotPlacement,
    names: Mapping[str, str],
    observed: Collection[str],
    explanations: Explanations = NO_EXPLANATIONS,
    happened: str = "",
) -> Panel:
    """The picture of one state; ``happened``: the event before it."""
    labels = client_labels(placement.clients)
    clients = sorted(placement.clients, key=lambda client: natural_order(labels[client.process_id]))
    placement = attrs.evolve(placement, clients=tuple(clients))
    before = runs_before(placement)
    # Kafka's decision comes first: the reader compares the other answers with it.
    answers = sorted(placement.after, key=lambda answer: answer.assignor not in observed)
    columns = [column(placement, answer) for answer in answers]
    unknown = [each for each in columns if each.answer.not_comparable is not None and each.answer.error is None]
    if len(unknown) < len(columns):  # omit incomparable columns beside a comparable one
        columns = [each for each in columns if each not in unknown]
    else:
        unknown = []
    rows: list[PanelRow] = []
    unchanged: list[str] = []
    for index, row in enumerate(before):
        after = tuple(_cells(each.rows[index]) if each.rows else None for each in columns)
        if row.client is None and not row.active and not any(each.rows and each.rows[index].active for each in columns):
            continue
        name = labels[row.client.process_id] if row.client else "Nobody"
        if (
            row.client
            and len(clients) >= MANY_CLIENTS
            and all(_keeps(each.rows[index]) for each in columns if each.rows)
        ):
            unchanged.append(name)
            continue
        above = rows[-1].row.client if rows else None
        further = bool(row.client and above and row.client.process is not None and row.client.process == above.process)
        rows.append(PanelRow(row, name, _cells(row), after, further))
    return Panel(
        number,
        placement,
        words.state_name(placement.scenario, placement.round, placement.time_ms),
        labels,
        tuple(PanelColumn(each, *_who(names, each.answer.assignor), _words_of(each)) for each in columns),
        tuple(rows),
        tuple(unchanged),
        whys=panel_whys(number, placement, columns, explanations, names, observed),
        unknown=tuple(_who(names, each.answer.assignor)[1] for each in unknown),
        happened=happened,
    )


def _who(names: Mapping[str, str], assignor: str) -> tuple[int, str]:
    known = list(names)
    return (known.index(assignor), names[assignor]) if assignor in names else (len(known), assignor)


def _keeps(row: ClientRow) -> bool:
    return all(slot.change is TaskChange.STAYS for slot in (*row.active, *row.standby, *row.leaving))


def _cells(row: ClientRow) -> tuple[RoleCell, RoleCell, RoleCell]:
    return _cell(row.active), _cell(row.standby), _cell(row.leaving)


def _cell(slots: tuple[Slot, ...]) -> RoleCell:
    changed = [slot for slot in slots if slot.change is not TaskChange.STAYS]
    staying = [slot for slot in slots if slot.change is TaskChange.STAYS]
    if len(staying) <= MANY and len(changed) <= MOST_CHANGED:
        return RoleCell(slots, 0, "", 0, "")
    drawn = tuple(changed[:MOST_CHANGED])
    more = changed[MOST_CHANGED:]
    return RoleCell(
        drawn,
        len(staying),
        task_ranges([slot.task for slot in staying]),
        len(more),
        task_ranges([slot.task for slot in more]),
    )


def _words_of(each: AnswerColumn) -> str:
    if each.answer.error is not None:
        return "no answer"
    if each.answer.not_comparable is not None:
        return "its real decision is unknown"
    elsewhere = [move for move in each.moves if move.source is not None and not move.within]
    moved = [move for move in elsewhere if move.stateful]
    light = sum(not move.stateful for move in elsewhere)
    within = sum(move.within for move in each.moves)
    fresh = sum(move.source is None for move in each.moves)
    parts = []
    if moved:
        warm = sum(move.warm for move in moved)
        behind = sum(bool(move.lacking) for move in moved)
        lagging = f", of which {figure(behind)} {'lags' if behind == 1 else 'lag'}" if behind else ""
        onto = f" ({figure(warm)} onto a standby copy{lagging})" if warm else ""
        parts.append(f"{plural(len(moved), 'task')} with state {'moves' if len(moved) == 1 else 'move'}{onto}")
    if light:
        parts.append(f"{plural(light, 'task')} without state {'moves' if light == 1 else 'move'}")
    if within:
        parts.append(f"{plural(within, 'task')} {'changes its' if within == 1 else 'change their'} thread")
    if fresh:
        parts.append(f"{plural(fresh, 'task')} without a previous owner {'starts' if fresh == 1 else 'start'}")
    if each.new_copies:
        parts.append(plural(each.new_copies, "new copy", "new copies"))
    return listed(parts) if parts else "nothing moves"
