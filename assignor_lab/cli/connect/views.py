"""Tables and texts of the commands under ``assignor connect``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assignor_lab.cli.text import console, note, print_json, print_line, table
from assignor_lab.simulation.connect.documents import episode_document
from assignor_lab.simulation.connect.episode_figures import episode_figures
from assignor_lab.simulation.connect.simulate import Played
from assignor_lab.simulation.connect.static_plan import StaticPlan
from assignor_lab.simulation.connect.timeline import timeline

__all__ = ["print_benchmark", "print_plan", "print_played", "print_small"]


def print_played(played: Sequence[Played], width: int, *, as_json: bool) -> None:
    """Prints episodes that were played: log, rebalances, timeline, figures."""
    if as_json:
        print_json([episode_document(each) for each in played])
        return
    for each in played:
        _print_one(each, width)


def _print_one(played: Played, width: int) -> None:
    cluster, begin = played.cluster, played.cluster.start_ms
    print_line(f"episode {played.episode.id}")
    print_line()
    for entry in cluster.log.entries:
        print_line(entry.line())
    print_line()
    rows = [
        (
            each.generation,
            f"{(each.joined_ms - begin) / 1000:.3f}",
            each.leader,
            each.protocol.value,
            len(each.members),
            "mismatch" if each.mismatch else f"+{each.assigned} -{each.revoked}",
            f"{each.delay_ms / 1000:g}" if each.delay_ms else "",
            "; ".join(each.reasons),
        )
        for each in cluster.rounds
    ]
    columns = ("generation", "at (s)", "leader", "protocol", "members", "jobs", "delay (s)", "because")
    console().print(table(columns, rows))
    for line in timeline(cluster, begin, begin + played.episode.until_ms, width):
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


def print_rows(title: str, rows: Sequence[dict[str, Any]]) -> None:
    """A titled table; its columns are the rows' keys."""
    print_line(title)
    columns = [key.replace("_", " ") for key in rows[0]]
    console().print(table(columns, [["" if value is None else _cell(value) for value in row.values()] for row in rows]))


def _cell(value: Any) -> str:
    return f"{value:,.10g}" if isinstance(value, (int, float)) else str(value)


def print_benchmark(document: dict[str, Any]) -> None:
    """The blog's benchmark."""
    print_rows("Seconds until stable: 90 connectors x 10 tasks on 3 workers (figures 4 and 6)", document["times"])
    print_rows("Table 1: throughput of the tasks", document["table_1"])
    print_rows("What a task's throughput may mean (MB/s; by what all tasks can do together)", document["definitions"])
    print_rows("Rebalances and jobs, by the client's pace (figure 5 shows counts that the text does not give)",
               document["counts"])  # fmt: skip
    print_rows("Workers come and go while 900 tasks run", document["scenarios"])
    print_rows("Assumptions", document["assumptions"])
    print_rows("How far the conclusions depend on them (incremental : eager, time the other way round)",
               document["dependence"])  # fmt: skip


def print_small(document: dict[str, Any]) -> None:
    """The small experiment, recorded and simulated."""
    print_rows("30 connectors x 10 tasks on 3 workers: Kafka Connect 4.3.1 as recorded, and simulated",
               document["figures"])  # fmt: skip
    print_rows("Constants", document["assumptions"])


def print_plan(plan: StaticPlan) -> None:
    """Worker keys, ready to be used, with warnings on standard error."""
    for worker in plan.workers:
        share = f", load {worker.load:g} of {worker.size:g}" if worker.configs else ": wildcard, no static keys"
        print_line(f"# worker {worker.name}{share}")
        for line in worker.properties().splitlines():
            print_line(line)
        print_line()
    for warning in plan.warnings:
        note(f"warning: {warning}")
