"""The measured points as a table of Markdown, and its place in README.md."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from pathlib import Path

from benchmarks.pages import put_between
from benchmarks.points import Measurement, target_of

__all__ = ["as_markdown", "write_readme"]

README = Path(__file__).resolve().parent / "README.md"
BEGIN = "<!-- written by make bench: begin -->"
END = "<!-- written by make bench: end -->"

COLUMNS = (
    "scenario",
    "assignor",
    "tasks x clients",
    "Kafka ms",
    "calls",
    "ours ms",
    "Kafka / ours",
    "target",
    "holds",
    "Kafka heap MB",
    "our process MB",
)


def as_markdown(measured: Sequence[Measurement], kafka: str, large: Sequence[str]) -> str:
    connect = [figure for figure in measured if figure.point.assignor.startswith("connect_")]
    cold = [figure for figure in measured if not figure.is_hot and figure not in connect]
    hot = [figure for figure in measured if figure.is_hot]
    java = " and ".join(sorted({figure.java for figure in measured}))
    lines = [
        f"Kafka {kafka} on Java {java}; CPython {platform.python_version()}, {platform.system()} "
        f"{platform.machine()}, {os.cpu_count()} processors. {_ownership(cold)}",
        "",
        *_table(cold),
    ]
    if hot:
        lines += [
            "",
            f"The small files and the groups on the broker after 200 warm-ups, median of 50. {_ownership(hot)}",
            "",
            *_table(hot),
        ]
    if connect:
        lines += [
            "",
            f"Connect: the slowest round of each history, by its median over the calls. {_ownership(connect)}",
            "",
            *_table(connect),
        ]
    if large:
        lines += ["", "100,000 tasks on 1,000 clients (see `large.py`):", "", *(f"* {sentence}" for sentence in large)]
    return "\n".join(lines) + "\n"


def _ownership(measured: Sequence[Measurement]) -> str:
    return f"{sum(target_of(figure)[1] for figure in measured)} of {len(measured)} points hold their target."


def _table(measured: Sequence[Measurement]) -> list[str]:
    return [
        f"| {' | '.join(COLUMNS)} |",
        f"|{'|'.join(['---'] * 2 + ['---:'] * 5 + ['---'] * 2 + ['---:'] * 2)}|",
        *(f"| {' | '.join(row(figure))} |" for figure in measured),
    ]


def row(measurement: Measurement) -> list[str]:
    target, holds = target_of(measurement)
    return [
        measurement.point.scenario,
        measurement.point.assignor,
        f"{measurement.tasks:,} x {measurement.clients:,}",
        _milliseconds(measurement.official_ms),
        str(len(measurement.official_ns)),
        _milliseconds(measurement.own_ms),
        f"{measurement.speedup:.1f}" if measurement.speedup < 100 else f"{measurement.speedup:,.0f}",
        target,
        "yes" if holds else "**no**",
        f"{measurement.official_heap / 2**20:,.0f}",
        f"{measurement.own_memory / 2**20:,.0f}",
    ]


def _milliseconds(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:,.0f}"


def write_readme(table: str) -> None:
    put_between(README, BEGIN, table.removesuffix("\n"), END)
