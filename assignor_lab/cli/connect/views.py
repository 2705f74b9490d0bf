"""Tables and texts of the commands under ``assignor connect``."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from assignor_lab.cli.text import console, fits, note, print_json, print_line, table
from assignor_lab.simulation.connect.episode_figures import episode_figures
from assignor_lab.simulation.connect.formats.plays import episode_document
from assignor_lab.simulation.connect.published.benchmark import BenchmarkTable, TableRow
from assignor_lab.simulation.connect.simulate import PlayedConnectEpisode
from assignor_lab.simulation.connect.static_plan import StaticPlan
from assignor_lab.simulation.connect.timeline import timeline

__all__ = ["print_plan", "print_played", "print_tables"]


def print_played(played: Sequence[PlayedConnectEpisode], width: int | None, *, as_json: bool) -> None:
    """Prints played episodes: log, rebalances, timeline, figures."""
    if as_json:
        print_json([episode_document(each) for each in played])
        return
    for each in played:
        _print_one(each, width)


def _print_one(played: PlayedConnectEpisode, width: int | None) -> None:
    cluster, begin = played.cluster, played.cluster.start_ms
    print_line(f"episode {played.episode.id}")
    print_line()
    for entry in cluster.log.entries:
        print_line(entry.line())
    print_line()
    # The log above names the members of each.
    rows = [
        (
            each.generation,
            f"{(each.joined_ms - begin) / 1000:.3f}",
            each.leader,
            each.protocol.value,
            "mismatch" if each.mismatch else f"+{each.assigned} -{each.revoked}",
            f"{each.delay_ms / 1000:g}" if each.delay_ms else "",
            "; ".join(each.reasons),
        )
        for each in cluster.rounds
    ]
    columns = ("generation", "at (s)", "leader", "protocol", "jobs", "delay (s)", "because")
    console().print(table(columns, rows))
    # A line of it begins with a worker's name.
    labels = max(map(len, (*played.history.lives, "rebalances"))) + 2
    chosen = max(10, min(100, console().width - labels)) if width is None else width
    for line in timeline(played.history, chosen):
        print_line(line)
    print_line()
    for name, (value, unit) in episode_figures(played).items():
        print_line(f"{name:<44} {_number(value)} {unit}".rstrip())
    for overlap in cluster.runs.overlaps(begin + played.episode.until_ms):
        seconds = (overlap.end_ms - overlap.start_ms) / 1000
        reason = overlap.reason or "NOT EXPLAINED"
        print_line(f"{overlap.job} ran on {overlap.first} and {overlap.second} for {seconds:g} s: {reason}")
    print_line()


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:g}"


def print_rows(title: str, rows: Sequence[TableRow]) -> None:
    """A titled table: keys as columns, keys as rows, or a paragraph for each row, by the width of the console."""
    print_line(title)
    columns = [key.replace("_", " ") for key in rows[0]]
    cells = [["" if value is None else _cell(value) for value in row.values()] for row in rows]
    across = list(zip(columns, *cells, strict=True))
    if fits(columns, cells):
        console().print(table(columns, cells))
    elif fits(across[0], across[1:]):
        console().print(table(across[0], across[1:]))
    else:
        _print_paragraphs(columns, cells)


def _print_paragraphs(columns: Sequence[str], cells: Sequence[Sequence[str]]) -> None:
    for name, *values in cells:
        known = [f"{column} {value}" for column, value in zip(columns[1:], values, strict=True) if value]
        print_line()
        for start, text in (("", name), ("    ", ", ".join(known))):
            for line in wrap(text, console().width - 1, initial_indent=start, subsequent_indent=start or "  "):
                print_line(line)
    print_line()


def _cell(value: str | float) -> str:
    return f"{value:,.10g}" if isinstance(value, (int, float)) else str(value)


def print_tables(tables: Sequence[BenchmarkTable]) -> None:
    """The tables of a benchmark."""
    for each in tables:
        if each.by is None:
            print_rows(each.title, each.rows)
            continue
        for value in dict.fromkeys(row[each.by] for row in each.rows):
            of_value = [row for row in each.rows if row[each.by] == value]
            print_rows(f"{each.title}: {value}", [_without(row, each.by) for row in of_value])


def _without(row: TableRow, column: str) -> TableRow:
    return {key: value for key, value in row.items() if key != column}


def print_plan(plan: StaticPlan) -> None:
    """Worker keys, ready for use, with warnings on standard error."""
    for worker in plan.workers:
        share = f", load {worker.load:g} of {worker.size:g}" if worker.configs else ": wildcard, no static keys"
        print_line(f"# worker {worker.name}{share}")
        for line in worker.properties().splitlines():
            print_line(line)
        print_line()
    for warning in plan.warnings:
        note(f"warning: {warning}")
