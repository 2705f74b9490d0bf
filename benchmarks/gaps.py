"""Gaps of assignors over generated groups: `python -m benchmarks.gaps`, on Spark.

Each family of a kind of group has at least `--states` states. A cell is the mean avoidable part of a goal in one
decision, and in parentheses the mean avoidable share. Equal seeds give equal tables.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import attrs
import pyarrow.parquet as pq

from assignment_api.optimum import DEFAULT_GOALS, goals_of
from assignor_lab.cli.main import main as assignor
from benchmarks.pages import put_between

__all__ = ["tables_of"]

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "optimum-tables.md"
BEGIN = "<!-- written by python -m benchmarks.gaps --write: begin -->"
END = "<!-- written by python -m benchmarks.gaps --write: end -->"
_STRATEGY = "rack.aware.assignment.strategy"
#: States of a short generated history.
_ROUNDS = 5


@attrs.frozen
class _Run:
    """A run of `assignor score` for one kind of group."""

    title: str
    families: tuple[str, ...]
    assignors: tuple[str, ...]
    variants: Mapping[str, str] = attrs.field(factory=dict)

    def words(self, states: int, seed: int, out: str) -> list[str]:
        count = math.ceil(states / _ROUNDS) * len(self.families)
        words = ["score", "--metrics", "gaps", "--count", str(count), "--seed", str(seed), "--out", out]
        for option, values in (("--families", self.families), ("--assignor", self.assignors)):
            words += [word for value in values for word in (option, value)]
        return words + [word for name, terms in self.variants.items() for word in ("--variant", f"{name}={terms}")]


RUNS = {
    "streams": _Run(
        "Streams applications",
        (
            "streams_4x40", "steady_state", "scale_out", "scale_in", "rolling_restart", "rack_loss", "topology_growth",
            "skewed_workloads", "mixed_threads", "client_tags", "racks_partly_missing", "adversarial",
        ),
        ("high_availability", "sticky", "legacy_sticky", "load_aware", "optimal"),
        {
            "min_traffic": f"rack_aware,{_STRATEGY}=min_traffic",
            "balance_subtopology": f"rack_aware,{_STRATEGY}=balance_subtopology",
        },
    ),
    "streams-group": _Run(
        "Groups that a broker assigns",
        (
            "group_histories", "group_steady_state", "group_scale_out", "group_scale_in", "group_rolling_restart",
            "group_full_restart", "group_zone_loss", "group_growing_topics", "group_mixed_processes",
            "group_client_tags", "group_adversarial",
        ),
        ("group_sticky", "group_sticky_4_4"),
    ),
    "connect": _Run(
        "Connect, without rebalances in which jobs wait",
        ("connect_histories", "connect_scale_out", "connect_rolling_restart", "connect_reconfiguration"),
        ("connect_eager", "connect_incremental"),
    ),
}  # fmt: skip


def tables_of(kind: str, rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Lines of Markdown: a table for each goal, without goals of which no answer has an avoidable part.

    Args:
        kind: A key of :data:`RUNS`.
        rows: Rows of the results, with ``family``, ``assignor`` and the gaps.
    """
    run = RUNS[kind]
    columns = [*run.assignors, *run.variants]
    cells: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        cells.setdefault((row["family"], row["assignor"]), []).append(row)
    yield f"### {run.title}"
    for goal in goals_of(DEFAULT_GOALS[kind]):
        name = f"gap_{goal.kind}"
        if not any(row[name] for row in rows):
            continue
        yield from ("", f"`{name}`:", "", f"| family | states | {' | '.join(f'`{each}`' for each in columns)} |")
        yield "|---" * (2 + len(columns)) + "|"
        for family in run.families:
            known = [[row for row in cells.get((family, column), ()) if row[name] is not None] for column in columns]
            if any(known):
                yield f"| {family} | {max(map(len, known)):,} | {' | '.join(_cell(each, name) for each in known)} |"


def _cell(rows: Sequence[Mapping[str, Any]], name: str) -> str:
    if not rows:
        return "-"
    absolute, share = (fmean(row[column] for row in rows) for column in (name, f"{name}_share"))
    return f"{absolute:.2f} ({share:.0%})"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gaps", description=__doc__)
    parser.add_argument("--states", type=int, default=1_000, help="states of each family (%(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", nargs="+", default=list(RUNS), choices=RUNS)
    parser.add_argument("--write", action="store_true", help=f"write the tables into {PAGE.name}")
    options = parser.parse_args(arguments)
    lines: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for kind in options.kinds:
            out = f"{folder}/{kind}"
            with contextlib.redirect_stdout(sys.stderr), contextlib.suppress(SystemExit):
                assignor(RUNS[kind].words(options.states, options.seed, out))
            rows = pq.read_table(f"{out}/results.parquet").to_pylist()
            lines += ["", *tables_of(kind, rows)]
    text = "\n".join(lines)
    print(text)
    if options.write:
        put_between(PAGE, BEGIN, text, END)
    return 0


if __name__ == "__main__":
    sys.exit(main())
