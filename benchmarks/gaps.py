"""Gaps of assignors over generated groups: `python -m benchmarks.gaps`, on Spark.

Each family of a kind of group has at least `--states` states. A cell is the mean avoidable part of a goal in one
decision, and in parentheses the mean avoidable share. Equal seeds give equal tables.
`--skew` makes the tables of load, lag after a spike and moves instead.
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
from assignor_lab.groups.metrics.gaps import name_of
from assignor_lab.groups.streams.metrics.weights import LONGEST_CATCH_UP_S
from benchmarks.pages import put_between

__all__ = ["moves_of", "skew_of", "tables_of"]

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "optimum-tables.md"
BEGIN = "<!-- written by python -m benchmarks.gaps --write: begin -->"
END = "<!-- written by python -m benchmarks.gaps --write: end -->"
SKEW_BEGIN = "<!-- written by python -m benchmarks.gaps --skew --write: begin -->"
SKEW_END = "<!-- written by python -m benchmarks.gaps --skew --write: end -->"
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
    metrics: str = "gaps"

    def words(self, states: int, seed: int, out: str) -> list[str]:
        count = math.ceil(states / _ROUNDS) * len(self.families)
        words = ["score", "--metrics", self.metrics, "--count", str(count), "--seed", str(seed), "--out", out]
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
SKEWED = _Run(
    "Skewed load",
    ("skewed_workloads",),
    ("load_aware", "high_availability", "optimal", "sticky", "legacy_sticky"),
    metrics="active_weight_above_even_share,spike_lag_seconds,spike_catch_up_seconds,stateful_actives_moved",
)
EVEN = _Run(
    "Even load",
    (
        "streams_4x40", "steady_state", "scale_out", "scale_in", "rolling_restart", "rack_loss", "topology_growth",
        "mixed_threads", "client_tags", "racks_partly_missing",
    ),
    ("load_aware", "high_availability"),
    metrics="stateful_actives_moved",
)  # fmt: skip


def tables_of(kind: str, rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Lines of Markdown: a table for each goal with any avoidable part.

    Args:
        kind: A key of :data:`RUNS`.
        rows: Result rows with ``family``, ``assignor`` and the gaps.
    """
    run = RUNS[kind]
    columns = [*run.assignors, *run.variants]
    cells: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        cells.setdefault((row["family"], row["assignor"]), []).append(row)
    yield f"### {run.title}"
    for goal in goals_of(DEFAULT_GOALS[kind]):
        name = f"gap_{name_of(goal)}"
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


def skew_of(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Lines of Markdown: load, lag after a spike and moves, over states with known weights."""
    yield (
        "| assignor | states | largest load above the mean | worst state | lag after a spike | 90 % of states at most "
        "| until it is worked off | longer than an hour | stateful tasks moved |"
    )
    yield "|---" * 9 + "|"
    for name in SKEWED.assignors:
        known = [row for row in rows if row["assignor"] == name and row["spike_lag_seconds"] is not None]
        if not known:
            continue
        load, lag, catch_up, moved = ([row[metric] for row in known] for metric in SKEWED.metrics.split(","))
        capped = sum(seconds >= LONGEST_CATCH_UP_S for seconds in catch_up) / len(known)
        most = sorted(lag)[math.ceil(0.9 * len(lag)) - 1]
        yield (
            f"| `{name}` | {len(known):,} | {fmean(load):,.0%} | {max(load):,.0%} | {fmean(lag):,.0f} s "
            f"| {most:,.0f} s | {fmean(catch_up):,.0f} s | {capped:.0%} | {fmean(moved):.2f} |"
        )


def moves_of(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Lines of Markdown: mean moved stateful tasks of one decision, for each even family."""
    yield f"| family | states | {' | '.join(f'`{name}`' for name in EVEN.assignors)} |"
    yield "|---" * (2 + len(EVEN.assignors)) + "|"
    for family in EVEN.families:
        moved = [
            [row[EVEN.metrics] for row in rows if (row["family"], row["assignor"]) == (family, name)]
            for name in EVEN.assignors
        ]
        if all(moved):
            yield f"| {family} | {len(moved[0]):,} | {' | '.join(f'{fmean(each):.2f}' for each in moved)} |"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gaps", description=__doc__)
    parser.add_argument("--states", type=int, default=1_000, help="states of each family (%(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", nargs="+", default=list(RUNS), choices=RUNS)
    parser.add_argument("--skew", action="store_true", help="make the tables of skewed and even load instead")
    parser.add_argument("--write", action="store_true", help=f"write the tables into {PAGE.name}")
    options = parser.parse_args(arguments)
    lines: list[str] = []
    if options.skew:
        lines += ["", *skew_of(_scored(SKEWED, options.states, options.seed))]
        lines += ["", "Stateful tasks moved in one decision, with even load:", ""]
        lines += moves_of(_scored(EVEN, options.states, options.seed))
    else:
        for kind in options.kinds:
            lines += ["", *tables_of(kind, _scored(RUNS[kind], options.states, options.seed))]
    text = "\n".join(lines)
    print(text)
    if options.write:
        begin, end = (SKEW_BEGIN, SKEW_END) if options.skew else (BEGIN, END)
        put_between(PAGE, begin, text, end)
    return 0


def _scored(run: _Run, states: int, seed: int) -> list[Mapping[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        with contextlib.redirect_stdout(sys.stderr), contextlib.suppress(SystemExit):
            assignor(run.words(states, seed, folder))
        rows: list[Mapping[str, Any]] = pq.read_table(f"{folder}/results.parquet").to_pylist()
    return rows


if __name__ == "__main__":
    sys.exit(main())
